"""The training keeps 70 % of the CPU, whatever runs beside it and in however many jobs."""

import time

import product
from scenario import FULL, Scenario

SECONDS = 30 if FULL else 10
SETTLE_SECONDS = 2
TOLERANCE = 0.03
TRAIN_SHARE = 0.70


class CpuShare(Scenario):
    def busy(self, class_name, threads):
        script = "i=1; while [ $i -lt $0 ]; do while :; do :; done & i=$((i+1)); done; while :; do :; done"
        job = self.alice.submit("sh", "-c", script, str(threads), class_=class_name)
        self.wait_until(job, "running")
        return job

    def assert_classes_share(self):
        names = ("train", "validate")
        time.sleep(SETTLE_SECONDS)
        before = {name: self.cpu_time(name) for name in names}
        time.sleep(SECONDS)
        used = {name: self.cpu_time(name) - before[name] for name in names}
        share = used["train"] / sum(used.values())
        print(f"train {share:.3f} of {sum(used.values()) / 1e6:.1f} CPU seconds in {SECONDS} s")
        self.assertAlmostEqual(share, TRAIN_SHARE, delta=TOLERANCE)

    @staticmethod
    def cpu_time(name):
        return product.keyed(product.class_folder(name) / "cpu.stat")["usage_usec"]

    def test_two_training_threads_keep_their_share_beside_eight_of_a_validation(self):
        self.busy("train", 2)
        self.busy("validate", 8)
        self.assert_classes_share()

    def test_three_validations_share_what_one_would_get(self):
        self.busy("train", 2)
        for _ in range(3):
            self.busy("validate", 2)
        self.assert_classes_share()

    def test_a_quota_holds_where_the_machine_is_otherwise_idle(self):
        job = self.alice.submit("sh", "-c", "while :; do :; done", class_="train", cpu_quota_percent=50)
        folder = product.slice_folder(self.wait_until(job, "running"))
        time.sleep(SETTLE_SECONDS)
        before, started = product.keyed(folder / "cpu.stat")["usage_usec"], time.monotonic()
        time.sleep(4)
        used = product.keyed(folder / "cpu.stat")["usage_usec"] - before
        self.assertAlmostEqual(used / 1e6 / (time.monotonic() - started), 0.5, delta=0.1)

    def test_a_job_stays_on_its_cpus(self):
        job = self.alice.submit("nproc", cpu_list="1")
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.alice.log(job), b"1\n")
