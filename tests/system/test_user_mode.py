"""alice without root: a daemon of her own under her own systemd, with what that one was given."""

import os
from pathlib import Path

import dbus

import product
from product import ALICE, MEBIBYTE
from scenario import Scenario

RUNTIME = Path(f"/run/user/{ALICE}")
SESSION_BUS = f"unix:path={RUNTIME}/bus"
SESSION = {"XDG_RUNTIME_DIR": str(RUNTIME), "DBUS_SESSION_BUS_ADDRESS": SESSION_BUS}


class UserMode(Scenario):
    def setUp(self):
        super().setUp()
        product.checked(["loginctl", "enable-linger", "alice"])
        self.addCleanup(product.checked, ["loginctl", "disable-linger", "alice"])
        product.eventually(lambda: (RUNTIME / "bus").exists(), 60, "alice's service manager runs")
        self.as_alice("systemctl", "--user", "start", "mljobd.service")
        self.addCleanup(self.as_alice, "systemctl", "--user", "stop", "mljobd.service")
        self.own = product.Client(ALICE, SESSION_BUS)
        self.addCleanup(self.own.close)
        self.addCleanup(self.cancel_all)

    def as_alice(self, *arguments, **options):
        return product.checked(list(arguments), user=ALICE, environment=SESSION, **options)

    def cancel_all(self):
        unfinished = self.own.rows(state=dbus.Array(["queued", "held", "starting", "running"], signature="s"))
        if unfinished:
            self.own.many("Cancel", *unfinished)
            product.eventually(lambda: self.own.properties()["Running"] == 0, 60, "her jobs are gone")

    def finished(self, job):
        def reached():
            row = self.own.row(job)
            return row if row["state"] == "finished" else None

        return product.eventually(reached, 60, f"her job {job} has finished")

    def test_a_job_runs_below_her_own_manager(self):
        job = int(self.as_alice("jobctl", "--user", "submit", "-q", "--", "cat", "/proc/self/cgroup"))
        row = self.finished(job)
        self.assert_result(row, "done", exit_code=0)
        self.assertIn(f"/user@{ALICE}.service/mljob.slice/mljob-batch.slice/", self.own.log(job).decode())
        self.assertEqual(self.own.properties()["Mode"], "user")

    def test_how_jobs_end_is_told_as_by_the_systems_daemon(self):
        script = "held = []\nwhile True:\n    held.append(bytearray(4 << 20))"
        ends = {
            self.own.submit("sh", "-c", "exit 3"): ("failed", "exit"),
            self.own.submit("/opt/no-such-trainer"): ("start-failed", "start"),
            self.own.submit("python3", "-c", script, memory=64 * MEBIBYTE): ("oom", "own-limit"),
        }
        for job, (result, what) in ends.items():
            with self.subTest(result=result):
                self.assert_result(self.finished(job), result, what)

    def test_limits_that_she_was_not_given_are_named(self):
        job = int(
            self.as_alice(
                "jobctl", "--user", "submit", "-q", "--cpu-list", "0", "--io-weight", "300", "--mem", "100M", "--",
                "sleep", "600",
            )  # fmt: skip
        )
        product.eventually(lambda: self.own.row(job)["state"] == "running", 30, "her job runs")
        warnings = "\n".join(self.own.job_properties(job)["Warnings"])
        self.assertIn("cpu_list", warnings)
        self.assertIn("io_weight", warnings)
        self.assertNotIn("memory", warnings)
        effective = self.own.job_properties(job)["Effective"]
        self.assertEqual(effective["memory_max"], 100 * MEBIBYTE)
        self.assertNotIn("io_weight", effective)
        shown = self.as_alice("jobctl", "--user", "status", str(job))
        self.assertIn("io_weight", shown)

    def test_doctor_names_what_has_to_be_delegated(self):
        # Run by her manager, as from a terminal of hers: where it runs tells which controllers she has.
        inside = ["systemd-run", "--user", "--pipe", "--wait", "--collect", "--quiet"]
        done = product.run([*inside, "jobctl", "--user", "doctor"], user=ALICE, environment=SESSION)
        self.assertIn("Delegate=", done.stdout)
        self.assertIn("user@.service.d", done.stdout)
        for controller in ("cpuset", "io"):
            self.assertIn(controller, done.stdout)

    def test_her_jobs_are_not_on_the_system_bus(self):
        job = self.own.submit("true", name="private")
        self.finished(job)
        self.assertNotIn("private", [row["name"] for row in self.root.rows().values()])
        folder = Path("/home/alice/.local/state/mljobd")
        self.assertTrue(folder.exists())
        self.assertEqual(folder.stat().st_uid, ALICE)
        self.assertEqual(folder.stat().st_mode & 0o077, 0)
        self.assertEqual(os.stat(RUNTIME / "mljobd").st_uid, ALICE)
