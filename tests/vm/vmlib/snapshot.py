"""A booted machine's memory and disks, saved once per configuration and resumed many times.

The memory goes through QEMU's migration into a file beside the disks, not into the disk's
own snapshot table: so it stays read-only, and any number of machines resume from it at once.
"""

import os
import shutil
import subprocess
import time

from .host import locked, say
from .machine import Machine

WARM_UP_SECONDS = 300
SAVE_SECONDS = 120
# What nearly every test starts first is in the guest's page cache from then on.
WARM_UP = """
systemctl is-system-running --wait || true
python3 -c 'import unittest, json, dbus, sklearn.datasets, sklearn.linear_model, sklearn.model_selection'
dpkg --list >/dev/null
perl -e 'use Getopt::Long; use File::Temp; use POSIX;'
systemctl daemon-reload
sync
"""


class Snapshot:
    """The files of one saved machine."""

    def __init__(self, folder):
        self.folder = folder
        self.memory = folder / "memory"
        self.root = folder / "root.qcow2"
        self.swap = folder / "swap.qcow2"


def ensure_snapshot(image, configuration, accelerator):
    # Another version of QEMU may not understand what this one has saved.
    version = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True).stdout
    key = configuration.key(accelerator, version, WARM_UP)
    snapshot = Snapshot(image.snapshots / key)
    if not snapshot.folder.exists():
        with locked(image.snapshots / f"{key}.lock", "another boot of this configuration"):
            if not snapshot.folder.exists():
                make_snapshot(snapshot, configuration, key)
    return snapshot


def make_snapshot(snapshot, configuration, key):
    say("first start of this configuration: booting it once to make a snapshot")
    started = time.monotonic()
    building = snapshot.folder.with_suffix(".building")
    shutil.rmtree(building, ignore_errors=True)
    machine = Machine(f"snapshot-{key}", die_with_caller=True)
    try:
        machine.up(configuration, cold=True)
        remote = machine.remote()
        remote.output(WARM_UP, timeout=WARM_UP_SECONDS)
        remote.close()
        building.mkdir()
        with machine.monitor() as monitor:
            monitor.save_state(f"cat > '{building}/memory'", SAVE_SECONDS)
            monitor.execute("quit")
        machine.wait_for_end()
        for disk in machine.disks.iterdir():
            shutil.move(disk, building / disk.name)
        os.rename(building, snapshot.folder)
    finally:
        machine.down()
        shutil.rmtree(building, ignore_errors=True)
    say(f"snapshot made in {time.monotonic() - started:.0f} s")
