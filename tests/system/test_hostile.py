"""Callers who send what no client of ours would: each gets a typed error, and the daemon goes on."""

import random

import dbus

import product
from product import BOB, MEBIBYTE
from scenario import FULL, Scenario

FUZZ_CALLS = 5000 if FULL else 600
SEED = 20240607
# An answer about ten thousand jobs takes most of it, for a moment.
RESIDENT_LIMIT = 64 * MEBIBYTE


class Hostile(Scenario):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.check_daemon)

    def check_daemon(self):
        """Alive, the same one, and no larger for what it was told."""
        self.assertEqual(product.daemon_pid(), self.daemon)
        status = product.keyed(f"/proc/{self.daemon}/status")
        self.assertLess(status["VmRSS"] * 1024, RESIDENT_LIMIT)
        self.assert_result(self.wait_finished(self.alice.submit("true")), "done")

    def submit_raw(self, **content):
        content = {"command": dbus.Array(["true"], signature="s"), "workdir": "/tmp"} | content
        spec = dbus.Dictionary({key: value for key, value in content.items() if value is not None}, signature="sv")
        return self.alice.manager("Submit", "a{sv}a{sv}", spec, product.no_options())


class Specifications(Hostile):
    def refuse(self, *words, **content):
        message = self.assert_refused("InvalidSpec", self.submit_raw, **content)
        for word in words:
            self.assertIn(word, message)
        self.assertLess(len(message), 4096, "a message quotes no megabytes")

    def test_unknown_keys(self):
        self.refuse("gpu_count", gpu_count=dbus.UInt32(1))
        self.refuse(**{"k" * MEBIBYTE: dbus.UInt32(1)})

    def test_wrong_types(self):
        self.refuse("command", command="true")
        self.refuse("command", command=dbus.Array([1, 2], signature="i"))
        self.refuse("memory", memory="12G")
        self.refuse("memory", memory=dbus.Boolean(True))
        self.refuse("workdir", workdir=dbus.UInt32(1))
        self.refuse("labels", labels=dbus.Array(["a"], signature="s"))
        self.refuse("name", name=dbus.Struct((1, "a"), signature="is"))

    def test_missing_and_empty_values(self):
        self.refuse("command", command=None)
        self.refuse("command", command=dbus.Array([], signature="s"))
        self.refuse("command", command=dbus.Array([""], signature="s"))
        self.refuse("workdir", workdir=None)
        self.refuse("workdir", workdir="relative/path")

    def test_values_out_of_range(self):
        self.refuse("cpu_weight", cpu_weight=dbus.UInt64(0))
        self.refuse("cpu_weight", cpu_weight=dbus.UInt64(10001))
        self.refuse("cpu_list", cpu_list="0-9999")
        self.refuse("cpu_list", cpu_list="7")
        self.refuse("priority", priority=dbus.Int32(1))
        self.refuse("oom_score_adjust", oom_score_adjust=dbus.Int32(-1000))
        self.refuse("time_limit", time_limit=dbus.UInt64(0))
        self.refuse("class", **{"class": "no-such-class"})
        self.refuse("memory", memory=dbus.UInt64(0))

    def test_strings_of_a_mebibyte(self):
        text = "x" * MEBIBYTE
        for key in ("name", "class", "workdir", "comment", "output", "cpu_list", "oom_policy"):
            self.refuse(key, **{key: "/" + text if key in ("workdir", "output") else text})
        self.refuse("command", command=dbus.Array(["true", text], signature="s"))

    def test_ten_thousand_environment_entries(self):
        entries = dbus.Array([f"KEY{number}={number}" for number in range(10000)], signature="s")
        self.refuse("environment", environment=entries)

    def test_an_environment_of_megabytes(self):
        entries = dbus.Array([f"KEY{number}=" + "x" * 100000 for number in range(40)], signature="s")
        self.refuse("environment", environment=entries)

    def test_environment_entries_that_are_none(self):
        for entry in ("NOVALUE", "=value", "1KEY=value", "KEY WITH SPACE=1", "KEY\n=1", ""):
            self.refuse("environment", environment=dbus.Array([entry], signature="s"))

    def test_newlines_where_systemd_would_read_another_setting(self):
        intruder = "a\nUser=root\nExecStart=/bin/sh"
        for key in ("name", "class", "cpu_list", "oom_policy"):
            self.refuse(key, **{key: intruder})
        for key in ("workdir", "output", "error"):
            self.refuse(key, **{key: "/tmp/" + intruder})
        # Where a line break is allowed it is one, in the environment as in a comment, and no setting of a unit.
        job = self.alice.submit("id", "-un", comment=intruder, environment=["TEXT=" + intruder])
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.alice.log(job), b"alice\n")

    def test_unit_specifiers_in_names_are_text(self):
        job = self.alice.submit("true", name="%H %n %%", comment="${HOME} %t")
        row = self.wait_finished(job)
        self.assert_result(row, "done")
        self.assertEqual(row["name"], "%H %n %%")

    def test_a_nul_byte_never_reaches_the_daemon(self):
        # libdbus refuses to send it; a caller who does is cut off by the bus itself.
        with self.assertRaises((ValueError, TypeError)):
            self.submit_raw(name="a\0b")

    def test_a_user_cannot_fill_the_queue(self):
        self.configure(quotas={"queued_jobs": 5})
        for _ in range(5):
            self.alice.submit("true", hold=True)
        self.assertIn("5", self.assert_refused("LimitExceeded", self.alice.submit, "true", hold=True))
        bob = self.client(BOB)
        self.assert_result(self.wait_finished(bob.submit("true")), "done")


