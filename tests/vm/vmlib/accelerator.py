"""Chooses between KVM and emulation by trying, because /dev/kvm may exist and not work."""

import json
import os
import subprocess
from pathlib import Path

from .host import VmError, cache_folder, locked, say

PROBE_SECONDS = 5
# Printed by the initramfs: the guest's kernel came up and ran a program.
INITRAMFS_GREETING = "mljobd-vm initramfs"


def choose_accelerator(image):
    """Returns "kvm" or "tcg". The probe runs once per boot of the host."""
    forced = os.environ.get("MLJOBD_VM_ACCELERATOR")
    if forced:
        if forced not in ("kvm", "tcg"):
            raise VmError("MLJOBD_VM_ACCELERATOR must be kvm or tcg")
        return forced
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    verdict_file = cache_folder() / "accelerator.json"
    with locked(cache_folder() / "accelerator.lock", "another KVM probe"):
        if verdict_file.exists():
            verdict = json.loads(verdict_file.read_text(encoding="ascii"))
            if verdict["boot_id"] == boot_id:
                return verdict["accelerator"]
        accelerator = "kvm" if kvm_boots(image) else "tcg"
        say(f"KVM probe: using {accelerator}")
        verdict_file.write_text(
            json.dumps({"boot_id": boot_id, "accelerator": accelerator}), encoding="ascii"
        )
    return accelerator


def kvm_boots(image):
    command = [
        "qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-m", "256", "-nodefaults",
        "-display", "none", "-serial", "stdio", "-no-reboot",
        "-kernel", str(image.kernel), "-initrd", str(image.initramfs),
        "-append", "console=ttyS0 quiet panic=-1",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False
        )
        output = done.stdout
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
    return INITRAMFS_GREETING.encode() in output
