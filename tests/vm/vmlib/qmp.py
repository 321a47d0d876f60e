"""A few commands over QEMU's machine protocol."""

import json
import socket
import time

from .host import VmError

ANSWER_SECONDS = 10


class Monitor:
    """One connection to the monitor socket; QEMU accepts one client at a time."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER_SECONDS)
        try:
            self.socket.connect(str(path))
        except OSError as error:
            raise VmError(f"the monitor of the VM does not answer: {error}") from error
        self.stream = self.socket.makefile("rw", encoding="utf-8")
        self.read()
        self.execute("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def read(self):
        try:
            line = self.stream.readline()
        except OSError as error:
            raise VmError(f"the monitor of the VM does not answer: {error}") from error
        if not line:
            raise VmError("the VM ended while it was being asked something")
        return json.loads(line)

    def execute(self, command, **arguments):
        self.stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.stream.flush()
        while True:
            message = self.read()
            if "return" in message:
                return message["return"]
            if "error" in message:
                raise VmError(f"QEMU refused {command}: {message['error']['desc']}")

    def save_state(self, command, timeout_seconds):
        """Pipes the guest's memory and devices into a shell command; the guest stands still afterwards."""
        self.execute("migrate-set-parameters", **{"max-bandwidth": 16 << 30})
        self.execute("migrate", uri=f"exec:{command}")
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            status = self.execute("query-migrate").get("status")
            if status == "completed":
                return
            if status == "failed":
                break
            time.sleep(0.1)
        raise VmError("QEMU could not save the machine's state")
