"""The daemon dies, is restarted or replaced while jobs run: PID 1 owns them, and nothing of theirs is lost."""

import os
import random
import signal
import time
from pathlib import Path

import dbus

import product
from product import SECOND
from scenario import FULL, Scenario

KILLS = 50 if FULL else 8
JOBS = 100 if FULL else 30
SEED = 20240607
RECORD = Path("/var/tmp/mljobd-crash")

# What a job of each kind does once it has signed the record, its other keys, and how it must end.
KINDS = {
    "done": ("exit 0", {}, ("done", "", 0, 0)),
    "failed": ("exit 3", {}, ("failed", "exit", 3, 0)),
    "killed": ("kill -KILL $$", {}, ("signalled", "signal", -1, 9)),
    "slow": ("sleep 1", {}, ("done", "", 0, 0)),
    "missing": (None, {}, ("start-failed", "start", None, 0)),
    "cancelled": ("exec sleep 1000", {}, ("cancelled", "user", None, None)),
    "limited": ("exec sleep 1000", {"time_limit": SECOND}, ("timeout", "time-limit", None, None)),
}
SIGNS_ONCE = {"done", "failed", "killed", "slow", "limited"}


class Restarting(Scenario):
    daemon_may_restart = True

    def kill_daemon(self):
        """kill -9, and wait for the next one to be ready."""
        pid = product.daemon_pid()
        # Otherwise systemd would rightly give up on a daemon that dies so often.
        product.run(["systemctl", "reset-failed", "mljobd.service"])
        if pid:
            os.kill(pid, signal.SIGKILL)
        product.eventually(lambda: product.daemon_pid() not in (0, pid), 60, "systemd started the daemon again")

    def wait_ready(self):
        product.eventually(
            lambda: product.unit_property("mljobd.service", "ActiveState") == "active", 60, "the daemon is ready"
        )


class KilledDaemon(Restarting):
    test_seconds = 300 + 15 * KILLS

    def setUp(self):
        super().setUp()
        RECORD.mkdir(exist_ok=True)
        RECORD.chmod(0o777)
        self.signed = RECORD / f"ran-{time.monotonic_ns()}"
        self.signed.touch()
        self.signed.chmod(0o666)
        self.addCleanup(self.signed.unlink)
        self.random = random.Random(SEED)
        self.jobs = {}
        self.to_cancel = {}

    def patient(self, call, *arguments, **keys):
        """The daemon may be dying under the call, or not be there yet; whether it was heard is then not known."""
        try:
            return call(*arguments, **keys)
        except dbus.DBusException as error:
            if error.get_dbus_name().startswith(product.ERROR):
                raise
            return None

    def submit_surely(self, name, command, keys):
        """Submits once, however often it has to be asked: the name tells whether an unanswered call was heard."""

        def taken():
            job = self.patient(self.alice.submit, *command, name=name, **keys)
            if job:
                return job
            self.wait_ready()
            rows = self.patient(self.alice.rows, name=name) or {}
            return next(iter(rows), None)

        return product.eventually(taken, 60, f"{name} is taken")

    def submit_next(self, number):
        kind = list(KINDS)[number % len(KINDS)]
        script, keys, _ = KINDS[kind]
        command = ["/opt/no-such-program"]
        if script:
            command = ["sh", "-c", f'echo "$MLJOB_ID" >> {self.signed}; {script}']
        job = self.submit_surely(f"{kind}-{number}", command, keys)
        self.assertNotIn(job, self.jobs, "an id was given out twice")
        self.jobs[job] = kind
        if kind == "cancelled":
            self.to_cancel[job] = time.monotonic() + self.random.uniform(0, 2)

    def cancel_due(self):
        for job, due in list(self.to_cancel.items()):
            if time.monotonic() > due and self.patient(self.alice.many, "Cancel", job):
                del self.to_cancel[job]

    def test_every_job_ends_in_its_true_state_and_runs_once(self):
        kills, number = 0, 0
        next_kill = time.monotonic() + 0.5
        deadline = time.monotonic() + 60 + 10 * KILLS
        while number < JOBS or kills < KILLS or self.to_cancel:
            self.assertLess(time.monotonic(), deadline, f"{kills} kills and {number} jobs took too long")
            # The jobs are spread over the kills, so that every kill meets some at each step of their lives.
            if number < JOBS and number * KILLS <= (kills + 1) * JOBS:
                self.submit_next(number)
                number += 1
            self.cancel_due()
            if kills < KILLS and time.monotonic() > next_kill:
                self.kill_daemon()
                kills += 1
                next_kill = time.monotonic() + self.random.uniform(0.05, 1.5)
        self.wait_ready()
        self.check_ends(self.wait_all_finished(self.jobs, 180))

    def check_ends(self, rows):
        signatures = [int(line) for line in self.signed.read_text(encoding="ascii").split()]
        for job, kind in self.jobs.items():
            row = rows[job]
            result, what, exit_code, exit_signal = KINDS[kind][2]
            with self.subTest(kind=kind, job=job):
                self.assert_result(row, result, what, exit_code=exit_code, exit_signal=exit_signal)
                self.assertEqual(row["attempt"] if kind in SIGNS_ONCE else 1, 1, row)
                if kind in SIGNS_ONCE:
                    self.assertEqual(signatures.count(job), 1, f"job {job} ran {signatures.count(job)} times")
                else:
                    self.assertLessEqual(signatures.count(job), 1)
        self.assertEqual(self.root.properties()["Running"], 0)


