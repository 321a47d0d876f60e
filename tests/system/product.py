"""The product as its users meet it: jobctl, the D-Bus interface, the cgroups and the units of jobs."""

import contextlib
import json
import os
import pwd
import subprocess
import time
from pathlib import Path

import dbus
import dbus.bus

BUS_NAME = "org.mljobd1"
MANAGER_PATH = "/org/mljobd1"
MANAGER = "org.mljobd1.Manager"
JOB = "org.mljobd1.Job"
ERROR = "org.mljobd1.Error."
SYSTEM_BUS = "unix:path=/run/dbus/system_bus_socket"
CGROUPS = Path("/sys/fs/cgroup")
CONFIGURATION = Path("/etc/mljobd/conf.d/90-scenario.json")

ROOT, ALICE, BOB = 0, 1001, 1002
MEBIBYTE = 1 << 20
SECOND = 1_000_000

# The types of the specification's keys, for a client library that would have to guess them.
SPEC_TYPES = {
    "name": dbus.String,
    "class": dbus.String,
    "command": lambda words: dbus.Array(words, signature="s"),
    "workdir": dbus.String,
    "environment": lambda entries: dbus.Array(entries, signature="s"),
    "cpus": dbus.UInt32,
    "cpu_quota_percent": dbus.UInt32,
    "cpu_list": dbus.String,
    "oom_score_adjust": dbus.Int32,
    "oom_policy": dbus.String,
    "priority": dbus.Int32,
    "hold": dbus.Boolean,
    "requeue": dbus.Boolean,
    "parkable": dbus.Boolean,
    "checkpoint_signal": lambda signal: dbus.Struct(signal, signature="it"),
    "output": dbus.String,
    "error": dbus.String,
    "comment": dbus.String,
    "labels": lambda labels: dbus.Dictionary(labels, signature="ss"),
}


# Commands


def run(arguments, user=ROOT, timeout=60, environment=None, **options):
    """Runs a command as a user, without a shell; what it printed is in the answer, as text."""
    options.setdefault("cwd", "/")
    return subprocess.run(
        arguments,
        **identity(user),
        env=environment_of(user) | (environment or {}),
        stdin=options.pop("stdin", subprocess.DEVNULL),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
        **options,
    )


def start(arguments, user=ROOT, **options):
    """The same, without waiting for its end."""
    options.setdefault("cwd", "/")
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen(arguments, **identity(user), env=environment_of(user), **options)


def identity(user):
    return {} if user == ROOT else {"user": user, "group": user, "extra_groups": [user]}


def environment_of(user):
    account = pwd.getpwuid(user)
    return {
        "HOME": account.pw_dir,
        "USER": account.pw_name,
        "LOGNAME": account.pw_name,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    }


class CommandFailed(AssertionError):
    """A command of the user's did not do what it was told to."""


def checked(arguments, **options):
    done = run(arguments, **options)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def jobctl(*arguments, user=ALICE, **options):
    return run(["jobctl", *arguments], user=user, **options)


def jobctl_ok(*arguments, user=ALICE, **options):
    """What jobctl printed; a failure fails the scenario with jobctl's own words."""
    return checked(["jobctl", *arguments], user=user, **options)


def jobctl_json(*arguments, user=ALICE, **options):
    return json.loads(jobctl_ok(*arguments, "--json", user=user, **options))


def submit(*arguments, user=ALICE, **options):
    """`jobctl submit` with the given options and command; returns the job's id."""
    return int(jobctl_ok("submit", "-q", *arguments, user=user, **options))


# D-Bus


def plain(value):
    """dbus-python's types as Python's own."""
    if isinstance(value, dbus.Boolean):
        return bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, dict):
        return {plain(key): plain(content) for key, content in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(content) for content in value]
    return value


def typed_spec(**keys):
    """A specification in the contract's types; `class_` stands for the word that Python keeps for itself."""
    keys = {"workdir": "/tmp"} | {key.rstrip("_"): value for key, value in keys.items() if value is not None}
    content = {key: SPEC_TYPES.get(key, dbus.UInt64)(value) for key, value in keys.items()}
    return dbus.Dictionary(content, signature="sv")


def no_options():
    return dbus.Dictionary({}, signature="sv")


@contextlib.contextmanager
def acting_as(user):
    """The kernel tells the bus who connects: it looks at the effective user at that moment."""
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(ROOT)


