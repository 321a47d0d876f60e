"""A training beside jobs that need more than there is, each with a claim that is too small."""

import json
import time

import product
from product import MEBIBYTE
from scenario import FULL, Scenario

NIGHTS = 10 if FULL else 1
NIGHT_SECONDS = 420
# Little enough that four of them do not wait for each other on two CPUs: what slows them down is memory.
WORK = "1000000"
STEP_MILLISECONDS = 50
SOLO_STEPS_PER_SECOND = 1000 / STEP_MILLISECONDS
TRAIN_STEPS = 700
OTHER_STEPS = 150
CLAIM = ("--mem", "200M", "--mem-max", "2G")


def load(memory, steps):
    return ["mljob-load", "--memory", memory, "--steps", str(steps), "--step-ms", str(STEP_MILLISECONDS), "--work", WORK]


class Pressure(Scenario):
    """2600 MiB in 1700: the training is the top job, and gives nothing."""

    test_seconds = 60 + NIGHT_SECONDS * NIGHTS

    def setUp(self):
        super().setUp()
        self.since = time.time_ns() // 1000

    def submit_night(self):
        train = product.submit("--class", "train", "-J", "train", *CLAIM, "--", *load("900M", TRAIN_STEPS))
        others = [
            product.submit("--class", job_class, "-J", name, "--requeue", *CLAIM, "--", *load(memory, OTHER_STEPS))
            for job_class, name, memory in (("validate", "v1", "600M"), ("validate", "v2", "600M"), ("batch", "b", "500M"))
        ]
        return train, others

    def spend_night(self):
        """All end well; the training was neither touched nor slowed down. The rows of it and of the others."""
        self.since = time.time_ns() // 1000
        killed_before = self.killed_by_the_kernel()
        train, others = self.submit_night()
        rows = self.wait_all_finished([train, *others], NIGHT_SECONDS)
        for row in rows.values():
            self.assert_result(row, "done", exit_code=0)
        self.assertEqual(rows[train]["attempt"], 1)
        summary = json.loads(self.alice.log(train).splitlines()[-1])
        self.assertGreaterEqual(summary["steps_per_second"], 0.9 * SOLO_STEPS_PER_SECOND, summary)
        self.assertLess(summary["slowest_gap_seconds"], 2.5, "never below half its speed for 5 s")
        self.assertEqual([event for event in self.decisions() if event["job"] == train], [])
        self.assertEqual(self.killed_by_the_kernel(), killed_before, "the kernel never had to")
        print(f"train: {summary['steps_per_second']} steps/s, slowest gap {summary['slowest_gap_seconds']} s")
        return rows[train], [rows[job] for job in others]

    @staticmethod
    def killed_by_the_kernel():
        return product.keyed(product.CGROUPS / "mljob.slice" / "memory.events")["oom_kill"]

    def decisions(self):
        events = product.jobctl_json("events", "-n", "1000")["events"]
        return [event for event in events if event["kind"] == "decision" and event["time"] > self.since]

    def jobs_that(self, action):
        return [event["job"] for event in self.decisions() if event["reason"] == action]

    def resident(self, job):
        """What the kernel counts of a job that cannot be had without swapping."""
        stat = product.keyed(product.slice_folder(self.root.row(job)) / "memory.stat")
        return int(stat["anon"]) + int(stat["shmem"])

    def swapped(self, job):
        path = product.slice_folder(self.root.row(job)) / "memory.swap.current"
        return int(path.read_text(encoding="ascii")) // MEBIBYTE
