"""The night on a machine with swap: a job's limit is a limit all the same."""

from pathlib import Path

from night import Night

MACHINE = "swap"


class NightWithSwap(Night):
    def test_the_training_survives_a_validation_without_a_limit(self):
        self.assertGreater(len(Path("/proc/swaps").read_text(encoding="ascii").splitlines()), 1, "there is swap")
        self.check_without_a_limit()

    def test_the_training_survives_a_validation_with_a_limit(self):
        self.check_with_a_limit()
