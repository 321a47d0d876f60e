"""Memory that grows is told in time, and what only fills the page cache is not taken for it."""

import time

import product
from product import MEBIBYTE, SECOND
from scenario import Scenario

LIMIT = 320
# A whole hour is 36 s here: a warning comes 36 s before the limit, the last word 6 s before it.
GROWTH = {"time_scale_percent": 1, "bucket": "50s", "sample": "10s"}
CRITICAL_SECONDS = 6
# What the job itself is told, it prints. The shell is the main process; a signal ends the wait, not the load.
DRIFT = (
    "trap 'echo saving' USR1; mljob-load --ramp 8M/s --forever & load=$!; "
    "while kill -0 $load 2>/dev/null; do wait $load; done"
)
# For half a minute, which is more than the detector needs.
STREAM = (
    "dd if=/dev/zero of=big bs=1M count=200 2>/dev/null; end=$(($(date +%s) + 30)); "
    'while [ "$(date +%s)" -lt $end ]; do cat big >/dev/null; done; rm big'
)


class Growth(Scenario):
    test_seconds = 240

    def setUp(self):
        super().setUp()
        # Growth is told whether or not anything is done about pressure.
        self.configure(growth=GROWTH, pressure={"mode": "off"})

    def forecasts(self, job):
        return self.events(job, "forecast")

    @staticmethod
    def events(job, kind):
        return [event for event in product.jobctl_json("events", str(job))["events"] if event["kind"] == kind]

    def forecast(self, job):
        return self.root.row(job).get("forecast", {})

    def test_a_drift_is_told_and_the_job_saves_its_work_before_its_limit(self):
        began = time.monotonic()
        job = product.submit(
            "--mem", f"{LIMIT}M", "--warmup", "100s", "--checkpoint-signal", "USR1", "--", "sh", "-c", DRIFT
        )  # fmt: skip
        grows = product.eventually(
            lambda: self.forecast(job) if self.forecast(job).get("growth") == "growing" else None, 60, "it is seen to grow"
        )
        print(f"seen to grow after {time.monotonic() - began:.0f} s: {grows}")
        # 8 MiB a second, whatever this machine makes of it; told while there is time.
        self.assertGreater(grows["bytes_per_hour"], 3600 * MEBIBYTE)
        self.assertLess(grows["bytes_per_hour"], 3600 * 12 * MEBIBYTE)
        self.assertIn("time_to_limit", grows)
        self.assertIn("/h, limit in ", product.jobctl_ok("list", "-o", "ID,REASON"))
        self.assertRegex(product.jobctl_ok("status", str(job)), r"Growth: \+.*/h, limit in ")

        row = self.wait_finished(job, 90)
        self.assert_result(row, "oom", "own-limit")
        news = [event["reason"] for event in self.forecasts(job)]
        self.assertEqual(news, ["growing", "warning", "critical"])
        last = self.forecasts(job)[-1]
        self.assertLess(last["details"]["time_to_limit"], CRITICAL_SECONDS * SECOND)
        (told,) = self.events(job, "checkpoint")
        self.assertEqual(told["reason"], "growth")
        self.assertLess(told["time"], row["end_time"] - SECOND, "there was time to save something")
        self.assertEqual(self.alice.log(job).decode().split().count("saving"), 1)
        self.assertIn("MLJOBD_GROWTH=critical", product.run(
            ["journalctl", "-o", "export", "-u", "mljobd.service", f"MLJOBD_JOB_ID={job}"]
        ).stdout)  # fmt: skip

    def test_a_file_that_streams_through_the_limit_is_no_growth(self):
        job = product.submit("--mem", "100M", "--warmup", "100s", "-D", "/var/tmp", "--", "sh", "-c", STREAM)
        product.eventually(lambda: self.forecast(job).get("growth") == "steady", 60, "enough of it was seen")
        self.assert_result(self.wait_finished(job, 120), "done", exit_code=0)
        self.assertEqual(self.forecasts(job), [])
        self.assertEqual(self.events(job, "decision"), [])
