"""Measures the daemon inside a machine, beside what it can be compared with, and prints tables.

What is compared runs in turns, so that a change of the machine's speed meets all alike: the
ratios are what counts.
"""

import argparse
import contextlib
import json
import subprocess
import time
from pathlib import Path

ROUNDS = 4
IDLE_SECONDS = 30
SLEEPERS = 100
SLEEPER_SECONDS = 20
MEBIBYTE = 1 << 20
USER_HERTZ = 100

TRAININGS = 2
CORES_EACH = 2
# What a program takes that believes the machine to be its own.
CARELESS_THREADS = 8
# Iterations of all threads of a training together, between two meetings: about a millisecond on a core of today.
STEP_WORK = 600_000
# A thread spins so long for the others before it sleeps. GCC's OpenMP goes round 300,000 times (GOMP_SPINCOUNT), which
# takes this long and longer; LLVM's spins for 200 ms (KMP_BLOCKTIME).
SPIN_MICROSECONDS = 1000
CALIBRATION_SECONDS = 5
TRAINING_SECONDS = 10
PINNING_ROUNDS = 3


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


# Pinning


def train_together(threads, amount, *options):
    """Trainings side by side; how many steps a second all of them did together until the last had ended."""
    command = ["mljob-load", "--threads", str(threads), "--work", str(STEP_WORK // threads)]
    command += ["--spin-us", str(SPIN_MICROSECONDS), *amount]
    submit = ["jobctl", "submit", "-q", "-J", "training", *options, "--", *command]
    ids = [run(*submit).strip() for _ in range(TRAININGS)]
    run("jobctl", "wait", *ids)
    ended = [json.loads(run("jobctl", "logs", job)) for job in ids]
    return sum(job["steps"] for job in ended) / max(job["seconds"] for job in ended)


def train_pinned(*amount):
    return train_together(CORES_EACH, amount, "--cpus", str(CORES_EACH))


def train_carelessly(*amount):
    return train_together(CARELESS_THREADS, amount)


def measure_pinning():
    resources = json.loads(run("jobctl", "status", "--json"))["machine"]["resources"]
    needed = TRAININGS * CORES_EACH
    if resources["cores_free"] < needed:
        print(
            f"pinning: not measured, because {needed} cores are needed for jobs and this machine has "
            f"{resources['cores_free']} free: tests/bench/run --cpus {needed + 1}"
        )
        return
    # The same work for both, as much as the pinned ones do in a while.
    steps = max(1, int(train_pinned("--seconds", str(CALIBRATION_SECONDS)) / TRAININGS * TRAINING_SECONDS))
    variants = {
        f"{CORES_EACH} threads on {CORES_EACH} cores of its own": train_pinned,
        f"{CARELESS_THREADS} threads on all {resources['logical_cpus']} CPUs": train_carelessly,
    }
    seconds = dict.fromkeys(variants, 0.0)
    for number in range(PINNING_ROUNDS):
        names = list(variants)
        for name in names if number % 2 == 0 else reversed(names):
            seconds[name] += TRAININGS * steps / variants[name]("--steps", str(steps))
    print(f"{f'{TRAININGS} trainings, each with':<36}{'steps':>8}{'seconds':>10}{'steps/s':>10}")
    done = TRAININGS * steps * PINNING_ROUNDS
    for name, taken in seconds.items():
        print(f"{name:<36}{done:>8}{taken:>10.1f}{done / taken:>10.1f}")
    pinned, careless = seconds.values()
    print(f"throughput pinned / unpinned: {careless / pinned:.2f} (wanted: above 1.0)")


SECTIONS = {
    "cost": lambda options: measure_cost(),
    "rates": lambda options: measure_rates(options.jobs),
    "pinning": lambda options: measure_pinning(),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200, help="of each kind, for the rates")
    parser.add_argument("what", nargs="*", choices=[*SECTIONS, []], help="all, if none is named")
    options = parser.parse_args()
    for name, measure in SECTIONS.items():
        if not options.what or name in options.what:
            measure(options)


if __name__ == "__main__":
    main()
