"""Scripts written for Slurm, as they are; what the machine is too small for is said on the command line."""

import shutil
from pathlib import Path

import product
from product import ALICE
from scenario import Scenario

FIXTURES = Path("/opt/mljobd-tests/slurm")
WORK = Path("/var/tmp/mljobd-scripts")
SMALL = ("--mem", "60M", "--cpus", "1")
SHOW = "import os, sys\nprint(*sys.argv[1:], *(os.environ[name] for name in {names}))\n"
# Runs until it is stopped, the first time; what it is told goes into the log.
TRAIN = """
import signal, sys, time

def save(*_):
    print("saved", flush=True)
    sys.exit(0)

signal.signal(signal.SIGTERM, save)
print(*sys.argv[1:], flush=True)
if sys.argv[-1] == "0":
    time.sleep(1000)
"""
# The first does it while the second is running, and the second waits for its second attempt.
REQUEUES_ITSELF = """#!/bin/bash
#SBATCH --array=0-1
wait_for() { until [ -e "$1" ]; do sleep 0.2; done; }
case $SLURM_ARRAY_TASK_ID,$SLURM_RESTART_COUNT in
  0,0) wait_for second-runs; scontrol requeue $SLURM_JOB_ID; sleep 1000 ;;
  0,*) touch first-is-back ;;
  *) touch second-runs; wait_for first-is-back ;;
esac
"""


class Scripts(Scenario):
    def setUp(self):
        super().setUp()
        shutil.rmtree(WORK, ignore_errors=True)
        shutil.copytree(FIXTURES, WORK)
        self.addCleanup(shutil.rmtree, WORK)

    def hand_over(self):
        """What the scenario has laid there becomes alice's."""
        for path in (WORK, *WORK.rglob("*")):
            shutil.chown(path, ALICE, ALICE)

    def program(self, name, text, mode=0o644):
        path = WORK / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return name

    def submit(self, *arguments):
        self.hand_over()
        return product.submit(*arguments, cwd=WORK)

    def specification(self, job):
        return self.alice.job(job, "GetSpec", "")

    def text(self, name):
        return (WORK / name).read_text(encoding="utf-8")


