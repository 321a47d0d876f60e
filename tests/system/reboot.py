"""What jobs that wait and run may expect of a machine that goes down and comes up again."""

import json
import os
from pathlib import Path

import product
from product import MEBIBYTE
from scenario import Scenario

NOTES = Path("/var/lib/mljobd-scenario-reboot.json")
BOOT_UNIT = Path("/etc/systemd/system/mljobd-scenario-boot.service")
BOOT_UNIT_TEXT = """
[Unit]
Description=Submits a job as soon as the daemon can take it
Requires=mljobd.service
After=mljobd.service

[Service]
Type=oneshot
RemainAfterExit=yes
WorkingDirectory=/
ExecStart=/usr/bin/jobctl submit -J at-boot -- true

[Install]
WantedBy=multi-user.target
"""


def write_durably(path, text):
    """What the scenario itself needs after a power cut."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


class Before(Scenario):
    phase = "before"
    leaves_jobs = True

    def test_jobs_run_and_wait(self):
        product.CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
        write_durably(product.CONFIGURATION, '{"classes": [{"name": "train", "max_running": 1}]}')
        self.root.manager("Reload")
        script = "echo attempt $MLJOB_ATTEMPT; [ $MLJOB_ATTEMPT = 2 ] && exit 4; sleep 10000"
        jobs = {
            "lost": self.alice.submit("sleep", "10000"),
            "again": self.alice.submit("sh", "-c", script, requeue=True, memory=50 * MEBIBYTE),
            "blocking": self.alice.submit("sleep", "10000", class_="train"),
            "finished": self.alice.submit("sh", "-c", "echo before; exit 6"),
        }
        for name in ("lost", "again", "blocking"):
            self.wait_until(jobs[name], "running")
        self.wait_finished(jobs["finished"])
        jobs["waiting"] = self.alice.submit("sh", "-c", "exit 5", class_="train")
        jobs["chained"] = product.submit("-d", f"notok:{jobs['waiting']}", "--", "true")
        jobs["last of all"] = product.submit("-d", f"ok:{jobs['chained']}", "--", "true")
        jobs["never"] = product.submit("-d", f"ok:{jobs['waiting']}", "--", "true")
        jobs["held"] = self.alice.submit("true", hold=True)
        self.assertEqual(self.root.row(jobs["waiting"])["state"], "queued")
        write_durably(NOTES, json.dumps(jobs))
        # Nothing after this one asks the disk to write: its answer alone must have made sure.
        self.alice.submit("true", name="last-word", hold=True)

    def test_a_unit_that_submits_at_boot_is_there(self):
        write_durably(BOOT_UNIT, BOOT_UNIT_TEXT)
        product.checked(["systemctl", "enable", BOOT_UNIT.name])


class After(Scenario):
    phase = "after"
    leaves_jobs = True

    def setUp(self):
        super().setUp()
        self.jobs = json.loads(NOTES.read_text(encoding="ascii"))

    def test_a_running_job_is_lost_and_the_reboot_is_named(self):
        for name in ("lost", "blocking"):
            self.assert_result(self.root.row(self.jobs[name]), "lost", "reboot", exit_code=-1)

    def test_a_running_job_that_may_be_requeued_runs_again(self):
        row = self.wait_finished(self.jobs["again"])
        self.assert_result(row, "failed", "exit", exit_code=4)
        self.assertEqual(row["attempt"], 2)
        self.assertEqual(self.alice.log(row["id"]), b"attempt 2\n")

    def test_a_waiting_job_gets_its_turn(self):
        self.assert_result(self.wait_finished(self.jobs["waiting"]), "failed", "exit", exit_code=5)

    def test_jobs_that_waited_for_it_follow(self):
        chain = [self.jobs[name] for name in ("waiting", "chained", "last of all")]
        rows = self.wait_all_finished([*chain, self.jobs["never"]])
        for first, second in zip(chain, chain[1:]):
            self.assert_result(rows[second], "done")
            self.assertGreaterEqual(rows[second]["start_time"], rows[first]["end_time"])
        self.assert_result(rows[self.jobs["never"]], "dependency", "dependency")

    def test_a_held_job_is_still_held(self):
        self.assertEqual(self.root.row(self.jobs["held"])["state"], "held")

    def test_a_submission_that_was_answered_is_there(self):
        (row,) = self.root.rows(name="last-word").values()
        self.assertEqual(row["state"], "held")

    def test_the_history_and_its_logs_are_there(self):
        self.assert_result(self.root.row(self.jobs["finished"]), "failed", "exit", exit_code=6)
        self.assertEqual(self.alice.log(self.jobs["finished"]), b"before\n")

    def test_no_id_is_given_out_twice(self):
        self.assertGreater(self.alice.submit("true"), max(self.jobs.values()))

    def test_a_service_that_requires_the_daemon_has_submitted_at_boot(self):
        (row,) = self.root.rows(name="at-boot").values()
        self.assertEqual(row["owner"], product.ROOT)
        self.assert_result(self.wait_finished(row["id"]), "done")
        self.assertEqual(product.unit_property(BOOT_UNIT.name, "ActiveState"), "active")
