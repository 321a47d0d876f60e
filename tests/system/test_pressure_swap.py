"""Memory runs short on a machine with swap: jobs are parked in it and go on later, and no work is lost."""

import os
import random
import signal
import time

import product
from pressure import NIGHTS, Pressure, load
from product import MEBIBYTE

MACHINE = "parking"


class WithSwap(Pressure):
    def test_nobody_is_ended_and_all_jobs_end_well(self):
        for _ in range(NIGHTS):
            _, others = self.spend_night()
            self.assertEqual(self.jobs_that("kill"), [])
            self.assertEqual({row["attempt"] for row in others}, {1}, "nothing was begun again")
            parked = self.jobs_that("park")
            self.assertGreaterEqual(len(parked), 1, "else it was no night")
            self.assertEqual(sorted(parked), sorted(self.jobs_that("unpark")))


class ByHand(Pressure):
    test_seconds = 240

    def park(self, memory="300M", *options):
        job = product.submit("--class", "batch", *options, "--", *load(memory, 100000))
        self.wait_until(job, "running")
        product.eventually(lambda: self.resident(job) > 250 * MEBIBYTE, 60, "it has its memory")
        product.jobctl_ok("park", str(job))
        self.assertEqual(self.root.row(job)["state"], "parked")
        product.eventually(lambda: self.resident(job) < 30 * MEBIBYTE, 60, "its memory is out")
        return job

    def test_a_parked_job_is_out_in_swap_and_goes_on(self):
        job = self.park()
        self.assertGreater(self.swapped(job), 200)
        self.assertIn("by alice", self.root.row(job)["reason"])
        self.assertRegex(product.jobctl_ok("list"), rf"(?m)^ *{job} .* S ")
        product.jobctl_ok("unpark", str(job))
        self.wait_until(job, "running")
        folder = product.slice_folder(self.root.row(job))
        self.assertEqual((folder / "memory.swap.max").read_text(encoding="ascii").strip(), "0", "its limit is back")
        product.eventually(lambda: self.resident(job) > 30 * MEBIBYTE, 60, "it works")

    def test_a_parked_job_can_be_cancelled(self):
        job = self.park()
        product.jobctl_ok("cancel", str(job))
        self.assert_result(self.wait_finished(job), "cancelled", "user")

    def test_parked_time_is_not_run_time(self):
        job = self.park("300M", "--time", "25s")
        time.sleep(25)
        self.assertEqual(self.root.row(job)["state"], "parked")
        product.jobctl_ok("unpark", str(job))
        self.assert_result(self.wait_finished(job), "timeout", "time-limit")

    def test_only_its_owner_parks_a_job(self):
        job = product.submit("--", "sleep", "1000")
        self.wait_until(job, "running")
        self.assertNotEqual(product.jobctl("park", str(job), user=product.BOB).returncode, 0)
        self.assertEqual(self.root.row(job)["state"], "running")


class Upheaval(Pressure):
    daemon_may_restart = True
    test_seconds = 400

    def goes_on(self, job):
        """Whatever state it was found in, it can be brought back, and runs."""
        if self.root.row(job)["state"] == "parked":
            product.jobctl_ok("unpark", str(job))
        self.wait_until(job, "running")
        folder = product.slice_folder(self.root.row(job))
        self.assertEqual((folder / "cgroup.freeze").read_text(encoding="ascii").strip(), "0")
        self.assertEqual((folder / "memory.swap.max").read_text(encoding="ascii").strip(), "0")

    def test_a_daemon_killed_in_the_middle_of_a_park_leaves_nobody_frozen(self):
        job = product.submit("--class", "batch", "--", *load("300M", 100000))
        self.wait_until(job, "running")
        product.eventually(lambda: self.resident(job) > 250 * MEBIBYTE, 60, "it has its memory")
        for _ in range(4):
            product.jobctl_ok("park", str(job))
            time.sleep(random.uniform(0, 1.5))
            os.kill(product.daemon_pid(), signal.SIGKILL)
            product.eventually(lambda: product.jobctl("list").returncode == 0, 60, "it is back")
            self.goes_on(job)

    def test_a_reload_and_a_new_execution_of_the_manager_leave_it_parked(self):
        job = product.submit("--class", "batch", "--", *load("300M", 100000))
        self.wait_until(job, "running")
        product.jobctl_ok("park", str(job))
        for action in ("daemon-reload", "daemon-reexec"):
            product.checked(["systemctl", action], timeout=120)
            self.assertEqual(self.root.row(job)["state"], "parked")
        self.restart_daemon()
        self.assertEqual(self.root.row(job)["state"], "parked")
        self.goes_on(job)

    def test_a_daemon_killed_in_an_episode_leaves_nobody_slowed_down(self):
        train, others = self.submit_night()
        for _ in range(3):
            product.eventually(lambda: int(self.root.properties()["PressureLevel"]) > 0, 120, "memory is short")
            os.kill(product.daemon_pid(), signal.SIGKILL)
            product.eventually(lambda: product.jobctl("list").returncode == 0, 60, "it is back")
            time.sleep(random.uniform(0, 3))
        rows = self.wait_all_finished([train, *others], 300)
        self.assert_result(rows.pop(train), "done", exit_code=0)
        # While nobody watches, the limits are what is left: then the kernel may have taken one.
        for row in rows.values():
            self.assertIn((row["result"], row["cause"].get("what", "")), (("done", ""), ("oom", "total-limit")), row)
