"""Every way to end is told apart, with the evidence and what to do next."""

import os
import signal
from pathlib import Path

import product
from product import MEBIBYTE, SECOND
from scenario import Scenario

# Holds ever more memory in one process, as fast as it can.
GROW = "import sys\nheld = []\nwhile True:\n    held.append(bytearray(4 << 20))\n"


class MemoryCauses(Scenario):
    test_seconds = 300

    def assert_oom(self, row, what, limit=None):
        self.assert_result(row, "oom", what)
        cause = row["cause"]
        self.assertEqual(cause["by"], "kernel", cause)
        self.assertGreater(cause["peak"], 0)
        if limit is not None:
            self.assertEqual(cause["limit"], limit, cause)
        self.assertGreater(len(cause["advice"]), 20)
        return cause

    def test_own_limit(self):
        limit = 100 * MEBIBYTE
        row = self.wait_finished(self.alice.submit("python3", "-c", GROW, memory=limit), 120)
        cause = self.assert_oom(row, "own-limit", limit)
        self.assertAlmostEqual(cause["peak"], limit, delta=MEBIBYTE)
        self.assertEqual(cause["victim"][1], "python3")
        self.assertIn("--mem", cause["advice"])

    def test_a_worker_that_is_killed_takes_the_whole_job_with_it(self):
        script = f"python3 -c '{GROW}' & wait $!; sleep 1000"
        row = self.wait_finished(self.alice.submit("sh", "-c", script, memory=100 * MEBIBYTE), 120)
        self.assert_oom(row, "own-limit", 100 * MEBIBYTE)

    def test_a_worker_that_is_killed_leaves_the_others_where_asked(self):
        for code, result in ((0, "done"), (9, "oom")):
            script = f"python3 -c '{GROW}' & wait $!; echo survived; exit {code}"
            job = self.alice.submit("sh", "-c", script, memory=100 * MEBIBYTE, oom_policy="continue")
            row = self.wait_finished(job, 120)
            # An exit after the loss of a worker is its consequence; a good end is one, but the loss is mentioned.
            self.assertEqual((row["result"], row["exit_code"]), (result, code), row)
            self.assertIn("ran out of", row["cause"]["advice"])
            self.assertEqual(self.alice.log(job).splitlines()[-1], b"survived")

    def test_class_limit(self):
        self.alice.submit("sleep", "1000", class_="validate")
        folder = product.class_folder("validate")
        product.eventually(folder.exists, 30, "the class has a slice")
        set_limit = ["systemctl", "set-property", "--runtime", "mljob-validate.slice"]
        self.addCleanup(product.checked, [*set_limit, "MemoryMax=infinity"])
        product.checked([*set_limit, f"MemoryMax={120 * MEBIBYTE}"])
        row = self.wait_finished(self.alice.submit("python3", "-c", GROW, class_="validate"), 120)
        self.assert_oom(row, "class-limit", 120 * MEBIBYTE)

    def test_total_limit(self):
        self.configure(pressure={"mode": "off"})
        limit = int((product.CGROUPS / "mljob.slice/memory.max").read_text())
        row = self.wait_finished(self.alice.submit("python3", "-c", GROW), 240)
        cause = self.assert_oom(row, "total-limit", limit)
        self.assertIn("--mem", cause["advice"])

    def test_the_less_important_job_goes_first(self):
        self.configure(pressure={"mode": "off"})
        train = self.alice.submit("sleep", "1000", class_="train")
        validate = self.alice.submit("sleep", "1000", class_="validate")
        self.wait_until(train, "running")
        self.wait_until(validate, "running")
        self.wait_finished(self.alice.submit("python3", "-c", GROW, class_="batch"), 240)
        self.assertEqual({self.root.row(job)["state"] for job in (train, validate)}, {"running"})


