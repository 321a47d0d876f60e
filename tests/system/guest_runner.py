"""Runs test modules inside the machine and prints a line for each test as it ends.

A supervisor stays small and out of the OOM killer's sight; a child runs the tests. When the
child dies or hangs in a call that nothing interrupts, only the test it was in is lost: the
supervisor reports it and starts another child for the rest.
"""

import argparse
import os
import select
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

DEFAULT_TEST_SECONDS = 120
# Between the interruption of a test, which still runs its clean-up, and the end of its process.
GRACE_SECONDS = 90
# Children that die before they reach a test would otherwise be started for ever.
FRUITLESS_STARTS = 2
MARK = "\x01"
RUNNING = "# running "


class TestTimeout(BaseException):
    """Not an Exception, so that no `except Exception` in a test swallows it; unittest records it as an error."""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--done", required=True, help="file with the tests that have a result already")
    parser.add_argument("--phase", default="", help="run only classes with this `phase`")
    parser.add_argument("-k", dest="filters", action="append", default=[])
    parser.add_argument("--child", action="store_true")
    parser.add_argument("modules", nargs="+")
    return parser.parse_args()


# The child


class LiveResult(unittest.TestResult):
    """Tells the supervisor what begins and how it ended."""

    def __init__(self):
        super().__init__()
        self.started = 0.0
        self.problem = ""
        self.skip_reason = ""

    def startTest(self, test):  # pylint: disable=invalid-name
        super().startTest(test)
        self.started = time.monotonic()
        self.problem = self.skip_reason = ""
        seconds = test_seconds(test)
        tell(f"start {seconds} {test.id()}")
        signal.signal(signal.SIGALRM, lambda *_: raise_timeout(seconds))
        signal.alarm(seconds)

    def stopTest(self, test):  # pylint: disable=invalid-name
        signal.alarm(0)
        seconds = time.monotonic() - self.started
        if self.problem:
            tell(f"end not ok {test.id()} ({seconds:.1f} s)\n{indented(self.problem)}")
        elif self.skip_reason:
            tell(f"end skipped {test.id()}: {self.skip_reason}")
        else:
            tell(f"end ok {test.id()} ({seconds:.1f} s)")
        super().stopTest(test)

    def addError(self, test, err):  # pylint: disable=invalid-name
        super().addError(test, err)
        self.note(test, self._exc_info_to_string(err, test))

    def addFailure(self, test, err):  # pylint: disable=invalid-name
        super().addFailure(test, err)
        self.note(test, self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):  # pylint: disable=invalid-name
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, f"{subtest}\n{self._exc_info_to_string(err, test)}")

    def addSkip(self, test, reason):  # pylint: disable=invalid-name
        super().addSkip(test, reason)
        self.skip_reason = reason

    def addUnexpectedSuccess(self, test):  # pylint: disable=invalid-name
        super().addUnexpectedSuccess(test)
        self.note(test, "it was expected to fail and did not")

    def note(self, test, text):
        if isinstance(test, unittest.TestCase):
            self.problem += text
            return
        # setUpClass or setUpModule: there is no test that would start and stop.
        tell(f"start {DEFAULT_TEST_SECONDS} {test}")
        tell(f"end not ok {test}\n{indented(text)}")


def raise_timeout(seconds):
    # The clean-up of the test gets the same time again.
    signal.alarm(seconds)
    raise TestTimeout(f"not done within {seconds} s")


def test_seconds(test):
    return getattr(test, "test_seconds", DEFAULT_TEST_SECONDS)


def indented(text):
    return "\n".join(f"  | {line}" for line in text.rstrip().splitlines())


def tell(text):
    print(f"{MARK}{text}{MARK}", flush=True)


def run_child(options):
    # Raising is always allowed: the tests shall not inherit the supervisor's protection.
    Path("/proc/self/oom_score_adj").write_text("0", encoding="ascii")
    sys.path.insert(0, str(Path(__file__).parent))
    done = set(Path(options.done).read_text(encoding="utf-8").splitlines())
    loader = unittest.TestLoader()
    loader.testNamePatterns = [name if "*" in name else f"*{name}*" for name in options.filters] or None
    suite = loader.loadTestsFromNames(options.modules)
    wanted = [test for test in flattened(suite) if test.id() not in done and belongs(test, options.phase)]
    unittest.TestSuite(wanted).run(LiveResult())
    tell("finished")


def belongs(test, phase):
    """A class without a phase belongs to the first one of its module; a module that did not load to any."""
    module = sys.modules[type(test).__module__]
    phases = getattr(module, "PHASES", [""])
    return module is unittest.loader or getattr(test, "phase", phases[0]) == phase


def flattened(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flattened(test)
        else:
            yield test


# The supervisor


class Supervisor:
    """Starts children until every test has a result."""

    def __init__(self, options):
        self.options = options
        self.done = Path(options.done)
        self.done.touch()
        self.current = ""
        self.deadline = 0.0
        self.finished = False

    def run(self):
        Path("/proc/self/oom_score_adj").write_text("-900", encoding="ascii")
        fruitless = 0
        while not self.finished and fruitless < FRUITLESS_STARTS:
            before = self.done.stat().st_size
            self.run_one_child()
            fruitless = fruitless + 1 if self.done.stat().st_size == before else 0
        return 0 if self.finished else 1

    def run_one_child(self):
        # Time for the imports, until the first test begins.
        self.current = ""
        self.deadline = time.monotonic() + DEFAULT_TEST_SECONDS
        command = [sys.executable, "-u", __file__, "--child", *sys.argv[1:]]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        ) as child:
            hung = not self.follow(child)
            if hung:
                os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
        if self.finished:
            return
        what = "did not end even when interrupted" if hung else f"its process ended with {code}"
        self.report(f"not ok {self.current or ' '.join(self.options.modules)}: {what}")

    def follow(self, child):
        """Passes on what the child tells; false when a test hangs."""
        buffered = b""
        while True:
            readable, _, _ = select.select([child.stdout], [], [], max(0, self.deadline - time.monotonic()))
            if not readable:
                return False
            data = os.read(child.stdout.fileno(), 65536)
            if not data:
                return True
            *parts, buffered = (buffered + data).split(MARK.encode())
            for part in parts:
                self.hear(part.decode(errors="replace"))

    def hear(self, text):
        verb, _, rest = text.partition(" ")
        if verb == "start":
            seconds, _, self.current = rest.partition(" ")
            # If the whole machine dies, its driver knows in which test.
            print(f"{RUNNING}{self.current}", flush=True)
            # Once for the test, once for its clean-up.
            self.deadline = time.monotonic() + 2 * int(seconds) + GRACE_SECONDS
        elif verb == "end":
            self.report(rest)
        elif text == "finished":
            self.finished = True
        elif text.strip():
            # What a test printed.
            print(indented(text), flush=True)

    def report(self, line):
        print(line, flush=True)
        if self.current:
            with open(self.done, "a", encoding="utf-8") as done:
                done.write(self.current + "\n")
        self.current = ""
        self.deadline = time.monotonic() + DEFAULT_TEST_SECONDS


def main():
    options = parse_arguments()
    if options.child:
        run_child(options)
        return 0
    return Supervisor(options).run()


if __name__ == "__main__":
    sys.exit(main())
