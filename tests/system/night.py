"""The night: a training and a validation that wants more memory than there is, at the same time."""

import json

import product
from product import MEBIBYTE
from scenario import FULL, Scenario

NIGHTS = 10 if FULL else 1
TRAIN_MEMORY = 900
# Half a minute on any machine that keeps up: the validation has come to its end long before.
TRAIN_STEPS = 600
STEP_MILLISECONDS = 50
VALIDATE_LIMIT = 500
NIGHT_SECONDS = 240
GUARDED = ("ssh.service", "mljobd.service")


class Night(Scenario):
    """The scenarios of both machines, the one with swap and the one without."""

    test_seconds = 60 + NIGHT_SECONDS * NIGHTS

    def setUp(self):
        super().setUp()
        # The limits alone: what gives way before they fire is another scenario (pressure.py).
        self.configure(pressure={"mode": "off"})

    def spend_night(self, *validate_options):
        """One night; the training must complete whatever the validation does. Returns both rows."""
        guarded = {unit: product.unit_property(unit, "MainPID") for unit in GUARDED}
        train = product.submit(
            "--class", "train", "-J", "train", "--",
            "mljob-load", "--memory", f"{TRAIN_MEMORY}M", "--steps", str(TRAIN_STEPS), "--step-ms", str(STEP_MILLISECONDS),
        )  # fmt: skip
        validate = product.submit(
            "--class", "validate", "-J", "validate", *validate_options, "--",
            "mljob-load", "--ramp", "100M/s", "--forever",
        )  # fmt: skip
        rows = self.wait_all_finished([train, validate], NIGHT_SECONDS)
        self.assert_result(rows[train], "done", exit_code=0)
        summary = json.loads(self.alice.log(train))
        self.assertEqual(summary["steps"], TRAIN_STEPS)
        self.assertGreater(rows[train]["end_time"], rows[validate]["end_time"], "they ran at the same time")
        self.assertEqual({unit: product.unit_property(unit, "MainPID") for unit in GUARDED}, guarded)
        print(f"train: {summary['steps_per_second']} steps/s, slowest gap {summary['slowest_gap_seconds']} s")
        return rows[train], rows[validate]

    def assert_explained(self, row, what, limit):
        """The sentence for the morning: which limit, how far it got, who was killed, what to type."""
        self.assert_result(row, "oom", what)
        cause = row["cause"]
        self.assertEqual(cause["limit"], limit, cause)
        self.assertEqual(cause["by"], "kernel", cause)
        self.assertEqual(cause["victim"][1], "mljob-load", cause)
        self.assertGreater(cause["peak"], 100 * MEBIBYTE, cause)
        self.assertLessEqual(cause["peak"], limit, cause)
        self.assertIn("--mem", cause["advice"])

    def check_without_a_limit(self):
        total = int((product.CGROUPS / "mljob.slice" / "memory.max").read_text(encoding="ascii"))
        for _ in range(NIGHTS):
            train, validate = self.spend_night()
            self.assert_explained(validate, "total-limit", total)
            self.assertGreater(train["usage"]["memory_peak"], TRAIN_MEMORY * MEBIBYTE)

    def check_with_a_limit(self):
        for _ in range(NIGHTS):
            _, validate = self.spend_night("--mem", f"{VALIDATE_LIMIT}M")
            self.assert_explained(validate, "own-limit", VALIDATE_LIMIT * MEBIBYTE)
            shown = product.jobctl_ok("status", str(validate["id"]))
            self.assertIn(f"limit {VALIDATE_LIMIT}M", shown)
            self.assertIn(validate["cause"]["advice"].split(". ")[0][:40], " ".join(shown.split()))
