"""What the proving ground needs from the machine it runs on: folders, locks and programs."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE_OF_COMMAND = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "mke2fs": "e2fsprogs",
}


class VmError(Exception):
    """A failure that is explained to the user in words, without a traceback."""


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def cache_folder():
    """Images, snapshots and disks: large, and worth keeping from one run to the next."""
    configured = os.environ.get("MLJOBD_VM_CACHE")
    if configured:
        folder = Path(configured)
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "mljobd-vm"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_folder():
    """Sockets and process ids: short paths, because a unix socket's path may have 107 bytes."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"mljobd-vm-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # /tmp is everybody's: a folder that somebody else put there first must not be used.
    if folder.stat().st_uid != os.getuid():
        raise VmError(f"{folder} belongs to another user")
    return folder


@contextlib.contextmanager
def locked(path, waiting_for=None):
    """Holds an exclusive lock on the file; the kernel releases it when the process dies."""
    with open(path, "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting_for:
                say(f"waiting for {waiting_for}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_installed(command):
    path = shutil.which(command, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if command != "busybox":
        return path is not None
    # Only the static build runs in an initramfs without libraries.
    return path is not None and is_static(path)


def is_static(path):
    return b"ld-linux" not in Path(path).read_bytes()[:4096]


def install_packages(packages):
    """Installs the missing packages; says clearly what to do where that is not possible."""
    if os.geteuid() != 0:
        raise VmError("missing packages, install them as root: apt-get install " + " ".join(packages))
    say("installing " + " ".join(packages))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages],
    ):
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise VmError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def ensure_programs():
    missing = sorted({package for command, package in PACKAGE_OF_COMMAND.items() if not is_installed(command)})
    if missing:
        with locked(run_folder() / "packages.lock", "another package installation"):
            install_packages(missing)
