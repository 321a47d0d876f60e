"""A job is its slice: whatever its processes do, they count against it and end with it."""

import signal
import time
from pathlib import Path

import product
from product import MEBIBYTE, SECOND
from scenario import Scenario

SUDO_RULE = Path("/etc/sudoers.d/mljobd-scenario")
SHORT_STOP = 2 * SECOND


class Containment(Scenario):
    def setUp(self):
        super().setUp()
        # An argument that no other process has: it finds them wherever they went.
        self.marker = f"31337.{time.monotonic_ns() % 1_000_000:06d}"

    def run_marked(self, script, processes, **keys):
        """A job whose script starts that many processes with the marker as $0; returns its row and their ids."""
        job = self.alice.submit("sh", "-c", script, self.marker, stop_timeout=SHORT_STOP, **keys)
        row = self.wait_until(job, "running")
        pids = product.eventually(
            lambda: found if len(found := self.sleepers()) >= processes else None, 30, f"{processes} processes are there"
        )
        return row, pids

    def sleepers(self):
        marked = []
        for pid in product.processes_named(self.marker):
            try:
                if Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "sleep\n":
                    marked.append(pid)
            except OSError:
                continue
        return marked

    def assert_all_inside(self, row, pids):
        for pid in pids:
            self.assertIn("/" + row["slice"] + "/", product.cgroup_of(pid) + "/", f"process {pid} escaped")

    def assert_all_gone_after_cancel(self, row, seconds=40):
        self.alice.many("Cancel", row["id"])
        ended = self.wait_finished(row["id"], seconds)
        self.assert_result(ended, "cancelled", "user")
        product.eventually(lambda: not product.processes_named(self.marker), 10, "all processes of the job are gone")
        product.eventually(lambda: not product.slice_folder(row).exists(), 10, "its slice is gone")
        return ended

    def check(self, script, processes, **keys):
        row, pids = self.run_marked(script, processes, **keys)
        self.assert_all_inside(row, pids)
        return self.assert_all_gone_after_cancel(row)

    def test_children_end_with_the_job(self):
        self.check("for n in 1 2 3 4 5; do sleep $0 & done; wait", 5)

    def test_a_session_of_its_own_is_no_way_out(self):
        self.check("setsid sleep $0 & wait", 1)

    def test_a_daemon_of_two_forks_is_no_way_out(self):
        self.check("(setsid sh -c 'sleep $0 & exit' $0 &) ; sleep 1000", 1)

    def test_what_the_main_process_leaves_behind_ends_with_it(self):
        job = self.alice.submit("sh", "-c", "(setsid sleep $0 &); sleep 2; exit 4", self.marker)
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=4)
        product.eventually(lambda: not product.processes_named(self.marker), 30, "the daemonized process is gone")

    def test_ignoring_sigterm_ends_in_sigkill_after_the_stop_timeout(self):
        script = "trap '' TERM; sleep $0 & while :; do sleep 1; done"
        row, pids = self.run_marked(script, 1)
        self.assert_all_inside(row, pids)
        started = time.monotonic()
        ended = self.assert_all_gone_after_cancel(row)
        self.assertGreaterEqual(time.monotonic() - started, SHORT_STOP / SECOND)
        self.assertEqual(ended["exit_signal"], signal.SIGKILL)

    def test_a_stopped_process_ends_too(self):
        self.check("sleep $0 & sleep 1; kill -STOP $!; wait", 1)

    def test_a_frozen_job_can_be_cancelled(self):
        row, pids = self.run_marked("sleep $0 & wait", 1)
        self.alice.job(row["id"], "Freeze")
        self.assert_all_inside(row, pids)
        self.assert_all_gone_after_cancel(row)

    def test_zombies_are_reaped(self):
        # The shell becomes a program that waits for nobody.
        row, _ = self.run_marked("for n in 1 2 3; do true & done; exec sleep $0", 1)
        zombies = product.eventually(lambda: self.zombies_of(row), 10, "there are zombies")
        self.assertEqual(len(zombies), 3)
        self.assert_all_gone_after_cancel(row)
        for pid in zombies:
            self.assertFalse(Path(f"/proc/{pid}").exists(), f"zombie {pid} is still there")

    @staticmethod
    def zombies_of(row):
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    stat = (folder / "stat").read_text(encoding="ascii", errors="replace")
                    inside = "/" + row["slice"] + "/" in product.cgroup_of(folder.name)
                except OSError:
                    continue
                if inside and stat.rpartition(")")[2].split()[0] == "Z":
                    found.append(folder.name)
        return found

    def test_another_user_through_sudo_counts_against_the_job(self):
        SUDO_RULE.write_text("alice ALL=(bob) NOPASSWD: ALL\n", encoding="ascii")
        self.addCleanup(SUDO_RULE.unlink)
        SUDO_RULE.chmod(0o440)
        row, pids = self.run_marked("sudo -n -u bob sleep $0 & wait", 1)
        self.assertEqual({Path(f"/proc/{pid}").stat().st_uid for pid in pids}, {product.BOB})
        self.assert_all_inside(row, pids)
        self.assert_all_gone_after_cancel(row)

    def test_many_processes_are_bounded_by_the_limit_on_tasks(self):
        script = (
            "import subprocess, sys, time\n"
            "try:\n"
            "    for _ in range(20):\n"
            "        subprocess.Popen(['sleep', sys.argv[1]])\n"
            "except BlockingIOError:\n"
            "    print('refused', flush=True)\n"
            "    time.sleep(1000)\n"
        )
        job = self.alice.submit("python3", "-c", script, self.marker, tasks_max=6, stop_timeout=SHORT_STOP)
        row = self.wait_until(job, "running")
        product.eventually(lambda: self.alice.log(job) == b"refused\n", 60, "one process too many is refused")
        self.assertEqual(int((product.slice_folder(row) / "pids.current").read_text(encoding="ascii")), 6)
        self.assertEqual(len(self.sleepers()), 5)
        self.assert_all_gone_after_cancel(row)


class Accounting(Scenario):
    def test_memory_and_cpu_of_children_are_the_jobs(self):
        spin = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
        script = f"head -c {64 * MEBIBYTE} /dev/zero | tail -c {64 * MEBIBYTE} >/dev/null & ({spin}) & wait"
        row = self.wait_finished(self.alice.submit("sh", "-c", script), 120)
        self.assert_result(row, "done")
        usage = row["usage"]
        self.assertGreater(usage["memory_peak"], 64 * MEBIBYTE)
        self.assertLess(usage["memory_peak"], 200 * MEBIBYTE)
        elapsed = row["end_time"] - row["start_time"]
        self.assertGreater(usage["cpu_time"], 0.1 * SECOND)
        self.assertLess(usage["cpu_time"], 2.5 * elapsed, "no more than the CPUs can give")

    def test_what_lies_in_shared_memory_is_shown(self):
        script = f"head -c {32 * MEBIBYTE} /dev/zero > /dev/shm/mljobd-scenario; sleep 1000"
        job = self.alice.submit("sh", "-c", script)
        self.addCleanup(lambda: Path("/dev/shm/mljobd-scenario").unlink(missing_ok=True))
        product.eventually(
            lambda: self.alice.job_properties(job)["Usage"].get("memory_shmem", 0) >= 32 * MEBIBYTE,
            30,
            "shared memory is counted",
        )
        self.alice.many("Cancel", job)
        row = self.wait_finished(job)
        self.assertGreaterEqual(row["usage"]["memory_shmem"], 32 * MEBIBYTE)
