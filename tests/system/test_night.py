"""The night on a machine without swap."""

from night import Night


class NightWithoutSwap(Night):
    def test_the_training_survives_a_validation_without_a_limit(self):
        self.check_without_a_limit()

    def test_the_training_survives_a_validation_with_a_limit(self):
        self.check_with_a_limit()