class AbsentDaemon(Restarting):
    def test_a_job_that_ends_while_the_daemon_is_down_keeps_its_exit_code(self):
        jobs = {code: self.alice.submit("sh", "-c", f"sleep 4; exit {code}") for code in (0, 7)}
        killed = self.alice.submit("sh", "-c", "sleep 4; kill -SEGV $$")
        for job in (*jobs.values(), killed):
            self.wait_until(job, "running")
        product.checked(["systemctl", "stop", "mljobd.service"])
        for job in (*jobs.values(), killed):
            product.eventually(
                lambda unit=f"mljob-{job}-1.service": product.unit_property(unit, "SubState") != "running",
                30,
                "the job has ended without the daemon",
            )
        self.assertEqual(product.daemon_pid(), 0, "nothing woke the daemon")
        product.checked(["systemctl", "start", "mljobd.service"])
        self.assert_result(self.wait_finished(jobs[0]), "done", exit_code=0)
        self.assert_result(self.wait_finished(jobs[7]), "failed", "exit", exit_code=7)
        self.assert_result(self.wait_finished(killed), "signalled", "signal", exit_signal=int(signal.SIGSEGV))

    def test_a_time_limit_that_passed_meanwhile_is_enforced_afterwards(self):
        job = self.alice.submit("sleep", "1000", time_limit=3 * SECOND)
        self.wait_until(job, "running")
        product.checked(["systemctl", "stop", "mljobd.service"])
        time.sleep(4)
        product.checked(["systemctl", "start", "mljobd.service"])
        self.assert_result(self.wait_finished(job), "timeout", "time-limit")

    def test_a_frozen_job_stays_frozen_and_can_be_thawed(self):
        job = self.alice.submit("sh", "-c", "sleep 1; exit 5")
        row = self.wait_until(job, "running")
        self.alice.job(job, "Freeze")
        self.restart_daemon()
        self.assertEqual(self.wait_until(job, "frozen")["state"], "frozen")
        self.assertEqual(product.keyed(product.slice_folder(row) / "cgroup.events")["frozen"], 1)
        self.alice.job(job, "Thaw")
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=5)

    def test_a_restart_never_touches_a_running_job(self):
        job = self.alice.submit("sleep", "1000", memory=200 * product.MEBIBYTE, class_="train")
        row = self.wait_until(job, "running")
        pid = product.unit_property(row["unit"], "MainPID")
        self.restart_daemon()
        self.assertEqual(self.wait_until(job, "running")["start_time"], row["start_time"])
        self.assertEqual(product.unit_property(row["unit"], "MainPID"), pid)

    def test_what_waits_is_still_waiting_after_a_restart(self):
        held = self.alice.submit("true", hold=True)
        self.restart_daemon()
        self.assertEqual(self.root.row(held)["state"], "held")
        self.alice.many("Release", held)
        self.assert_result(self.wait_finished(held), "done")

    def test_draining_survives_a_restart(self):
        self.root.manager("Drain", "a{sv}", product.no_options())
        self.addCleanup(lambda: self.root.manager("Resume", "a{sv}", product.no_options()))
        self.restart_daemon()
        job = self.alice.submit("true")
        self.assertEqual(self.root.properties()["State"], "draining")
        product.always(lambda: self.root.row(job)["state"] == "queued", 1, "a draining daemon starts nothing")
        self.root.manager("Resume", "a{sv}", product.no_options())
        self.assert_result(self.wait_finished(job), "done")


class ReloadedManager(Scenario):
    GO_ON = RECORD / "go-on"

    def check_unchanged_by(self, *command):
        self.GO_ON.unlink(missing_ok=True)
        script = f"while [ ! -e {self.GO_ON} ]; do sleep 0.2; done; exit 5"
        job = self.alice.submit("sh", "-c", script, class_="train", memory=100 * product.MEBIBYTE)
        row = self.wait_until(job, "running")
        folder = product.slice_folder(row)
        files = ("memory.max", "memory.swap.max", "cpu.weight", "pids.max")
        main_process = product.unit_property(row["unit"], "MainPID")
        before = {name: (folder / name).read_text(encoding="ascii") for name in files}
        product.checked(command)
        self.assertEqual({name: (folder / name).read_text(encoding="ascii") for name in files}, before)
        self.assertEqual(product.unit_property(row["unit"], "MainPID"), main_process)
        self.assertEqual(self.root.row(job)["state"], "running")
        RECORD.mkdir(exist_ok=True)
        self.GO_ON.touch()
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=5)

    def test_daemon_reload_changes_nothing_for_a_running_job(self):
        self.check_unchanged_by("systemctl", "daemon-reload")

    def test_daemon_reexec_changes_nothing_for_a_running_job(self):
        self.check_unchanged_by("systemctl", "daemon-reexec")

    def test_jobs_start_and_end_right_while_the_manager_reloads(self):
        jobs = {}
        for number in range(12):
            code = number % 3
            jobs[self.alice.submit("sh", "-c", f"sleep 0.{number}; exit {code}")] = code
            if number % 4 == 1:
                product.checked(["systemctl", "daemon-reload"])
            if number % 8 == 3:
                product.checked(["systemctl", "daemon-reexec"])
        for job, row in self.wait_all_finished(jobs).items():
            code = jobs[job]
            self.assert_result(row, "failed" if code else "done", "exit" if code else "", exit_code=code)


class SecondDaemon(Scenario):
    def test_it_refuses_to_start_and_says_why(self):
        done = product.run(["/usr/sbin/mljobd"], timeout=30)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("another mljobd runs", done.stderr)
        self.assertEqual(product.daemon_pid(), self.daemon)
        self.assert_result(self.wait_finished(self.alice.submit("true")), "done")
