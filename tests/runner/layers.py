"""What each layer does."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

from .layer import LayerFailed

FULL_FUZZ_SECONDS = 200
PROCESSORS = len(os.sched_getaffinity(0))


def build(layer, preset, *definitions, target="all"):
    layer.require(f"configure {preset}", ["cmake", "--preset", preset, *definitions])
    command = ["cmake", "--build", "--preset", preset, "--target", target, "--parallel", PROCESSORS]
    layer.require(f"build {preset}", command)


def run_ctest(layer, options, preset, label, parallel=PROCESSORS):
    """Runs the tests of a label; prints those that fail, and counts by CTest's own report."""
    report = (layer.log_path.parent / f"{layer.name}.junit.xml").resolve()
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", f"build/{preset}", "--label-regex", f"^({label})$", "--output-on-failure"]
    command += ["--no-tests=ignore", "--parallel", parallel, "--output-junit", report]
    if options.filters:
        command += ["--tests-regex", "|".join(re.escape(text) for text in options.filters)]
    code = layer.run(command, show_failures, {"FULL": "1"} if options.full else None)
    passed, failed = count(report)
    layer.passed += passed
    # A failure that is in no test's account is one all the same.
    layer.failed += max(failed, int(code != 0))
    layer.failures += failed_cases(report)


def show_failures(line):
    """Every line but those of tests that pass."""
    if line.strip() and not re.search(r"^ +Start +\d+:|\bPassed\b|^Internal ctest|^Test project", line):
        print(f"  | {line}", flush=True)


def count(report):
    if not report.exists():
        return 0, 0
    suite = ElementTree.parse(report).getroot()
    tests = int(suite.get("tests", 0))
    failed = int(suite.get("failures", 0))
    left_out = int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    return tests - failed - left_out, failed


def failed_cases(report):
    if not report.exists():
        return []
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return [case.get("name", "?") for case in cases if case.get("status") == "fail"]


def unit(layer, options):
    build(layer, "dev")
    run_ctest(layer, options, "dev", "unit")


def bus(layer, options):
    build(layer, "dev")
    run_ctest(layer, options, "dev", "bus")


def sanitizers(layer, options):
    build(layer, "asan-ubsan")
    run_ctest(layer, options, "asan-ubsan", "unit|bus")


def fuzz(layer, options):
    definitions = [f"-DMLJOBD_FUZZ_SECONDS={FULL_FUZZ_SECONDS}"] if options.full else ["-UMLJOBD_FUZZ_SECONDS"]
    build(layer, "fuzz", *definitions, target="fuzzers")
    run_ctest(layer, options, "fuzz", "fuzz")


def system(layer, options):
    packages = Path("build/packages")
    layer.require("build the packages", ["packaging/build-deb", packages])
    build(layer, "dev", target="mljob-load")
    command = ["tests/system/run", "--packages", packages, "--programs", "build/dev/tests/bench"]
    command += ["--output", "build/test-output/system"]
    command += ["--full"] if options.full else []
    for text in options.filters:
        command += ["-k", text]
    counted = []

    def show(line):
        print(f"  {line}", flush=True)
        failure = re.fullmatch(r"not ok (\S+) \(.*\)", line)
        if failure:
            layer.failures.append(failure[1])
        match = re.fullmatch(r"(\d+) passed, (\d+) failed", line)
        if match:
            counted.append((int(match[1]), int(match[2])))

    code = layer.run(command, show)
    if not counted:
        raise LayerFailed(f"tests/system/run ended with {code}")
    layer.passed, layer.failed = counted[-1]
