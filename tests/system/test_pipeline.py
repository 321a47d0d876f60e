"""The nights of the documentation, submitted as pipelines, and every night by a timer."""

import shutil
from pathlib import Path

import product
from product import ALICE
from scenario import Scenario

EXAMPLES = Path("/usr/share/doc/mljobd/examples")
WORK = Path("/var/tmp/mljobd-pipeline")
# What stands in for the programs of a night: it leaves a line when it begins and when it ends.
PROGRAM = """
import os, sys, time

def note(step):
    with open("order.txt", "a") as order:
        order.write(f"{step} {sys.argv[0]} {os.environ.get('MLJOB_ARRAY_INDEX', '')}".strip() + "\\n")

note("begin")
time.sleep(0.5)
note("end")
"""
# The examples are for a larger machine; the options of the command line go before the file.
SMALL = ("--mem", "60M", "--workdir", str(WORK))


class Night(Scenario):
    test_seconds = 300

    def setUp(self):
        super().setUp()
        WORK.mkdir()
        self.addCleanup(shutil.rmtree, WORK)
        for name in ("preprocess.py", "train.py", "validate.py"):
            (WORK / name).write_text(PROGRAM, encoding="ascii")
        shutil.chown(WORK, ALICE, ALICE)

    def place(self, line):
        return self.order.index(line)

    def check_night(self, jobs):
        """Every stage is done, and the report, which is the last, has seen them."""
        for row in self.wait_all_finished(jobs, 240).values():
            self.assert_result(row, "done")
        self.order = (WORK / "order.txt").read_text(encoding="ascii").splitlines()
        report = (WORK / "report.txt").read_text(encoding="ascii")
        for name in ("preprocess", "train", "validate"):
            self.assertRegex(report, rf"(?m)^ *[0-9_]+ +{name} +CD ")


class ByHand(Night):
    def submit(self, name):
        return [int(line) for line in product.jobctl_ok("submit", "-q", *SMALL, str(EXAMPLES / name)).split()]

    def test_the_sequential_night_runs_stage_after_stage(self):
        jobs = self.submit("night-sequential.json")
        self.assertEqual(len(jobs), 4)
        self.check_night(jobs)
        stages = ("preprocess.py", "train.py", "validate.py")
        self.assertEqual(self.order, [f"{step} {stage}" for stage in stages for step in ("begin", "end")])

    def test_the_parallel_night_trains_several_models_and_validates_beside_them(self):
        first = self.submit("night-parallel.json")[0]
        jobs = [job for job in self.root.rows() if job >= first]
        self.assertEqual(len(jobs), 7, "four of them are the models")
        self.check_night(jobs)
        self.assertEqual(self.order[:2], ["begin preprocess.py", "end preprocess.py"])
        models = [line for line in self.order if line.startswith("begin train.py")]
        self.assertEqual(sorted(models), [f"begin train.py {model}" for model in range(4)])

    def test_the_plan_is_told_and_nothing_is_queued(self):
        before = set(self.root.rows())
        plan = product.jobctl_ok("submit", "--test-only", *SMALL, str(EXAMPLES / "night-sequential.json"))
        places = [plan.index(stage) for stage in ("preprocess", "train", "validate", "report")]
        self.assertEqual(places, sorted(places), plan)
        self.assertEqual(set(self.root.rows()), before)


