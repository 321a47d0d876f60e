"""Programs that end in their first millisecond, and programs that cannot be started at all."""

import os
import stat
from pathlib import Path

import product
from product import ALICE
from scenario import Scenario

PARALLEL = 50


class QuickExit(Scenario):
    def test_an_exit_code_of_the_first_millisecond_is_never_lost(self):
        jobs = [self.alice.submit("sh", "-c", "exit 1") for _ in range(PARALLEL)]
        for row in self.wait_all_finished(jobs, 180).values():
            self.assert_result(row, "failed", "exit", exit_code=1)

    def test_a_program_of_one_system_call_is_done(self):
        jobs = [self.alice.submit("true") for _ in range(10)]
        for row in self.wait_all_finished(jobs).values():
            self.assert_result(row, "done", exit_code=0)

    def test_a_program_that_exits_as_systemd_would_is_failed_and_not_unstarted(self):
        for code in (200, 203, 243):
            row = self.wait_finished(self.alice.submit("sh", "-c", f"exit {code}"))
            self.assert_result(row, "failed", "exit", exit_code=code)


class StartFailure(Scenario):
    def assert_not_started(self, job, *words):
        row = self.wait_finished(job)
        self.assert_result(row, "start-failed", "start")
        for word in words:
            self.assertIn(word, row["cause"]["advice"])

    def test_a_program_that_does_not_exist_is_named(self):
        self.assert_not_started(self.alice.submit("/opt/no-such-trainer", "--epochs", "3"), "/opt/no-such-trainer")

    def test_a_program_that_is_not_in_the_path_is_named(self):
        self.assert_not_started(self.alice.submit("no-such-trainer"), "no-such-trainer")

    def test_a_program_that_may_not_be_executed_is_named(self):
        script = Path("/tmp/mljobd-not-executable")
        script.write_text("#!/bin/sh\n", encoding="ascii")
        self.addCleanup(script.unlink)
        script.chmod(stat.S_IRUSR | stat.S_IWUSR)
        os.chown(script, ALICE, ALICE)
        self.assert_not_started(self.alice.submit(str(script)), str(script), "ermission")

    def test_a_working_directory_that_does_not_exist_is_named(self):
        job = self.alice.submit("true", workdir="/home/alice/no-such-folder")
        self.assert_not_started(job, "/home/alice/no-such-folder")

    def test_a_working_directory_of_another_user_stays_closed(self):
        Path("/home/bob").chmod(0o700)
        self.assert_not_started(self.alice.submit("true", workdir="/home/bob"), "/home/bob")

    def test_jobctl_shows_the_reason(self):
        job = self.alice.submit("/opt/no-such-trainer")
        self.wait_finished(job)
        self.assertIn("/opt/no-such-trainer", product.jobctl_ok("status", str(job)))
