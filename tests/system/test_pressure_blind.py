"""Memory runs short on a kernel without PSI: it is said, and what is available is enough to go by."""

import product
from pressure import Pressure, load

MACHINE = "blind"


class WithoutPsi(Pressure):
    def test_it_is_named(self):
        manager = self.root.properties()
        self.assertEqual(manager["State"], "degraded")
        self.assertTrue(any("PSI" in problem for problem in manager["Problems"]), manager["Problems"])
        doctor = product.jobctl("doctor")
        self.assertIn("PSI", doctor.stdout)
        self.assertIn("psi=1", doctor.stdout)

    def test_the_least_important_still_gives_way_while_systemd_reloads(self):
        train = product.submit("--class", "train", "--", *load("300M", 2000))
        self.wait_until(train, "running")
        victim = product.submit("--class", "batch", "--mem", "100M", "--mem-max", "2G", "--", *load("1500M", 2000))
        self.wait_until(victim, "running")
        while self.root.row(victim)["state"] != "finished":
            product.checked(["systemctl", "daemon-reload"], timeout=120)
        self.assert_result(self.root.row(victim), "preempted", "pressure-policy")
        self.assertEqual(self.root.row(train)["state"], "running")
        self.assertEqual(self.jobs_that("kill"), [victim])