class Client:
    """One connection to the daemon, of one user."""

    def __init__(self, user=ALICE, address=SYSTEM_BUS):
        with acting_as(user):
            self.connection = dbus.bus.BusConnection(address)

    def close(self):
        self.connection.close()

    def call(self, path, interface, method, signature, *arguments, timeout=60):
        return self.connection.call_blocking(
            BUS_NAME, path, interface, method, signature, arguments, timeout=timeout, byte_arrays=True
        )

    def manager(self, method, signature="", *arguments, **options):
        return plain(self.call(MANAGER_PATH, MANAGER, method, signature, *arguments, **options))

    def job(self, job, method, signature=None, *arguments, **options):
        """A method of a job; without a signature one that takes nothing but options."""
        if signature is None:
            signature, arguments = "a{sv}", [no_options()]
        return plain(self.call(job_path(job), JOB, method, signature, *arguments, **options))

    def submit(self, *command, **keys):
        return self.manager("Submit", "a{sv}a{sv}", typed_spec(command=list(command), **keys), no_options())[0]

    def rows(self, ids=None, **keys):
        """ListJobs, as a dictionary by id."""
        conditions = dict(keys)
        if ids is not None:
            conditions["ids"] = dbus.Array(list(ids), signature="u")
        conditions.setdefault("limit", dbus.UInt32(10000))
        rows = self.manager("ListJobs", "a{sv}", dbus.Dictionary(conditions, signature="sv"))
        return {row["id"]: row for row in rows}

    def row(self, job):
        return self.rows([job])[job]

    def properties(self, path=MANAGER_PATH, interface=MANAGER):
        return plain(self.call(path, dbus.PROPERTIES_IFACE, "GetAll", "s", interface))

    def job_properties(self, job):
        return self.properties(job_path(job), JOB)

    def many(self, method, *ids):
        """Cancel, Hold, Release or Requeue; returns the outcomes by id."""
        outcomes = self.manager(method, "aua{sv}", dbus.Array(ids, signature="u"), no_options())
        return {outcome["id"]: outcome for outcome in outcomes}

    def log(self, job):
        """The whole output of a job as OpenLog gives it."""
        # A job of the history has an object once somebody asks for it.
        path = self.manager("GetJob", "u", job)
        descriptor = self.call(path, JOB, "OpenLog", "a{sv}", no_options()).take()
        with open(descriptor, "rb") as log:
            return log.read()


def job_path(job):
    return f"{MANAGER_PATH}/job/{job}"


# systemd and the kernel


def unit_property(unit, name):
    return checked(["systemctl", "show", "--value", f"--property={name}", unit]).strip()


def daemon_pid():
    """The daemon's main process; 0 while it is down."""
    return int(unit_property("mljobd.service", "MainPID"))


def slice_folder(row):
    return CGROUPS / "mljob.slice" / f"mljob-{row['class']}.slice" / row["slice"]


def class_folder(name):
    return CGROUPS / "mljob.slice" / f"mljob-{name}.slice"


def keyed(path):
    """A file of `key value` lines: cpu.stat, memory.events, /proc/PID/status."""
    content = {}
    for line in Path(path).read_text(encoding="ascii").splitlines():
        key, *values = line.split()
        value = values[0] if values else ""
        content[key.rstrip(":")] = int(value) if value.isdecimal() else value
    return content


def processes_below(folder):
    """The ids of all processes in a cgroup and those below it."""
    pids = []
    for processes in [*Path(folder).glob("cgroup.procs"), *Path(folder).glob("**/*/cgroup.procs")]:
        with contextlib.suppress(OSError):
            pids += [int(line) for line in processes.read_text(encoding="ascii").split()]
    return pids


def processes_named(marker):
    """The ids of the processes that have this text among their arguments; zombies have none."""
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                if marker.encode() in (folder / "cmdline").read_bytes():
                    pids.append(int(folder.name))
    return pids


def cgroup_of(pid):
    return Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii").strip().removeprefix("0::")


def units(pattern):
    listed = checked(["systemctl", "list-units", "--all", "--plain", "--no-legend", pattern])
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def journal(*matches, lines=40):
    return run(["journalctl", "--no-pager", "-o", "short-precise", "-n", str(lines), *matches]).stdout


# Waiting


def eventually(condition, seconds, what):
    """The first true answer of the condition, which must come within the time."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)


def always(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not condition():
            raise AssertionError(what)
        time.sleep(0.1)
