"""What a job prints is kept as it was printed, can be followed, and cannot fill the disk."""

import hashlib
import os
import time

import product
from product import ALICE, MEBIBYTE
from scenario import FULL, Scenario

LARGE = (100 if FULL else 20) * MEBIBYTE
SHORT_JOBS = 100 if FULL else 30
LINE = b"epoch 0042 loss 0.123456789\n"


class Output(Scenario):
    test_seconds = 900 if FULL else 300

    def test_a_large_output_is_complete(self):
        job = self.alice.submit("sh", "-c", f"yes '{LINE.decode().strip()}' | head -c {LARGE}")
        self.assert_result(self.wait_finished(job, 600), "done")
        reader = product.start(["jobctl", "logs", str(job)], user=ALICE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        digest, size = hashlib.sha256(), 0
        while chunk := reader.stdout.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
        expected = (LINE * (LARGE // len(LINE) + 1))[:LARGE]
        self.assertEqual(size, LARGE)
        self.assertEqual(digest.hexdigest(), hashlib.sha256(expected).hexdigest())
        self.assertEqual(reader.wait(), 0)

    def test_the_last_line_of_a_job_that_ends_at_once_is_never_missing(self):
        jobs = [self.alice.submit("sh", "-c", 'echo "last line of $MLJOB_ID"') for _ in range(SHORT_JOBS)]
        self.wait_all_finished(jobs, 240)
        for job in jobs:
            self.assertEqual(self.alice.log(job), f"last line of {job}\n".encode())

    def test_both_streams_and_bytes_that_are_no_text_are_kept(self):
        job = self.alice.submit("sh", "-c", r"printf 'a\000b\377'; printf ' error' >&2")
        self.wait_finished(job)
        self.assertEqual(self.alice.log(job), b"a\0b\xff error")

    def test_the_last_lines_alone(self):
        job = self.alice.submit("seq", "1", "1000")
        self.wait_finished(job)
        self.assertEqual(product.jobctl_ok("logs", "-n", "3", str(job)), "998\n999\n1000\n")

    def test_a_second_attempt_has_a_log_of_its_own(self):
        job = self.alice.submit("sh", "-c", 'echo "attempt $MLJOB_ATTEMPT"')
        self.wait_finished(job)
        self.assertEqual(self.alice.many("Requeue", job)[job]["error"], "")
        product.eventually(lambda: self.root.row(job)["attempt"] == 2, 30, "the second attempt begins")
        self.wait_finished(job)
        self.assertEqual(self.alice.log(job), b"attempt 2\n")


class Following(Scenario):
    def follow(self, job):
        reader = product.start(["jobctl", "logs", "-f", str(job)], user=ALICE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        os.set_blocking(reader.stdout.fileno(), False)
        return reader

    def read_until(self, reader, marker, seconds=30):
        """Everything up to the marker; what came with it is kept for the next call."""
        deadline = time.monotonic() + seconds
        while marker not in self.seen:
            self.assertLess(time.monotonic(), deadline, f"{marker} did not come; so far {self.seen}")
            self.seen += reader.stdout.read() or b""
            time.sleep(0.05)
        at = self.seen.index(marker) + len(marker)
        text, self.seen = self.seen[:at], self.seen[at:]
        return text

    def setUp(self):
        super().setUp()
        self.seen = b""

    def test_a_progress_bar_moves_while_it_is_followed(self):
        bar = r'for n in 1 2 3 4; do printf "\repoch %d/4" $n; sleep 2; done; echo; exit 3'
        job = self.alice.submit("sh", "-c", bar)
        reader = self.follow(job)
        for step in (1, 2, 3):
            self.read_until(reader, b"\repoch %d/4" % step)
            self.assertEqual(self.root.row(job)["state"], "running", "the bar was seen while the job ran")
        self.read_until(reader, b"\repoch 4/4\n")
        self.assertEqual(reader.wait(timeout=30), 0, "following ends with the job")
        self.assertEqual(self.seen, b"")

    def test_following_from_before_the_start_misses_nothing(self):
        job = self.alice.submit("sh", "-c", "echo first; sleep 1; echo last", hold=True)
        reader = self.follow(job)
        time.sleep(1)
        self.assertIsNone(reader.poll(), "a waiting job is waited for")
        self.alice.many("Release", job)
        self.assertEqual(self.read_until(reader, b"last\n"), b"first\nlast\n")
        self.assertEqual(reader.wait(timeout=30), 0)


class RunawayWriter(Scenario):
    LIMIT = 8 * MEBIBYTE

    def test_a_runaway_writer_stays_within_its_bound_and_the_reader_is_told(self):
        self.configure(log_limit=f"{self.LIMIT // MEBIBYTE}M")
        rounds, size = 12, 4 * MEBIBYTE
        script = f'echo first; for n in $(seq {rounds}); do head -c {size} /dev/zero | tr "\\0" x; sleep 0.5; done; echo; echo last'
        job = self.alice.submit("sh", "-c", script)
        log = f"/var/log/mljobd/{job}-1.log"
        most = 0
        while self.root.row(job)["state"] != "finished":
            if os.path.exists(log):
                most = max(most, os.stat(log).st_blocks * 512)
            time.sleep(0.2)
        written = os.stat(log).st_size
        self.assertGreater(written, rounds * size)
        # Between two looks of the daemon a writer gets further; it is bounded again at the next.
        self.assertLess(most, self.LIMIT + 6 * size)
        self.assertLessEqual(os.stat(log).st_blocks * 512, self.LIMIT + MEBIBYTE)
        done = product.jobctl("logs", str(job), timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("first\n"))
        self.assertTrue(done.stdout.endswith("x\nlast\n"))
        self.assertNotIn("\0", done.stdout)
        gone = written - len(done.stdout.encode())
        self.assertGreater(gone, 20 * MEBIBYTE)
        self.assertRegex(done.stderr + done.stdout, r"[0-9.]+M\b.*", "the reader is told how much is gone")
