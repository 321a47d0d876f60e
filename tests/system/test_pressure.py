"""Memory runs short on a machine without swap: somebody has to go, the least important first, and comes back."""

import product
from pressure import NIGHTS, Pressure, load


class WithoutSwap(Pressure):
    def test_the_training_is_untouched_and_all_jobs_end_well(self):
        for _ in range(NIGHTS):
            _, others = self.spend_night()
            killed = self.jobs_that("kill")
            self.assertGreaterEqual(len(killed), 1, "else it was no night")
            self.assertEqual(killed[0], others[-1]["id"], "the least important went first")
            for row in others:
                self.assertEqual(row["attempt"], 1 + killed.count(row["id"]), "requeued once for each time it gave way")

    def test_a_dry_run_decides_and_does_nothing(self):
        self.configure(pressure={"mode": "dry-run"})
        victim = product.submit("--class", "batch", "--mem", "100M", "--mem-max", "2G", "--", *load("1660M", 2000))
        other = product.submit("--class", "train", "--", "sleep", "1000")
        product.eventually(lambda: victim in self.jobs_that("kill"), 90, "it would have been ended")
        self.assertIn(self.root.row(victim)["state"], ("running", "finished"))
        self.assertNotEqual(self.root.row(victim).get("result"), "preempted")
        self.assertEqual(self.root.row(other)["state"], "running")

    def test_what_was_ended_is_explained(self):
        train = product.submit("--class", "train", "--", "sleep", "1000")
        self.wait_until(train, "running")
        victim = product.submit("--class", "batch", "--mem", "100M", "--mem-max", "2G", "--", *load("1700M", 2000))
        row = self.wait_finished(victim, 120)
        self.assert_result(row, "preempted", "pressure-policy")
        self.assertEqual(row["cause"]["by"], "mljobd")
        self.assertIn("--requeue", row["cause"]["advice"])
        page = product.jobctl_ok("events", str(victim))
        self.assertRegex(page, r"kill \d+ .*available")
        self.assertEqual(self.root.row(train)["state"], "running")

    def test_a_file_that_fills_a_limit_is_no_need(self):
        script = "dd if=/dev/zero of=big bs=1M count=200 2>/dev/null; for i in 1 2; do cat big >/dev/null; done; rm big"
        job = product.submit("--mem", "100M", "-D", "/var/tmp", "--", "sh", "-c", script)
        self.assert_result(self.wait_finished(job, 120), "done")
        self.assertEqual([event for event in self.decisions() if event["job"] == job], [])

    def test_by_hand_there_is_nowhere_to_park(self):
        job = product.submit("--", "sleep", "1000")
        self.wait_until(job, "running")
        refused = product.jobctl("park", str(job))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("swap", refused.stderr)
        self.assertEqual(self.root.row(job)["state"], "running")
