"""What starts when: dependencies, arrays, retries, begin times, singletons, one training after another."""

import time
from pathlib import Path

import product
import test_crash
from product import MEBIBYTE, SECOND
from scenario import Scenario

WITHOUT_END = ("sleep", "1000")
CANCELLED = 143
ALLOCATE = "import sys; held = bytearray(int(sys.argv[1]) << 20)"


class Dependencies(Scenario):
    def test_a_job_starts_once_the_ends_it_waits_for_have_come(self):
        prepare = product.submit("-J", "prepare", "--", "sleep", "1")
        by_id = product.submit("-d", f"ok:{prepare}", "--", "true")
        by_name = product.submit("-d", "any:prepare", "--", "false")
        by_sign = product.submit("-d", "notok:@", "--", "true")
        never = product.submit("-d", f"ok:{by_name}", "--", "true")
        rows = self.wait_all_finished([prepare, by_id, by_name, by_sign, never])
        self.assert_result(rows[by_id], "done")
        self.assert_result(rows[by_name], "failed", "exit", exit_code=1)
        self.assert_result(rows[by_sign], "done")
        self.assert_result(rows[never], "dependency", "dependency")
        self.assertEqual(rows[never]["attempt"], 0, "it never started")
        for first, second in ((prepare, by_id), (prepare, by_name), (by_name, by_sign)):
            self.assertGreaterEqual(rows[second]["start_time"], rows[first]["end_time"])
        self.assertIn(f"job {by_name} ended as failed", product.jobctl_ok("status", str(never)))

    def test_what_there_is_not_cannot_be_waited_for(self):
        before = set(self.root.rows())
        for job in ("4000000000", "nobody"):
            refused = product.jobctl("submit", "-d", f"ok:{job}", "--", "true")
            self.assertEqual(refused.returncode, 4)
            self.assertIn(job, refused.stderr)
        self.assertEqual(set(self.root.rows()), before)


class Arrays(Scenario):
    test_seconds = 300

    def test_an_array_is_one_and_each_of_its_jobs_can_be_named(self):
        script = "echo $MLJOB_ARRAY_INDEX; sleep 1"
        array = product.submit("-J", "sweep", "--hold", "--array", "0-3%2", "--", "sh", "-c", script)
        after = product.submit("-d", "any:@", "--", "true")
        product.jobctl_ok("cancel", f"{array}_1")
        product.jobctl_ok("release", "sweep")
        self.assertEqual(product.jobctl("wait", str(array), timeout=120).returncode, CANCELLED, "of one of them")
        rows = self.wait_all_finished([*range(array, array + 4), after])
        last = rows.pop(after)
        self.assertEqual([row["array_index"] for _, row in sorted(rows.items())], list(range(4)))
        self.assert_result(rows.pop(array + 1), "cancelled", "user")
        for row in rows.values():
            self.assert_result(row, "done")
            self.assertEqual(product.jobctl_ok("logs", f"{array}_{row['array_index']}"), f"{row['array_index']}\n")
            others = [other for other in rows.values() if other["start_time"] <= row["start_time"] < other["end_time"]]
            self.assertLessEqual(len(others), 2, "at most two at once")
        self.assertGreaterEqual(last["start_time"], max(row["end_time"] for row in rows.values()))
        self.assertEqual(product.jobctl("wait", f"{array}_2").returncode, 0)
        self.check_pages(array)

    def check_pages(self, array):
        page = product.jobctl_ok("status", str(array))
        self.assertIn(f"Array {array} sweep (batch, of alice), 4 jobs: 1 cancelled, 3 done", page)
        self.assertIn(f"Job {array}_3 sweep", product.jobctl_ok("status", f"{array}_3"))
        self.assertRegex(product.jobctl_ok("list", "--all"), rf"(?m)^ *{array}_1 +sweep +batch +alice +CA ")
        refused = product.jobctl("logs", str(array))
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"{array}_0", refused.stderr)
        self.assertEqual(product.jobctl("cancel", f"{array}_4").returncode, 4)

    def test_a_whole_array_is_cancelled_by_its_id(self):
        array = product.submit("--array", "1,5,9%1", "--", *WITHOUT_END)
        self.wait_until(array, "running")
        product.jobctl_ok("hold", f"{array}_9")
        product.jobctl_ok("cancel", str(array))
        for row in self.wait_all_finished(range(array, array + 3)).values():
            self.assert_result(row, "cancelled", "user")


