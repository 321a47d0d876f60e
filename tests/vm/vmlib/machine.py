"""The life of one virtual machine: start, resume, reboot, end."""

import contextlib
import enum
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

from .accelerator import choose_accelerator
from .configuration import KERNEL_LINE, Configuration
from .host import VmError, cache_folder, locked, run_folder, say
from .image import Image, ensure_image
from .qmp import Monitor
from .remote import Remote

# Generous: seconds on a quiet host, minutes on one that compiles with every core.
BOOT_SECONDS = 400
RESUME_SECONDS = 180
SHUTDOWN_SECONDS = 120
FIRST_PATIENCE_SECONDS = 3
LONGEST_PATIENCE_SECONDS = 60
CONSOLE_LINES = 60


class Machine:
    """A named machine. Its state is in files, so that every command finds it again."""

    def __init__(self, name, die_with_caller=False):
        if not name.replace("-", "").replace("_", "").isalnum():
            raise VmError(f"{name!r} is no name for a VM: use letters, digits, - and _")
        self.name = name
        self.die_with_caller = die_with_caller
        self.folder = run_folder() / name
        self.state_file = self.folder / "state.json"
        self.monitor_path = self.folder / "monitor"
        self.console_log = self.folder / "console.log"
        self.qemu_log = self.folder / "qemu.log"
        self.disks = cache_folder() / "disks" / name
        # Tells disks to be booted again from those that a dead machine left behind.
        self.kept_mark = self.disks / "kept"

    # State

    def state(self):
        try:
            return json.loads(self.state_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise VmError(f"there is no VM {self.name!r}: start it with `vm up`") from None

    def write_state(self, **values):
        temporary = self.state_file.with_suffix(".new")
        temporary.write_text(json.dumps(values, indent=2), encoding="utf-8")
        temporary.rename(self.state_file)

    def exists(self):
        return self.state_file.exists()

    def is_alive(self):
        return self.exists() and self.owns_process(self.state()["pid"])

    def owns_process(self, pid):
        """A process id alone could by now be somebody else's; a zombie is no VM any more."""
        try:
            command_line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        # A zombie's command line is empty.
        return os.fsencode(str(self.monitor_path)) in command_line

    def remote(self):
        state = self.state()
        return Remote(self.folder, state["port"], Path(state["image"]) / "login_key", self.is_alive)

    def console_tail(self):
        text = ""
        for log in (self.qemu_log, self.console_log):
            if log.exists():
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
                text += "".join(f"  | {line}\n" for line in lines[-CONSOLE_LINES:])
        return f"last lines of the console of {self.name}:\n{text or '  (it printed nothing)'}"

    # Start

    def up(self, configuration, cold=False, keep=False):
        """Starts the machine and returns when its ssh answers."""
        image = ensure_image(configuration.suite)
        accelerator = choose_accelerator(image)
        snapshot = None
        kept_disks = keep and self.kept_mark.exists()
        if not (cold or kept_disks):
            # Imported here because making a snapshot needs a machine in turn.
            from .snapshot import ensure_snapshot  # pylint: disable=import-outside-toplevel

            snapshot = ensure_snapshot(image, configuration, accelerator)
        with self.starting():
            started = time.monotonic()
            if not kept_disks:
                self.make_disks(image, configuration, snapshot)
                if keep:
                    self.kept_mark.touch()
            self.start(image, configuration, accelerator, snapshot)
            self.wait_until_reachable(RESUME_SECONDS if snapshot else BOOT_SECONDS)
            if snapshot:
                self.remote().output(f"date --set=@{time.time():.3f}")
            elif configuration.disk_size and not kept_disks:
                self.remote().output("resize2fs /dev/vda", timeout=120)
            how = "resumed" if snapshot else "booted"
            say(f"{self.name} {how} in {time.monotonic() - started:.1f} s ({accelerator})")

    @contextlib.contextmanager
    def starting(self):
        """One start at a time for a name; a start that fails leaves no process behind."""
        with locked(run_folder() / f"{self.name}.lock", f"another start of {self.name}"):
            if self.is_alive():
                raise VmError(f"{self.name} is already running: end it with `vm down`")
            self.folder.mkdir(exist_ok=True)
            try:
                yield
            except VmError as error:
                tail = self.console_tail()
                self.kill()
                raise VmError(f"{error}\n{tail}") from error
            except BaseException:
                self.kill()
                raise

    def make_disks(self, image, configuration, snapshot):
        shutil.rmtree(self.disks, ignore_errors=True)
        self.disks.mkdir(parents=True)
        root = self.disks / "root.qcow2"
        swap = self.disks / "swap.qcow2"
        if snapshot:
            make_overlay(root, snapshot.root, "qcow2")
            if configuration.swap:
                make_overlay(swap, snapshot.swap, "qcow2")
            return
        make_overlay(root, image.disk, "raw", configuration.disk_size)
        if configuration.swap:
            run_quietly(["qemu-img", "create", "-q", "-f", "qcow2", swap, configuration.swap])

    def start(self, image, configuration, accelerator, snapshot=None):
        for leftover in (self.console_log, self.qemu_log, self.monitor_path):
            leftover.unlink(missing_ok=True)
        port = free_port()
        command = self.command_line(image, configuration, accelerator, port)
        if snapshot:
            command += ["-incoming", f"exec:cat '{snapshot.memory}'"]
        if self.die_with_caller:
            command = ["setpriv", "--pdeathsig", "KILL", *command]
        with open(self.qemu_log, "wb") as log:
            # Its own session: a Ctrl-C in the terminal is for the command, which then ends the VM itself.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.write_state(
            pid=process.pid,
            port=port,
            image=str(image.folder),
            accelerator=accelerator,
            configuration=asdict(configuration),
        )
        wait_for_exec(process.pid)

    def command_line(self, image, configuration, accelerator, port):
        command = ["qemu-system-x86_64", "-name", self.name, "-nodefaults", "-display", "none", "-no-reboot"]
        command += configuration.machine_arguments(accelerator)
        command += [
            "-kernel", str(image.kernel), "-initrd", str(image.initramfs),
            "-append", f"{KERNEL_LINE} {configuration.kernel_options}".strip(),
            "-chardev", f"file,id=console,path={self.console_log}", "-serial", "chardev:console",
            "-qmp", f"unix:{self.monitor_path},server=on,wait=off",
            "-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
            "-device", "virtio-net-pci,netdev=net,romfile=",
        ]  # fmt: skip
        for name in ["root"] + (["swap"] if configuration.swap else []):
            path = self.disks / f"{name}.qcow2"
            # A disposable machine: speed instead of safety against a crash of the host.
            command += ["-drive", f"file={path},format=qcow2,if=virtio,cache=unsafe,discard=unmap"]
        return command

    def wait_until_reachable(self, seconds):
        deadline = time.monotonic() + seconds
        port = self.state()["port"]
        patience = FIRST_PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if not self.is_alive():
                raise VmError(f"{self.name} ended while it booted")
            # QEMU accepts for the guest: only the greeting of sshd tells that it is there.
            greeting = greet(port, patience)
            if greeting is Greeting.HEARD and self.remote().open():
                return
            # Every attempt costs the guest a process: one that is slow must not be asked more often.
            if greeting is not Greeting.REFUSED:
                patience = min(2 * patience, LONGEST_PATIENCE_SECONDS)
            time.sleep(0.1)
        raise VmError(f"{self.name} does not answer after {seconds} s")

    # Reboot and end

    def wait_for_end(self, seconds=SHUTDOWN_SECONDS):
        """Waits for a machine that is rebooting or powering off: both end QEMU."""
        deadline = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() > deadline:
                raise VmError(f"{self.name} is still running after {seconds} s")
            time.sleep(0.1)
        self.remote().close()

    def start_again(self, power_cut=False):
        """Boots the same disks again, cold."""
        state = self.state()
        if power_cut:
            self.kill()
        image = Image(Path(state["image"]))
        configuration = Configuration(**state["configuration"])
        with self.starting():
            started = time.monotonic()
            self.start(image, configuration, state["accelerator"])
            self.wait_until_reachable(BOOT_SECONDS)
            say(f"{self.name} booted again in {time.monotonic() - started:.1f} s")

    def kill(self):
        """Ends QEMU at once, as a power cut does. The disks stay."""
        if not self.exists():
            return
        pid = self.state()["pid"]
        if self.owns_process(pid):
            os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + 10
            while self.owns_process(pid) and time.monotonic() < deadline:
                time.sleep(0.02)
        self.remote().close()

    def down(self, discard=False):
        """Ends the machine. Disks are removed, except those of a machine started with --keep."""
        keep = self.kept_mark.exists() and not discard
        if keep and self.is_alive():
            self.power_off()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        if not keep:
            shutil.rmtree(self.disks, ignore_errors=True)

    def power_off(self):
        """Asks the guest to shut down; a guest that cannot is ended by the caller."""
        try:
            self.remote().output("systemctl --no-block poweroff", timeout=30)
            self.wait_for_end()
        except VmError as error:
            say(str(error))

    def monitor(self):
        return Monitor(self.monitor_path)


def all_machines():
    return [Machine(folder.name) for folder in sorted(run_folder().iterdir()) if folder.is_dir()]


def make_overlay(path, backing, backing_format, size=""):
    command = ["qemu-img", "create", "-q", "-f", "qcow2", "-b", backing, "-F", backing_format, path]
    run_quietly(command + ([size] if size else []))


def run_quietly(command):
    done = subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise VmError(f"{command[0]} failed: {done.stderr.strip()}")


def free_port():
    """A port nobody listens on. Another process could take it meanwhile; QEMU would say so and end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Greeting(enum.Enum):
    """What came of a connection to sshd."""

    HEARD = "heard"
    REFUSED = "refused"
    SILENT = "silent"


def greet(port, patience):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection:
            return Greeting.HEARD if connection.recv(4) == b"SSH-" else Greeting.REFUSED
    except TimeoutError:
        return Greeting.SILENT
    except OSError:
        return Greeting.REFUSED


def wait_for_exec(pid):
    """Until the child has become QEMU its command line is still ours, and it would look dead."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"qemu-system"):
                return
        except OSError:
            return
        time.sleep(0.01)