class Mistakes(Scenario):
    FILE = Path("/var/tmp/mljobd-bad.json")
    TEXT = '{"version": 1, "stages": [\n{"name": "a", "command": "true", "after": "b"},\n{"name": "b", %s}\n]}\n'
    CASES = (
        ('"command": "true", "after": "a"', 2, "a -> b -> a"),
        ('"command": "true", "after": "nowhere"', 3, "'nowhere'"),
        ('"command": "true"}, {"name": "b", "command": "true"', 3, "two stages are called 'b'"),
        ('"command": "true", "mem": 12', 3, "mem:"),
        ('"command": "true", "mems": "12G"', 3, "'mems'"),
        ('"command": 5', 3, "command"),
        ('"command": "true", "after"', 3, "syntax error"),
    )

    def setUp(self):
        super().setUp()
        self.addCleanup(self.FILE.unlink)
        self.before = set(self.root.rows())

    def refused(self, text, code=2):
        self.FILE.write_text(text, encoding="ascii")
        submitted = product.jobctl("submit", str(self.FILE))
        self.assertEqual(submitted.returncode, code, submitted.stdout)
        self.assertEqual(set(self.root.rows()), self.before)
        return submitted.stderr

    def test_line_and_key_are_told_and_nothing_is_queued(self):
        for stage, line, what in self.CASES:
            with self.subTest(stage=stage):
                message = self.refused(self.TEXT % stage)
                self.assertIn(f"{self.FILE.name}:{line}:", message)
                self.assertIn(what, message)

    def test_a_file_of_ten_megabytes_is_not_read(self):
        self.assertIn("larger than 1M", self.refused(" " * 10_000_000))

    def test_what_only_the_daemon_knows_names_the_stage(self):
        text = self.TEXT % '"command": "true", "mem": "900G"'
        self.assertRegex(self.refused(text.replace(', "after": "b"', ""), code=125), "stage '?b")


class ByTimer(Night):
    PIPELINE = Path("/etc/mljobd/pipelines/night.json")
    DROP_INS = Path("/run/systemd/system")

    def setUp(self):
        super().setUp()
        self.addCleanup(self.forget_units)
        text = (EXAMPLES / "night-sequential.json").read_text(encoding="ascii")
        text = text.replace("/srv/research", str(WORK))
        for memory in ("4G", "12G"):
            text = text.replace(f'"mem": "{memory}"', '"mem": "60M"')
        self.PIPELINE.parent.mkdir(parents=True, exist_ok=True)
        self.PIPELINE.write_text(text, encoding="ascii")
        product.checked(["systemctl", "daemon-reload"])

    def forget_units(self):
        product.run(["systemctl", "stop", "mljob-pipeline@night.timer"])
        product.run(["systemctl", "reset-failed", "mljob-pipeline@night.service"])
        for folder in self.DROP_INS.glob("mljob-pipeline@night.*.d"):
            shutil.rmtree(folder)
        self.PIPELINE.unlink(missing_ok=True)
        product.checked(["systemctl", "daemon-reload"])

    def drop_in(self, unit, text):
        folder = self.DROP_INS / f"{unit}.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scenario.conf").write_text(text, encoding="ascii")
        product.checked(["systemctl", "daemon-reload"])

    def test_nobody_named_means_nothing_queued(self):
        before = set(self.root.rows())
        self.assertNotEqual(product.run(["systemctl", "start", "mljob-pipeline@night.service"]).returncode, 0)
        self.assertIn("write User= below [Service]", product.journal("-u", "mljob-pipeline@night.service"))
        self.assertEqual(set(self.root.rows()), before)

    def test_the_timer_queues_it_for_its_user(self):
        product.checked(["systemctl", "start", "mljob-pipeline@night.timer"])
        timers = product.checked(["systemctl", "list-timers", "mljob-pipeline@night.timer"])
        self.assertIn("22:00:00", timers)
        product.checked(["systemctl", "stop", "mljob-pipeline@night.timer"])
        before = set(self.root.rows())
        self.drop_in("mljob-pipeline@night.service", "[Service]\nUser=alice\n")
        timer = "[Timer]\nOnCalendar=\nPersistent=no\nOnActiveSec=2s\nAccuracySec=1s\n"
        self.drop_in("mljob-pipeline@night.timer", timer)
        product.checked(["systemctl", "start", "mljob-pipeline@night.timer"])
        jobs = product.eventually(lambda: set(self.root.rows()) - before, 60, "the timer has queued the night")
        self.assertEqual(len(jobs), 4)
        self.assertEqual({self.root.row(job)["owner"] for job in jobs}, {ALICE})
        self.check_night(jobs)