class OtherUsersJobs(Hostile):
    def setUp(self):
        super().setUp()
        self.bob = self.client(BOB)
        self.job = self.alice.submit("sh", "-c", "echo secret; sleep 1000", environment=["TOKEN=secret"])
        self.wait_until(self.job, "running")

    def test_every_method_on_a_job_of_another_is_refused(self):
        empty = product.no_options()
        calls = [
            ("Cancel", "a{sv}", empty),
            ("Hold", "a{sv}", empty),
            ("Release", "a{sv}", empty),
            ("Requeue", "a{sv}", empty),
            ("Signal", "ia{sv}", dbus.Int32(9), empty),
            ("Freeze", "a{sv}", empty),
            ("Thaw", "a{sv}", empty),
            ("SetLimits", "a{sv}a{sv}", dbus.Dictionary({"cpu_weight": dbus.UInt64(1)}, signature="sv"), empty),
            ("GetSpec", ""),
            ("OpenLog", "a{sv}", empty),
            ("ReportProgress", "dsa{sv}", dbus.Double(0.5), "mine", empty),
            ("ReportExit", "iua{sv}", dbus.Int32(0), dbus.UInt32(0), empty),
        ]
        for method, signature, *arguments in calls:
            with self.subTest(method=method):
                path = product.job_path(self.job)
                self.assert_refused("NotAuthorized", self.bob.call, path, product.JOB, method, signature, *arguments)
        self.assertEqual(self.root.row(self.job)["state"], "running")

    def test_many_at_once_tells_each_refusal(self):
        own = self.bob.submit("sleep", "1000")
        outcomes = self.bob.many("Cancel", self.job, own, 4000000000)
        self.assertEqual(outcomes[self.job]["error"], product.ERROR + "NotAuthorized")
        self.assertEqual(outcomes[own]["error"], "")
        self.assertEqual(outcomes[4000000000]["error"], product.ERROR + "NoSuchJob")
        self.assertEqual(self.root.row(self.job)["state"], "running")

    def test_what_everybody_may_read_holds_no_secret(self):
        shown = repr(self.bob.job_properties(self.job)) + repr(self.bob.row(self.job))
        self.assertIn("running", shown)
        self.assertNotIn("secret", shown)

    def test_files_of_the_daemon_are_closed(self):
        for path in ("/var/lib/mljobd", "/var/log/mljobd", "/run/mljobd"):
            self.assertNotEqual(product.run(["ls", path], user=BOB).returncode, 0, path)

    def test_root_may_do_all(self):
        self.assertIn("TOKEN=secret", self.root.job(self.job, "GetSpec", "")["environment"])
        # It runs from its execve() on, which is a little before it prints.
        product.eventually(lambda: self.root.log(self.job) == b"secret\n", 30, "what the job prints")
        self.root.job(self.job, "Cancel")
        self.assert_result(self.wait_finished(self.job), "cancelled", "user")

    def test_drain_resume_and_reload_are_roots(self):
        for method, signature, arguments in (
            ("Drain", "a{sv}", [product.no_options()]),
            ("Resume", "a{sv}", [product.no_options()]),
            ("Reload", "", []),
        ):
            self.assert_refused("NotAuthorized", self.bob.manager, method, signature, *arguments)


