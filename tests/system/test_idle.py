"""A daemon with nothing to do does nothing."""

import time

import product
from product import MEBIBYTE
from scenario import Scenario

SECONDS = 30
RESIDENT_LIMIT = 12 * MEBIBYTE
# One for the watchdog, and one in case the seconds of two of them touch the measurement.
WAKE_UPS = 3


class Idle(Scenario):
    daemon_may_restart = True

    def setUp(self):
        super().setUp()
        # What earlier scenarios kept in memory is theirs.
        self.restart_daemon()
        self.daemon = product.daemon_pid()

    def measure(self):
        status = product.keyed(f"/proc/{self.daemon}/status")
        fields = open(f"/proc/{self.daemon}/stat", encoding="ascii").read().rpartition(")")[2].split()
        return {
            "ticks": int(fields[11]) + int(fields[12]),
            "wake-ups": status["voluntary_ctxt_switches"],
            "resident": status["VmRSS"] * 1024,
        }

    def test_thirty_seconds_without_jobs_cost_nothing(self):
        time.sleep(2)
        before = self.measure()
        time.sleep(SECONDS)
        after = self.measure()
        ticks, wake_ups = after["ticks"] - before["ticks"], after["wake-ups"] - before["wake-ups"]
        print(f"idle for {SECONDS} s: {ticks} ticks, {wake_ups} wake-ups, {after['resident'] / MEBIBYTE:.1f} MiB")
        self.assertEqual(ticks, 0)
        self.assertLessEqual(wake_ups, WAKE_UPS)
        self.assertLessEqual(after["resident"], RESIDENT_LIMIT)

    def test_it_is_as_idle_after_its_jobs_have_ended(self):
        jobs = [self.alice.submit("true") for _ in range(5)]
        self.wait_all_finished(jobs)
        # The next look at the running jobs finds none, and is the last.
        time.sleep(3)
        before = self.measure()
        time.sleep(10)
        after = self.measure()
        self.assertLessEqual(after["ticks"] - before["ticks"], 1)
        self.assertLessEqual(after["wake-ups"] - before["wake-ups"], WAKE_UPS)
