"""Measures the daemon inside a machine, beside what it can be compared with, and prints tables.

What is compared runs in turns, so that a change of the machine's speed meets all alike: the
ratios are what counts.
"""

import argparse
import contextlib
import subprocess
import time
from pathlib import Path

ROUNDS = 4
IDLE_SECONDS = 30
SLEEPERS = 100
SLEEPER_SECONDS = 20
MEBIBYTE = 1 << 20
USER_HERTZ = 100


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=900).stdout


# Rates


def one_by_one(command, jobs):
    started = time.monotonic()
    for _ in range(jobs):
        run(*command)
    return time.monotonic() - started


def bench_program(what, jobs):
    return float(run("mljob-rate", what, str(jobs)))


VARIANTS = {
    "systemd-run --wait": lambda jobs: one_by_one(["systemd-run", "--wait", "--quiet", "true"], jobs),
    "jobctl submit --wait": lambda jobs: one_by_one(["jobctl", "submit", "--wait", "-q", "--", "true"], jobs),
    "floor: bare slice + service": lambda jobs: bench_program("floor", jobs),
    "all at once": lambda jobs: bench_program("burst", jobs),
}
PAIRS = (
    ("jobctl submit --wait", "systemd-run --wait", 1.0),
    ("all at once", "floor: bare slice + service", 0.8),
)


def measure_rates(jobs):
    per_round = max(1, jobs // ROUNDS)
    seconds = dict.fromkeys(VARIANTS, 0.0)
    for number in range(ROUNDS):
        names = list(VARIANTS)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            seconds[name] += VARIANTS[name](per_round)
    rates = {name: per_round * ROUNDS / taken for name, taken in seconds.items()}
    print(f"{'':<30}{'jobs':>6}{'seconds':>10}{'jobs/s':>9}")
    for name, taken in seconds.items():
        print(f"{name:<30}{per_round * ROUNDS:>6}{taken:>10.1f}{rates[name]:>9.2f}")
    for name, beside, wanted in PAIRS:
        print(f"{name} / {beside}: {rates[name] / rates[beside]:.2f} (wanted: {wanted:.1f})")


# Cost


def daemon_pid():
    return int(run("systemctl", "show", "--value", "--property=MainPID", "mljobd.service"))


def cost_of(pid):
    """CPU ticks, wake-ups and resident bytes of a process."""
    status = {}
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition(":")
        status[key] = value.split()
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    resident = int(status["VmRSS"][0]) * 1024
    return int(fields[11]) + int(fields[12]), int(status["voluntary_ctxt_switches"][0]), resident


def difference(pid, seconds):
    before = cost_of(pid)
    time.sleep(seconds)
    after = cost_of(pid)
    return after[0] - before[0], after[1] - before[1], after[2]


def measure_cost():
    run("systemctl", "restart", "mljobd.service")
    pid = daemon_pid()
    time.sleep(2)
    ticks, wake_ups, idle_resident = difference(pid, IDLE_SECONDS)
    print(
        f"idle for {IDLE_SECONDS} s: {ticks} ticks of CPU, {wake_ups} wake-ups, "
        f"{idle_resident / MEBIBYTE:.1f} MiB resident (wanted: 0, 2, 12)"
    )
    with sleepers():
        ticks, wake_ups, resident = difference(pid, SLEEPER_SECONDS)
    each = (resident - idle_resident) / SLEEPERS / 1024
    cpu = ticks / USER_HERTZ / SLEEPER_SECONDS / SLEEPERS * 1e6
    print(
        f"{SLEEPERS} sleepers: {each:.1f} KiB resident per job, {cpu:.0f} us of CPU per job and second, "
        f"{wake_ups / SLEEPER_SECONDS:.1f} wake-ups per second in all"
    )


@contextlib.contextmanager
def sleepers():
    ids = [run("jobctl", "submit", "-q", "-J", "sleeper", "--", "sleep", "10000").strip() for _ in range(SLEEPERS)]
    run("jobctl", "wait", "--for", "running", *ids)
    time.sleep(2)
    try:
        yield
    finally:
        run("jobctl", "cancel", *ids)
        subprocess.run(["jobctl", "wait", *ids], check=False, capture_output=True, timeout=900)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200, help="of each kind, for the rates")
    parser.add_argument("what", nargs="*", choices=["rates", "cost", []], help="both, if none is named")
    options = parser.parse_args()
    if not options.what or "cost" in options.what:
        measure_cost()
    if not options.what or "rates" in options.what:
        measure_rates(options.jobs)


if __name__ == "__main__":
    main()
