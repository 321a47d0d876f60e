"""One layer of the tests while it runs: its counts, its log and its processes."""

import os
import signal
import subprocess
import time

# The system layer shuts its machines down when it is told to end.
ENDING_SECONDS = 30
TAIL_LINES = 60
PROGRESS_SECONDS = 20


class LayerFailed(Exception):
    """The layer could not even run its tests."""


class Layer:
    """Counts what passed and failed. Everything its commands print is in its log."""

    def __init__(self, name, log_path):
        self.name = name
        self.log_path = log_path
        self.passed = 0
        self.failed = 0
        self.failures = []  # what failed, for the end of a long output
        self.started = time.monotonic()
        self.seconds = 0.0
        self.log = open(log_path, "w", encoding="utf-8")  # pylint: disable=consider-using-with

    def finish(self):
        self.seconds = time.monotonic() - self.started
        self.log.close()

    def say(self, text):
        print(f"[{self.name}] {text}", flush=True)
        self.log.write(text + "\n")

    def check(self, what, succeeded):
        """Counts one check that is no test of a test program."""
        self.passed += succeeded
        self.failed += not succeeded
        if not succeeded:
            self.failures.append(what)
        self.say(f"{'ok' if succeeded else 'not ok'} {what}")

    def require(self, what, command, **options):
        """Runs a step without which the layer has no tests to run."""
        started = shown = time.monotonic()
        lines = []

        def heard(line):
            nonlocal shown
            lines.append(line)
            # A sign of life; the whole of a build's output is for the log.
            if time.monotonic() - shown > PROGRESS_SECONDS:
                shown = time.monotonic()
                print(f"  {line[:120]}", flush=True)

        code = self.run(command, heard, **options)
        if code != 0:
            for line in lines[-TAIL_LINES:]:
                print(f"  | {line}", flush=True)
            raise LayerFailed(f"{what} failed")
        self.say(f"{what} ({time.monotonic() - started:.0f} s)")

    def run(self, command, on_line, environment=None):
        """Runs a command, logs its output, passes on every line, and returns its exit code."""
        self.log.write(f"$ {' '.join(map(str, command))}\n")
        # A group of its own, so that an interruption reaches it once, from here, and all of it.
        with subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=dict(os.environ, **(environment or {})),
            start_new_session=True,
        ) as process:
            try:
                for line in process.stdout:
                    self.log.write(line)
                    self.log.flush()
                    on_line(line.rstrip("\n"))
            except BaseException:
                end_group(process)
                raise
            return process.wait()


def end_group(process):
    """Ends a command with everything below it, giving it time to clean up."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