class SharedMemory(Scenario):
    SIZE = 48 * MEBIBYTE
    FILE = Path("/dev/shm/mljobd-scenario")

    def setUp(self):
        super().setUp()
        self.addCleanup(product.checked, ["mount", "-o", "remount,size=50%", "/dev/shm"])
        self.addCleanup(lambda: self.FILE.unlink(missing_ok=True))
        product.checked(["mount", "-o", f"remount,size={self.SIZE}", "/dev/shm"])

    def test_a_bus_error_of_a_full_shared_memory_is_explained(self):
        script = (
            "import mmap\n"
            f"with open('{self.FILE}', 'w+b') as shared:\n"
            f"    shared.truncate({2 * self.SIZE})\n"
            f"    memory = mmap.mmap(shared.fileno(), {2 * self.SIZE})\n"
            f"    for at in range(0, {2 * self.SIZE}, 4096):\n"
            "        memory[at] = 1\n"
        )
        row = self.wait_finished(self.alice.submit("python3", "-c", script), 120)
        self.assert_result(row, "signalled", "shm-full", exit_signal=int(signal.SIGBUS))
        self.assertIn("/dev/shm", row["cause"]["advice"])
        self.assertGreaterEqual(row["cause"]["shmem"], self.SIZE - MEBIBYTE)


class PrivateSharedMemory(Scenario):
    def test_it_has_its_own_size_and_is_gone_with_the_job(self):
        script = "df -B1 --output=size /dev/shm | tail -n 1; touch /dev/shm/mljobd-private"
        job = self.alice.submit("sh", "-c", script, private_shm=16 * MEBIBYTE)
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(int(self.alice.log(job)), 16 * MEBIBYTE)
        self.assertFalse(Path("/dev/shm/mljobd-private").exists())


class OtherCauses(Scenario):
    def test_time_limit(self):
        job = self.alice.submit("sleep", "1000", time_limit=SECOND)
        row = self.wait_finished(job)
        self.assert_result(row, "timeout", "time-limit")
        self.assertIn("--time", row["cause"]["advice"])

    def test_user(self):
        job = self.alice.submit("sleep", "1000")
        self.wait_until(job, "running")
        product.jobctl_ok("cancel", str(job))
        row = self.wait_finished(job)
        self.assert_result(row, "cancelled", "user")
        self.assertEqual(row["cause"]["by"], "alice")

    def test_root_as_the_user_who_cancelled(self):
        job = self.alice.submit("sleep", "1000")
        self.wait_until(job, "running")
        self.root.many("Cancel", job)
        row = self.wait_finished(job)
        self.assert_result(row, "cancelled", "user")
        self.assertEqual(row["cause"]["by"], "root")

    def test_a_signal_from_outside(self):
        for number in (signal.SIGKILL, signal.SIGSEGV):
            job = self.alice.submit("sleep", "1000")
            row = self.wait_until(job, "running")
            os.kill(int(product.unit_property(row["unit"], "MainPID")), number)
            self.assert_result(self.wait_finished(job), "signalled", "signal", exit_signal=int(number))

    def test_the_signals_that_systemd_takes_for_success_are_not_done(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            job = self.alice.submit("sleep", "1000")
            row = self.wait_until(job, "running")
            os.kill(int(product.unit_property(row["unit"], "MainPID")), number)
            self.assert_result(self.wait_finished(job), "signalled", "signal", exit_signal=int(number))

    def test_exit(self):
        row = self.wait_finished(self.alice.submit("sh", "-c", "exit 3"))
        self.assert_result(row, "failed", "exit", exit_code=3)

    def test_a_job_that_ended_well_has_no_cause(self):
        row = self.wait_finished(self.alice.submit("true"))
        self.assert_result(row, "done", "", exit_code=0)
        self.assertEqual(row["cause"], {})

    def test_jobctl_says_the_cause_and_what_to_type(self):
        job = self.alice.submit("python3", "-c", GROW, memory=64 * MEBIBYTE)
        self.wait_finished(job, 120)
        shown = product.jobctl_ok("status", str(job))
        for word in ("limit 64M", "--mem", "python3"):
            self.assertIn(word, shown)


class Unknown(Scenario):
    daemon_may_restart = True

    def test_an_end_that_nobody_recorded_is_called_unknown(self):
        job = self.alice.submit("sleep", "1000")
        row = self.wait_until(job, "running")
        product.checked(["systemctl", "stop", "mljobd.service"])
        product.checked(["systemctl", "stop", row["unit"]])
        product.run(["systemctl", "reset-failed", row["unit"]])
        product.checked(["systemctl", "stop", row["slice"]])
        product.checked(["systemctl", "start", "mljobd.service"])
        self.assert_result(self.wait_finished(job), "lost", "unknown", exit_code=-1)
