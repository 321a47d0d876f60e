"""The package: installed again while a job runs, removed, purged, and what it installs is sound."""

import re
from pathlib import Path

import product
from scenario import Scenario

MACHINE = "package"
PACKAGES = Path(__file__).parent / "packages"
STATE = ("/var/lib/mljobd", "/var/log/mljobd")
MOST_EXPOSED = 1.5


def installed(package):
    return product.run(["dpkg-query", "-W", "-f=${Status}", package]).stdout == "install ok installed"


class Units(Scenario):
    def test_the_service_is_hardly_exposed(self):
        shown = product.checked(["systemd-analyze", "security", "--no-pager", "mljobd.service"])
        exposure = float(re.search(r"Overall exposure level.*?: ([0-9.]+)", shown)[1])
        self.assertLessEqual(exposure, MOST_EXPOSED, shown)

    def test_the_units_have_no_mistakes(self):
        units = ["mljobd.service", "mljob.slice", "mljobd.slice"]
        done = product.run(["systemd-analyze", "verify", "--man=no", *units])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_daemon_is_the_last_to_be_killed(self):
        self.assertEqual(Path(f"/proc/{self.daemon}/oom_score_adj").read_text(), "-900\n")
        folder = product.CGROUPS / "mljobd.slice"
        # Without its slice's the service's own would protect nothing.
        for place in (folder, folder / "mljobd.service"):
            self.assertEqual(int((place / "memory.min").read_text()), 64 * product.MEBIBYTE, place)
        self.assertEqual((folder / "cpu.weight").read_text(), "10000\n")

    def test_the_daemon_stays_in_memory_and_has_descriptors_for_every_job(self):
        self.assertGreater(product.keyed(f"/proc/{self.daemon}/status")["VmLck"], 0)
        limits = Path(f"/proc/{self.daemon}/limits").read_text()
        self.assertRegex(limits, r"Max open files +16384 ")
        problems = self.root.properties()["Problems"]
        self.assertFalse([problem for problem in problems if "memory is not locked" in problem], problems)

    def test_it_has_no_capabilities(self):
        status = product.keyed(f"/proc/{self.daemon}/status")
        for kind in ("CapEff", "CapPrm", "CapBnd"):
            self.assertEqual(int(str(status[kind]), 16), 0, kind)


class Package(Scenario):
    test_seconds = 300
    daemon_may_restart = True

    def packages(self):
        found = sorted(str(path) for path in PACKAGES.glob("*.deb"))
        self.assertEqual(len(found), 2, f"the packages are in {PACKAGES}")
        return found

    def tearDown(self):
        product.checked(["dpkg", "-i", *self.packages()], timeout=300)
        super().tearDown()

    def test_an_upgrade_leaves_a_running_job_alone(self):
        go_on = Path("/run/mljobd-test-go-on")
        go_on.unlink(missing_ok=True)
        job = self.alice.submit("sh", "-c", f"while [ ! -e {go_on} ]; do sleep 0.2; done; exit 5")
        row = self.wait_until(job, "running")
        pid = product.unit_property(row["unit"], "MainPID")
        product.checked(["dpkg", "-i", *self.packages()], timeout=300)
        self.assertNotIn(product.daemon_pid(), (0, self.daemon), "the new daemon runs")
        self.assertEqual(product.unit_property(row["unit"], "MainPID"), pid)
        self.assertEqual(self.wait_until(job, "running")["start_time"], row["start_time"])
        go_on.touch()
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=5)

    def test_removing_it_keeps_the_records_and_a_new_one_finds_them(self):
        job = self.alice.submit("sh", "-c", "echo kept; exit 5")
        self.wait_finished(job)
        product.checked(["dpkg", "--remove", "jobctl", "mljobd"], timeout=300)
        self.assertFalse(installed("mljobd"))
        self.assertEqual(product.unit_property("mljobd.service", "MainPID"), "0")
        product.checked(["dpkg", "-i", *self.packages()], timeout=300)
        self.assert_result(self.root.row(job), "failed", "exit", exit_code=5)
        self.assertEqual(self.alice.log(job), b"kept\n")

    def test_purging_it_leaves_nothing(self):
        product.checked(["dpkg", "--purge", "jobctl", "mljobd"], timeout=300)
        left = [path for path in (*STATE, "/etc/mljobd", "/run/mljobd") if Path(path).exists()]
        self.assertEqual(left, [])
        self.assertEqual(product.unit_property("mljobd.service", "MainPID"), "0")
        # Empty slices of classes stay until the next boot; they hold nothing.
        self.assertEqual(product.units("mljob-[0-9]*"), [])