class Retries(Scenario):
    def test_what_failed_is_tried_again_with_more_memory_where_that_was_the_cause(self):
        failing = product.submit("--retries", "1", "--", "sh", "-c", '[ "$MLJOB_ATTEMPT" = 2 ]')
        hungry = ("python3", "-c", ALLOCATE, "100")
        growing = product.submit("--mem", "60M", "--retries", "1", "--retry-mem", "3x", "--", *hungry)
        bounded = product.submit("--mem", "60M", "--retries", "1", "--", *hungry)
        cancelled = product.submit("--retries", "5", "--", *WITHOUT_END)
        self.wait_until(cancelled, "running")
        product.jobctl_ok("cancel", str(cancelled))
        rows = self.wait_all_finished([failing, growing, bounded, cancelled])
        for job in (failing, growing):
            self.assert_result(rows[job], "done")
            self.assertEqual((rows[job]["attempt"], rows[job]["retries"]), (2, 1))
        self.assertAlmostEqual(rows[growing]["limits"]["memory"], 180 * MEBIBYTE, delta=4096)
        self.assert_result(rows[bounded], "oom", "own-limit")
        self.assert_result(rows[cancelled], "cancelled", "user")
        self.assertEqual([rows[job]["attempt"] for job in (bounded, cancelled)], [1, 1])


class Times(Scenario):
    def test_a_job_does_not_begin_before_its_time(self):
        earliest = time.time_ns() // 1000 + 4 * SECOND
        job = product.submit("--begin", "now+4s", "--", "true")
        self.assertIn("BeginTime", self.root.row(job)["reason"])
        self.assertGreaterEqual(self.wait_finished(job)["start_time"], earliest)

    def test_a_signal_before_the_time_limit_reaches_the_trap_of_a_script(self):
        script = "trap 'echo saved; exit 7' USR1; while :; do sleep 0.2; done"
        job = product.submit("-t", "60s", "--signal", "USR1@50", "--", "sh", "-c", script)
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=7)
        self.assertEqual(self.alice.log(job), b"saved\n")


class Once(Scenario):
    def test_singletons_of_one_name_run_one_after_the_other(self):
        options = ("--singleton", "-J", "alone", "--", "sleep", "1")
        jobs = [product.submit(*options) for _ in range(3)]
        rows = self.wait_all_finished(jobs)
        for first, second in zip(jobs, jobs[1:]):
            self.assertGreaterEqual(rows[second]["start_time"], rows[first]["end_time"])

    def test_a_key_gives_the_job_that_has_it(self):
        job = product.submit("--key", "tonight", "-J", "keyed", "--", "true")
        self.wait_finished(job)
        self.assertEqual(product.submit("--key", "tonight", "-J", "keyed", "--", "true"), job)
        self.assertEqual(product.jobctl("submit", "--key", "tonight", "--wait", "--", "true").returncode, 0)
        self.assertEqual(list(self.root.rows(name="keyed")), [job])

    def test_what_earlier_jobs_of_the_name_needed_is_claimed_and_called_learned(self):
        first = product.submit("-J", "learner", "--", "python3", "-c", ALLOCATE, "50")
        peak = self.wait_finished(first)["usage"]["memory_peak"]
        second = product.submit("-J", "learner", "--hold", "--", "true")
        self.assertAlmostEqual(self.root.row(second)["limits"]["memory_learned"], peak * 1.2, delta=4096)
        self.assertRegex(product.jobctl_ok("status", str(second)), r"(?m)^  memory +\S+ \(learned\)")


class Sequence(test_crash.Restarting):
    RECORD = Path("/var/tmp/mljobd-sequence")

    def test_trainings_run_one_after_another_across_the_death_of_the_daemon(self):
        self.configure(classes=[{"name": "train", "max_running": 1}])
        self.RECORD.write_text("", encoding="ascii")
        self.RECORD.chmod(0o666)
        self.addCleanup(self.RECORD.unlink)
        script = f"echo begin $1 >> {self.RECORD}; sleep 1; echo end $1 >> {self.RECORD}"
        jobs = [product.submit("-J", "training", "--class", "train", "--", "sh", "-c", script, "-", str(number))
                for number in range(5)]  # fmt: skip
        jobs.append(product.submit("-d", "ok:training", "--", "sh", "-c", script, "-", "5"))
        self.wait_until(jobs[1], "running")
        self.kill_daemon()
        self.wait_ready()
        for row in self.wait_all_finished(jobs).values():
            self.assert_result(row, "done")
            self.assertEqual(row["attempt"], 1)
        expected = [f"{step} {number}" for number in range(6) for step in ("begin", "end")]
        self.assertEqual(self.RECORD.read_text(encoding="ascii").splitlines(), expected)


class ManyUsers(Scenario):
    def test_a_long_queue_of_one_user_does_not_keep_another_waiting(self):
        self.configure(classes=[{"name": "train", "max_running": 1}])
        product.submit("--class", "train", "--array", "0-99", "--", "sleep", "1")
        job = product.submit("--class", "train", "--", "true", user=product.BOB)
        row = self.wait_finished(job)
        self.assert_result(row, "done")
        begun = [other["start_time"] for other in self.alice.rows(name="sleep").values()]
        between = [start for start in begun if row["submit_time"] < start <= row["start_time"]]
        self.assertLessEqual(len(between), 1, "one that was on its way already")
