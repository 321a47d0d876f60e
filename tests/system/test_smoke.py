"""The shortest path through everything: a job is queued, runs, ends, and its output can be read."""

import product
from product import ALICE, BOB
from scenario import Scenario


class Smoke(Scenario):
    def test_a_job_runs_as_its_owner_and_its_output_can_be_read(self):
        job = product.submit("--", "sh", "-c", "id -un; pwd; echo said", cwd="/home/alice")
        row = self.wait_finished(job)
        self.assert_result(row, "done", exit_code=0)
        self.assertEqual(row["owner"], ALICE)
        self.assertEqual(product.jobctl_ok("logs", str(job)), "alice\n/home/alice\nsaid\n")

    def test_waiting_for_a_job_gives_its_exit_code(self):
        done = product.jobctl("submit", "--wait", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_the_limits_that_were_asked_for_are_in_force(self):
        job = product.submit("--class", "train", "--mem", "300M", "--cpu-weight", "250", "--", "sleep", "600")
        row = self.wait_until(job, "running")
        folder = product.slice_folder(row)
        self.assertEqual((folder / "memory.max").read_text(), f"{300 * product.MEBIBYTE}\n")
        self.assertEqual((folder / "memory.swap.max").read_text(), "0\n")
        self.assertEqual((folder / "cpu.weight").read_text(), "250\n")
        self.assertEqual(row["warnings"], [])

    def test_two_users_have_their_own_jobs(self):
        job = product.submit("--", "id", "-un", user=BOB)
        self.assert_result(self.wait_finished(job), "done", exit_code=0)
        self.assertEqual(product.jobctl_ok("logs", str(job), user=BOB), "bob\n")
