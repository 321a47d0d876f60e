"""Commands and files into the guest, over one shared ssh connection."""

import os
import shlex
import subprocess
import threading
import time

from .host import VmError

# A thrashing guest answers late; only beyond this is it taken for dead.
CONNECT_SECONDS = 60
TRANSFER_SECONDS = 300
MASTER_SECONDS = 90
GRACE_SECONDS = 20
SSH_FAILED = 255


class Remote:
    """The guest behind a forwarded port. `is_alive` tells whether the VM still runs."""

    def __init__(self, folder, port, login_key, is_alive):
        self.control = folder / "ssh"
        self.port = port
        self.login_key = login_key
        self.is_alive = is_alive

    def arguments(self, *extra):
        options = (
            f"ControlPath={self.control}",
            f"ConnectTimeout={CONNECT_SECONDS}",
            "ServerAliveInterval=15",
            "ServerAliveCountMax=8",
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "GlobalKnownHostsFile=/dev/null",
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
            "BatchMode=yes",
            "LogLevel=ERROR",
        )
        command = ["ssh", "-F", "/dev/null", "-p", str(self.port), "-i", str(self.login_key)]
        for option in options:
            command += ["-o", option]
        return [*command, *extra, "root@127.0.0.1"]

    def open(self):
        """Starts the shared connection, apart from any command.

        A connection that the first command starts would keep that command's output open,
        and whoever reads it would wait forever.
        """
        command = self.arguments("-M", "-N", "-f", "-o", "ControlPersist=yes")
        null = subprocess.DEVNULL
        try:
            code = subprocess.run(
                command, stdin=null, stdout=null, stderr=null, timeout=MASTER_SECONDS, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            return False
        return code == 0

    def close(self):
        if self.control.exists():
            null = subprocess.DEVNULL
            command = self.arguments("-O", "exit")
            try:
                subprocess.run(command, stdin=null, stdout=null, stderr=null, timeout=5, check=False)
            except subprocess.TimeoutExpired:
                pass
        self.control.unlink(missing_ok=True)

    def run(self, command, timeout, **streams):
        """Runs a command in the guest and returns its exit code; 124 when it took too long."""
        # The guest ends the command too: closing the connection alone would leave it running.
        limited = ["timeout", "--kill-after=5", str(timeout), "sh", "-c", as_shell_text(command)]
        process = subprocess.Popen([*self.arguments(), shlex.join(limited)], **streams)
        code = self.wait(process, timeout + GRACE_SECONDS)
        if code == SSH_FAILED:
            self.check_connection()
        return code

    def check_connection(self):
        """ssh's code for a lost connection is also that of a command that exits 255: ask the guest."""
        try:
            self.output("true")
        except VmError as error:
            raise VmError("the VM was lost while the command ran") from error

    def stream(self, command, timeout, on_line):
        """Like run, with every line of the command's output passed on as it comes."""
        reading_end, writing_end = os.pipe()

        def read_lines():
            with open(reading_end, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    on_line(line.rstrip("\n"))

        reader = threading.Thread(target=read_lines)
        reader.start()
        try:
            return self.run(command, timeout, stdin=subprocess.DEVNULL, stdout=writing_end)
        finally:
            os.close(writing_end)
            reader.join()

    def output(self, command, timeout=60):
        """Runs a command that must succeed and returns what it printed."""
        process = subprocess.Popen(
            [*self.arguments(), as_shell_text(command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            printed, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as expired:
            stop(process)
            raise VmError(f"no answer from the guest within {timeout} s: {command}") from expired
        if process.returncode != 0:
            raise VmError(f"in the guest, {command} failed with {process.returncode}: {errors.strip()}")
        return printed

    def wait(self, process, timeout):
        """Waits for a local process that talks to the guest, never longer than the VM lives."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                try:
                    return process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    if not self.is_alive():
                        raise VmError("the VM ended while the command ran") from None
                    if time.monotonic() > deadline:
                        raise VmError(f"the VM has not answered for {timeout} s") from None
        finally:
            stop(process)

    def push(self, sources, target):
        """Copies files and folders into a folder of the guest, which is made if need be."""
        packer = ["tar", "--owner=0", "--group=0", "-cf", "-"]
        for source in sources:
            folder, name = os.path.split(os.path.abspath(source))
            packer += ["-C", folder, name]
        unpacker = f"mkdir -p {shlex.quote(target)} && tar -C {shlex.quote(target)} -xf -"
        self.pipe(packer, [*self.arguments(), unpacker], "push")

    def pull(self, source, target):
        """Copies a file or folder of the guest into a local folder."""
        os.makedirs(target, exist_ok=True)
        folder, name = os.path.split(source.rstrip("/"))
        packer = shlex.join(["tar", "-C", folder or "/", "-cf", "-", name])
        self.pipe([*self.arguments(), packer], ["tar", "-C", str(target), "--no-same-owner", "-xf", "-"], "pull")

    def pipe(self, writer_command, reader_command, verb):
        with subprocess.Popen(
            writer_command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        ) as writer, subprocess.Popen(reader_command, stdin=writer.stdout) as reader:
            writer.stdout.close()
            try:
                reader_code = self.wait(reader, TRANSFER_SECONDS)
                writer_code = self.wait(writer, 10)
            finally:
                stop(reader)
                stop(writer)
        if reader_code or writer_code:
            raise VmError(f"{verb} failed ({writer_code}, {reader_code})")


def as_shell_text(command):
    return command if isinstance(command, str) else shlex.join(command)


def stop(process):
    if process.poll() is None:
        process.kill()
        process.wait()
