"""Other clients than ours: whatever speaks D-Bus can submit and watch, with the interface as it is installed."""

import json
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import dbus

import product
from product import ALICE
from scenario import Scenario

INTERFACES = Path("/usr/share/dbus-1/interfaces")
STANDARD = ("org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Peer")

# What a user of python3-dbus would write: submits, and watches by signals until the job has finished.
WATCHER = """
import dbus, dbus.mainloop.glib, sys
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus, loop, seen = dbus.SystemBus(), GLib.MainLoop(), []
manager = dbus.Interface(bus.get_object("org.mljobd1", "/org/mljobd1"), "org.mljobd1.Manager")
def changed(job, path, old, new, reason):
    seen.append((int(job), str(new)))
    if new == "finished":
        loop.quit()
manager.connect_to_signal("JobStateChanged", changed)
def properties_changed(interface, changes, invalidated, path=None):
    if "State" in changes:
        print("property", path, changes["State"])
bus.add_signal_receiver(properties_changed, "PropertiesChanged", "org.freedesktop.DBus.Properties",
                        "org.mljobd1", path_keyword="path")
job, path = manager.Submit({"command": ["sh", "-c", "sleep 1; exit 3"], "workdir": "/tmp"}, {})
GLib.timeout_add_seconds(60, lambda: sys.exit("timed out"))
loop.run()
states = [state for number, state in seen if number == job]
properties = dbus.Interface(bus.get_object("org.mljobd1", path), "org.freedesktop.DBus.Properties")
print("states", " ".join(states))
print("result", properties.Get("org.mljobd1.Job", "Result"), properties.Get("org.mljobd1.Job", "ExitCode"))
"""


def members(interface):
    """An interface's members with their signatures, whatever the order and the comments of its XML."""
    found = set()
    for member in interface:
        if member.tag in ("method", "signal"):
            arguments = tuple(
                (argument.get("type"), argument.get("direction", "out" if member.tag == "signal" else "in"))
                for argument in member.findall("arg")
            )
            found.add((member.tag, member.get("name"), arguments))
        elif member.tag == "property":
            found.add((member.tag, member.get("name"), member.get("type"), member.get("access"), emits(member)))
    return found


def emits(member):
    for annotation in member.findall("annotation"):
        if annotation.get("name") == "org.freedesktop.DBus.Property.EmitsChangedSignal":
            return annotation.get("value")
    return "true"


class Introspection(Scenario):
    def introspected(self, path):
        text = self.alice.call(path, dbus.INTROSPECTABLE_IFACE, "Introspect", "")
        return {interface.get("name"): interface for interface in ElementTree.fromstring(text).findall("interface")}

    def check(self, name, path):
        installed = ElementTree.parse(INTERFACES / f"{name}.xml").getroot().find("interface")
        self.assertEqual(installed.get("name"), name)
        self.assertEqual(members(installed), members(self.introspected(path)[name]))

    def test_the_manager_is_what_its_file_says(self):
        self.check(product.MANAGER, product.MANAGER_PATH)
        self.assertLessEqual({*STANDARD, "org.freedesktop.DBus.ObjectManager"}, set(self.introspected("/org/mljobd1")))

    def test_a_job_is_what_its_file_says(self):
        job = self.alice.submit("true")
        self.check(product.JOB, product.job_path(job))
        self.assertLessEqual(set(STANDARD), set(self.introspected(product.job_path(job))))

    def test_the_object_manager_lists_the_jobs(self):
        job = self.alice.submit("sleep", "1000")
        objects = self.alice.call(
            product.MANAGER_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", ""
        )
        self.assertEqual(objects[product.job_path(job)][product.JOB]["Id"], job)

    def test_nothing_hangs_on_the_root(self):
        with self.assertRaises(dbus.DBusException):
            self.alice.call("/", product.MANAGER, "ListClasses", "")


class CommandLineClients(Scenario):
    def test_busctl_introspects_calls_and_reads(self):
        shown = product.checked(["busctl", "introspect", "org.mljobd1", "/org/mljobd1"], user=ALICE)
        for member in (".Submit", ".JobStateChanged", ".Running"):
            self.assertIn(member, shown)
        answer = product.checked(
            [
                "busctl", "call", "--", "org.mljobd1", "/org/mljobd1", "org.mljobd1.Manager", "Submit", "a{sv}a{sv}",
                "2", "command", "as", "3", "sh", "-c", "exit 4", "workdir", "s", "/tmp", "0",
            ],
            user=ALICE,
        )  # fmt: skip
        job = int(re.fullmatch(r'uo (\d+) "/org/mljobd1/job/\1"\n', answer)[1])
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=4)
        read = ["busctl", "get-property", "org.mljobd1", product.job_path(job), product.JOB, "Result"]
        self.assertEqual(product.checked(read, user=ALICE), 's "failed"\n')

    def test_gdbus_submits_and_waits(self):
        answer = product.checked(
            [
                "gdbus", "call", "--system", "--dest", "org.mljobd1", "--object-path", "/org/mljobd1",
                "--method", "org.mljobd1.Manager.Submit", "{'command': <['true']>, 'workdir': <'/tmp'>}", "{}",
            ],
            user=ALICE,
        )  # fmt: skip
        job = int(re.search(r"uint32 (\d+)", answer)[1])
        self.assert_result(self.wait_finished(job), "done")

    def test_busctl_monitors(self):
        monitor = product.start(["busctl", "monitor", "--json=short", "org.mljobd1"])
        self.addCleanup(monitor.wait)
        self.addCleanup(monitor.kill)
        # busctl says when it has become a monitor, on its standard error.
        self.assertIn(b"Monitoring", monitor.stderr.readline())
        # Long enough to be seen running; one that ends at once need not be.
        job = self.alice.submit("sleep", "1")
        self.wait_finished(job)
        time.sleep(0.5)
        monitor.terminate()
        output, _ = monitor.communicate(timeout=30)
        signals = [json.loads(line) for line in output.decode().splitlines()]
        changes = [
            message["payload"]["data"] for message in signals if message.get("member") == "JobStateChanged"
        ]
        steps = [change[3] for change in changes if change[0] == job]
        self.assertEqual(steps, ["queued", "starting", "running", "finished"])

    def test_python_submits_and_watches_by_signals(self):
        done = product.run([sys.executable, "-c", WATCHER], user=ALICE, timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("states queued starting running finished", done.stdout)
        self.assertIn("result failed 3", done.stdout)
        self.assertRegex(done.stdout, r"property /org/mljobd1/job/\d+ running")

    def test_the_bus_starts_the_daemon_when_it_is_called(self):
        self.daemon_may_restart = True
        subprocess.run(["systemctl", "stop", "mljobd.service"], check=True)
        self.assertEqual(product.daemon_pid(), 0)
        self.assertEqual(self.client(ALICE).manager("ListClasses")[0]["name"], "train")
        self.assertNotEqual(product.daemon_pid(), 0)
