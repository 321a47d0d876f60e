"""The disk under the records or the logs is full: nothing new is taken, what runs goes on, and all is told later."""

import contextlib
import os
from pathlib import Path

import product
from product import MEBIBYTE
from scenario import Scenario

STATE, LOGS = Path("/var/lib/mljobd"), Path("/var/log/mljobd")
SIZES = {STATE: 4 * MEBIBYTE, LOGS: 32 * MEBIBYTE}


class FullDisk(Scenario):
    daemon_may_restart = True

    def setUp(self):
        super().setUp()
        self.mount(STATE)
        self.mount(LOGS)

    def mount(self, folder):
        """Puts a small file system over a folder of the daemon's, and the folder back at the end."""
        product.checked(["systemctl", "stop", "mljobd.service"])
        options = f"size={SIZES[folder]},mode=0700"
        product.checked(["mount", "-t", "tmpfs", "-o", options, "mljobd-scenario", str(folder)])
        self.addCleanup(self.unmount, folder)
        product.checked(["systemctl", "start", "mljobd.service"])

    @staticmethod
    def unmount(folder):
        product.checked(["systemctl", "stop", "mljobd.service"])
        product.checked(["umount", str(folder)])
        product.checked(["systemctl", "start", "mljobd.service"])

    def fill(self, folder):
        filler = folder / "filler"
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(b"\1" * 65536)
        space = os.statvfs(folder)
        self.assertEqual(space.f_bavail, 0, "it is full")
        return filler

    def check(self, folder):
        running = self.alice.submit("sh", "-c", "sleep 5; exit 7")
        row = self.wait_until(running, "running")
        filler = self.fill(folder)
        message = self.assert_refused("Storage", self.alice.submit, "true")
        print(f"refused with: {message}")
        self.assertIn(str(folder), message)
        self.assertEqual(product.jobctl("submit", "--", "true").returncode, 125)
        # Its end comes while nothing can be written down.
        product.eventually(
            lambda: product.unit_property(row["unit"], "SubState") != "running", 60, "the job goes on to its end"
        )
        filler.unlink()
        self.assert_result(self.wait_finished(running), "failed", "exit", exit_code=7)
        job = product.eventually(self.submit_if_possible, 30, "jobs are taken again")
        self.assert_result(self.wait_finished(job), "done")
        product.eventually(lambda: self.root.properties()["Problems"] == [], 30, "no problem is left")
        self.restart_daemon()
        self.assert_result(self.root.row(running), "failed", "exit", exit_code=7)

    def submit_if_possible(self):
        done = product.jobctl("submit", "-q", "--", "true")
        return int(done.stdout) if done.returncode == 0 else None

    def test_under_the_records(self):
        self.check(STATE)

    def test_under_the_logs(self):
        self.check(LOGS)

    def test_a_waiting_job_starts_when_there_is_space_again(self):
        held = self.alice.submit("echo", "printed", hold=True)
        filler = self.fill(LOGS)
        self.alice.many("Release", held)
        product.always(lambda: self.root.row(held)["state"] == "queued", 2, "a job without a log is not started")
        problems = self.root.properties()["Problems"]
        self.assertTrue(any(str(LOGS) in problem for problem in problems), problems)
        filler.unlink()
        self.assert_result(self.wait_finished(held), "done")
        self.assertEqual(self.alice.log(held), b"printed\n")
