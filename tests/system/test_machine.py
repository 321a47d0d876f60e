"""The machine itself: without these the other scenarios would prove nothing."""

import pwd
import subprocess
import unittest
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


class Machine(unittest.TestCase):
    def test_systemd_runs_it_and_nothing_has_failed(self):
        failed = subprocess.run(
            ["systemctl", "list-units", "--failed", "--plain", "--no-legend"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(failed.stdout, "")

    def test_cgroups_are_version_2_only(self):
        mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="ascii").splitlines()]
        kinds = {mount[1]: mount[2] for mount in mounts if mount[2].startswith("cgroup")}
        self.assertEqual(kinds, {str(CGROUPS): "cgroup2"})

    def test_the_controllers_are_there(self):
        controllers = (CGROUPS / "cgroup.controllers").read_text(encoding="ascii").split()
        self.assertLessEqual({"cpu", "cpuset", "io", "memory", "pids"}, set(controllers))

    def test_pressure_is_measured(self):
        for resource in ("cpu", "memory", "io"):
            self.assertIn("total=", Path("/proc/pressure", resource).read_text(encoding="ascii"))

    def test_the_users_are_there(self):
        self.assertEqual([pwd.getpwnam(name).pw_uid for name in ("alice", "bob")], [1001, 1002])

    def test_the_system_bus_answers(self):
        subprocess.run(["busctl", "--system", "status", "org.freedesktop.systemd1"], check=True, capture_output=True)
