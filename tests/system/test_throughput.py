"""Many jobs, one after the other and all at once: none hangs, every result is right. Rates are the bench's."""

import time

import product
from scenario import FULL, Scenario

JOBS = 200 if FULL else 60
ONE_BY_ONE = 50 if FULL else 10


class Throughput(Scenario):
    test_seconds = 900 if FULL else 300

    def test_a_burst_of_jobs(self):
        started = time.monotonic()
        jobs = {}
        for number in range(JOBS):
            code = number % 4
            jobs[self.alice.submit("sh", "-c", f"exit {code}") if code else self.alice.submit("true")] = code
        submitted = time.monotonic() - started
        for job, row in self.wait_all_finished(jobs, 240).items():
            code = jobs[job]
            self.assert_result(row, "failed" if code else "done", "exit" if code else "", exit_code=code)
        print(f"{JOBS} jobs: submitted in {submitted:.1f} s, finished in {time.monotonic() - started:.1f} s")
        counted = self.root.properties()
        self.assertEqual((counted["Queued"], counted["Running"]), (0, 0))

    def test_one_after_the_other(self):
        for number in range(ONE_BY_ONE):
            done = product.jobctl("submit", "--wait", "-q", "--", "sh", "-c", f"exit {number % 3}")
            self.assertEqual(done.returncode, number % 3, done.stderr)

    def test_waiting_for_many_gives_the_largest_code(self):
        jobs = [self.alice.submit("sh", "-c", f"exit {code}") for code in (0, 3, 1)]
        done = product.jobctl("wait", *(str(job) for job in jobs))
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_the_queue_of_a_thousand_waits_in_peace(self):
        jobs = [self.alice.submit("true", hold=True) for _ in range(1000 if FULL else 300)]
        started = time.monotonic()
        rows = self.alice.rows(jobs)
        print(f"a list of {len(rows)} jobs took {time.monotonic() - started:.2f} s")
        self.assertEqual({row["state"] for row in rows.values()}, {"held"})
        outcomes = self.alice.many("Cancel", *jobs)
        self.assertEqual({outcome["error"] for outcome in outcomes.values()}, {""})