class Calls(Hostile):
    def test_ids_that_do_not_exist(self):
        for job in (0, 4000000000):
            self.assert_refused("NoSuchJob", self.alice.manager, "GetJob", "u", dbus.UInt32(job))
        self.assertEqual(self.alice.rows([4000000000]), {})

    def test_ten_thousand_ids_and_one_more(self):
        outcomes = self.alice.many("Cancel", *range(4000000000, 4000010000))
        self.assertEqual({outcome["error"] for outcome in outcomes.values()}, {product.ERROR + "NoSuchJob"})
        self.assertEqual(len(outcomes), 10000)
        with self.assertRaises(dbus.DBusException) as refusal:
            self.alice.many("Cancel", *range(4000000000, 4000010001))
        self.assertIn(refusal.exception.get_dbus_name(), (product.ERROR + "InvalidSpec", product.ERROR + "LimitExceeded"))

    def test_unknown_options(self):
        options = dbus.Dictionary({"force": dbus.Boolean(True)}, signature="sv")
        self.assert_refused("InvalidSpec", self.alice.manager, "Cancel", "aua{sv}", dbus.Array([1], signature="u"), options)

    def test_wrong_signatures_and_members(self):
        for method, signature, arguments in (
            ("Submit", "s", ["true"]),
            ("Cancel", "u", [dbus.UInt32(1)]),
            ("NoSuchMethod", "", []),
        ):
            with self.assertRaises(dbus.DBusException) as refusal:
                self.alice.manager(method, signature, *arguments)
            self.assertTrue(refusal.exception.get_dbus_name().startswith("org.freedesktop.DBus.Error."))

    test_seconds = 1200 if FULL else 300

    def test_random_calls(self):
        """Wherever the bits fall, an answer comes back: a result or an error with a name."""
        generator = random.Random(SEED)
        errors = 0
        for _ in range(FUZZ_CALLS):
            path, interface, method, signature, arguments = random_call(generator)
            try:
                self.alice.call(path, interface, method, signature, *arguments, timeout=60)
            except dbus.DBusException as error:
                errors += 1
                self.assertNotIn(error.get_dbus_name(), UNANSWERED, (method, signature, arguments))
        self.assertGreater(errors, FUZZ_CALLS // 2)


UNANSWERED = (
    "org.freedesktop.DBus.Error.NoReply",
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.Disconnected",
    "org.freedesktop.DBus.Error.TimedOut",
)
METHODS = {
    product.MANAGER: {
        "Submit": "a{sv}a{sv}",
        "GetJob": "u",
        "ListJobs": "a{sv}",
        "ListEvents": "a{sv}",
        "ListClasses": "",
        "Cancel": "aua{sv}",
        "Hold": "aua{sv}",
        "Release": "aua{sv}",
        "Requeue": "aua{sv}",
        "Drain": "a{sv}",
    },
    product.JOB: {
        "Cancel": "a{sv}",
        "Signal": "ia{sv}",
        "SetLimits": "a{sv}a{sv}",
        "GetSpec": "",
        "OpenLog": "a{sv}",
        "ReportProgress": "dsa{sv}",
        "ReportExit": "iua{sv}",
    },
}
KEYS = [*product.SPEC_TYPES, "memory", "memory_max", "swap_max", "tasks_max", "cpu_weight", "time_limit", "ids", "state"]
KEYS += ["limit", "since", "owner", "job", "dry_run", "attempt", "who", "", "x" * 300, "\u00fc"]


def random_value(generator):
    text = generator.choice(["", "true", "/", "/tmp", "a=b", "%n", "\n", "\u8a13", "0-3", "kill", "x" * 5000])
    number = generator.choice([0, 1, 2, 64, 1 << 31, (1 << 32) - 1])
    return generator.choice(
        [
            dbus.String(text),
            dbus.UInt64(generator.choice([number, (1 << 64) - 1])),
            dbus.UInt32(number),
            dbus.Int32(generator.choice([-1, -(1 << 31), number & 0x7FFFFFFF])),
            dbus.Boolean(number & 1),
            dbus.Double(generator.choice([0.5, -1.0, float("nan"), float("inf")])),
            dbus.Array([text] * generator.choice([0, 1, 3]), signature="s"),
            dbus.Array([dbus.UInt32(number)], signature="u"),
            dbus.Dictionary({text: text}, signature="ss"),
            dbus.Dictionary({text: dbus.Dictionary({text: dbus.Byte(1)}, signature="sv")}, signature="sv"),
            dbus.Struct((text, dbus.UInt64(number)), signature="st"),
            dbus.ObjectPath("/org/mljobd1"),
        ]
    )


def random_call(generator):
    interface = generator.choice(list(METHODS))
    method, signature = generator.choice(list(METHODS[interface].items()))
    path = product.MANAGER_PATH
    if interface == product.JOB:
        path = product.job_path(generator.choice(["0", "1", "4294967295", "x", "99999999999", "1/2"]))
    arguments = []
    for part in split_signature(signature):
        if part == "a{sv}":
            keys = generator.sample(KEYS, generator.randrange(4))
            arguments.append(dbus.Dictionary({key: random_value(generator) for key in keys}, signature="sv"))
        elif part == "au":
            arguments.append(dbus.Array([generator.randrange(1 << 32) for _ in range(3)], signature="u"))
        elif part == "i":
            arguments.append(dbus.Int32(generator.randrange(-(1 << 31), 1 << 31)))
        elif part == "u":
            arguments.append(dbus.UInt32(generator.randrange(1 << 32)))
        elif part == "d":
            arguments.append(dbus.Double(generator.choice([0.0, 0.5, -1.0, 2.0, float("nan")])))
        else:
            arguments.append(dbus.String(generator.choice(["", "half", "y" * 5000])))
    return path, interface, method, signature, arguments


def split_signature(signature):
    parts = []
    while signature:
        length = 5 if signature.startswith("a{sv}") else 2 if signature.startswith("au") else 1
        parts.append(signature[:length])
        signature = signature[length:]
    return parts
