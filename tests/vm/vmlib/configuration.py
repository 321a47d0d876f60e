"""What a machine is made of: the options of `vm up` and the QEMU arguments they mean."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass

from .host import VmError
from .recipe import DEFAULT_SUITE

KERNEL_LINE = "console=ttyS0 quiet panic=-1 mitigations=off psi=1"
SIZE = re.compile(r"^(\d+)([MG])$")


@dataclass(frozen=True)
class Configuration:
    """Everything that must be equal for a snapshot of one machine to serve another."""

    suite: str = DEFAULT_SUITE
    memory: str = "2G"
    cpus: int = 2
    smp: str = ""
    numa_nodes: int = 0
    swap: str = ""
    disk_size: str = ""
    kernel_options: str = ""

    def __post_init__(self):
        parse_size(self.memory)
        for size in (self.swap, self.disk_size):
            if size:
                parse_size(size)
        if self.numa_nodes and self.processors() % self.numa_nodes:
            raise VmError(f"{self.processors()} CPUs cannot be divided among {self.numa_nodes} NUMA nodes")

    def key(self, accelerator, *circumstances):
        """Equal for equal machines in equal circumstances."""
        described = [accelerator, asdict(self), self.machine_arguments(accelerator), KERNEL_LINE, circumstances]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]

    def topology(self):
        return self.smp or f"{self.cpus},sockets=1,cores={self.cpus},threads=1"

    def processors(self):
        count = self.topology().split(",")[0].removeprefix("cpus=")
        if not count.isdigit():
            raise VmError(f"--smp {self.smp}: must begin with the number of CPUs")
        return int(count)

    def machine_arguments(self, accelerator):
        if accelerator == "kvm":
            arguments = ["-accel", "kvm", "-cpu", "host"]
        else:
            # An emulated guest believes in cores and threads only on an Intel CPU.
            vendor = ",vendor=GenuineIntel" if self.smp else ""
            arguments = ["-accel", "tcg,thread=multi", "-cpu", f"max{vendor}"]
        arguments += ["-m", self.memory, "-smp", self.topology()]
        return arguments + self.numa_arguments()

    def numa_arguments(self):
        arguments = []
        if not self.numa_nodes:
            return arguments
        share = self.processors() // self.numa_nodes
        memory = parse_size(self.memory) // self.numa_nodes
        for node in range(self.numa_nodes):
            arguments += ["-object", f"memory-backend-ram,id=memory{node},size={memory}M"]
            first = node * share
            arguments += ["-numa", f"node,nodeid={node},cpus={first}-{first + share - 1},memdev=memory{node}"]
        return arguments


def parse_size(text):
    """Returns mebibytes."""
    match = SIZE.match(text)
    if not match:
        raise VmError(f"size {text!r}: write it as 512M or 2G")
    return int(match[1]) * (1024 if match[2] == "G" else 1)