class Unchanged(Scripts):
    def test_srun_and_the_names_of_files(self):
        (WORK / "logs").mkdir()
        self.program("train.py", SHOW.format(names=["OMP_NUM_THREADS", "SLURM_PROCID"]))
        job = self.submit(*SMALL, "01-plain-training.sh")
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.text(f"logs/resnet50-{job}.out"), "--workers 1 1 0\n")
        self.assertEqual(self.text(f"logs/resnet50-{job}.err"), "")
        self.assertEqual(self.root.row(job)["name"], "resnet50")

    def test_an_array(self):
        (WORK / "out").mkdir()
        self.program("one-point", '#!/bin/sh\necho "$@" $SLURM_ARRAY_TASK_MAX\n', 0o755)
        job = self.submit(*SMALL, "--array", "2-4", "-D", str(WORK), "02-short-options.sh")
        for row in self.wait_all_finished(range(job, job + 3)).values():
            self.assert_result(row, "done")
        for index in range(2, 5):
            self.assertEqual(self.text(f"out/{job}_{index:04}.log"), f"--index {index} --of 3 4\n")

    def test_a_trap_puts_the_job_back_into_the_queue(self):
        self.program("train.py", TRAIN)
        job = self.submit("--mem", "60M", "--time", "130s", "03-requeue-on-signal.sh")
        row = self.wait_finished(job, seconds=120)
        self.assert_result(row, "done")
        self.assertEqual(row["attempt"], 2)
        self.assertEqual(
            self.text("checkpointed.log").splitlines(),
            ["--resume auto --restart 0", "saved", "--resume auto --restart 1"],
        )

    def test_quotes_comments_and_the_line_ends_of_dos(self):
        (WORK / "my files").mkdir()
        quoted = self.submit("04-quotes-and-comments.sh")
        self.assert_result(self.wait_finished(quoted), "done")
        self.assertEqual(self.text("my files/out.txt"), "started\n")
        self.assertEqual(self.root.row(quoted)["limits"]["memory"], 512 << 20)
        windows = self.submit("05-from-windows.sh")
        self.assert_result(self.wait_finished(windows), "done")
        self.assertEqual(self.alice.log(windows), b"fromwindows\n")

    def test_another_language(self):
        job = self.submit(*SMALL, "06-python.py")
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.alice.log(job), f"2 {WORK}\n".encode())

    def stand_in(self, name):
        """A program of that name which prints its arguments, on a PATH that only this job has."""
        (WORK / "bin").mkdir(exist_ok=True)
        self.program(f"bin/{name}", '#!/bin/sh\necho "$0 $*"\n', 0o755)
        return ("--export", f"PATH={WORK}/bin:/usr/bin:/bin")

    def test_a_chain_of_conditions(self):
        self.program("validate", '#!/bin/sh\necho "$@"\n', 0o755)
        first = self.submit(*SMALL, "--name", "prepare", "--", "sleep", "3")
        job = self.submit(*SMALL, "--after", f"ok:{first}", "--begin", "now+1s", "07-dependent.sh", "--fold", "2")
        self.assertEqual(self.root.row(job)["state"], "held")
        self.assertEqual(self.root.row(job)["priority"], -50)
        product.jobctl_ok("release", str(job), user=ALICE)
        self.assertTrue(self.root.row(job)["reason"].startswith("Dependency"), self.root.row(job)["reason"])
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.alice.log(job), b"--fold 2\n")

    def test_a_script_for_a_whole_machine(self):
        (WORK / "runs").mkdir()
        path = self.stand_in("mpirun")
        job = self.submit("--cpus", "1", "--mem", "60M", *path, "08-whole-machine.sh")
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.alice.log(job).decode(), f"{WORK}/bin/mpirun -n 16 ./simulate\n")
        self.assertEqual(self.specification(job)["workdir"], str(WORK / "runs"))

    def test_directives_of_both_kinds(self):
        path = self.stand_in("make")
        job = self.submit(*SMALL, *path, "09-both-languages.sh")
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.text("all runs.log"), f"{WORK}/bin/make train\n")
        kept = self.specification(job)
        self.assertEqual([kept["class"], kept["name"], kept["labels"]["team"]], ["train", "both", "vision"])

    def test_a_careless_script(self):
        (WORK / "$HOME" / "logs").mkdir(parents=True)
        self.program("train.py", "import os, sys\nprint(*sys.argv[1:], os.environ['HOME'])\n")
        job = self.submit(*SMALL, "10-careless.sh")
        self.assert_result(self.wait_finished(job), "done")
        home = product.environment_of(ALICE)["HOME"]
        self.assertEqual(self.text(f"$HOME/logs/{job}.out"), f"--epochs 3 {home}\n")
        self.assertEqual(self.root.row(job)["name"], "2026_12")

    def test_arguments(self):
        name = self.program("with-arguments.sh", '#!/bin/bash\n#SBATCH --mem=50M\nprintf "[%s]" "$@"\nexit $#\n')
        job = self.submit(name, "--mem", "two words", "")
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=3)
        self.assertEqual(self.alice.log(job), b"[--mem][two words][]")
        self.assertEqual(self.root.row(job)["limits"]["memory"], 50 << 20)


class Array(Scripts):
    def test_the_first_job_of_an_array_requeues_itself_alone(self):
        job = self.submit(self.program("array.sh", REQUEUES_ITSELF))
        rows = self.wait_all_finished([job, job + 1])
        self.assertEqual([rows[job]["attempt"], rows[job + 1]["attempt"]], [2, 1])


class Mistakes(Scripts):
    CASES = (
        ("#SBATCH --mem=12Q", 3, "--mem"),
        ("#SBATCH --nodes=2", 3, "--nodes"),
        ("#SBATCH --time=tomorrow", 3, "--time"),
        ("#SBATCH --array=5-1", 3, "--array"),
        ("#SBATCH --job-name='open", 3, "quote"),
        ("#SBATCH --no-such-option=1", 3, "no-such-option"),
        ("#JOB --mem 12", 3, "--mem"),
    )

    def test_line_and_reason_are_told_and_nothing_is_queued(self):
        self.hand_over()
        before = set(self.root.rows())
        for directive, line, what in self.CASES:
            with self.subTest(directive=directive):
                name = self.program("bad.sh", f"#!/bin/bash\n#SBATCH --job-name=bad\n{directive}\ntrue\n")
                submitted = product.jobctl("submit", name, cwd=WORK)
                self.assertEqual(submitted.returncode, 2, submitted.stdout)
                self.assertIn(f"bad.sh:{line}:", submitted.stderr)
                self.assertIn(what, submitted.stderr)
        self.assertEqual(set(self.root.rows()), before)
