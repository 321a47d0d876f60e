"""What every scenario begins and ends with: a daemon that runs, and nothing left behind."""

import contextlib
import json
import os
import subprocess
import unittest

import dbus

import product
from product import ALICE, ROOT, Client, eventually

FULL = bool(os.environ.get("FULL"))
START_SECONDS = 60
UNFINISHED = ("queued", "held", "starting", "running", "frozen", "parked", "stopping")


class Scenario(unittest.TestCase):
    """A clean daemon for each scenario; the clients are alice's and root's."""

    maxDiff = None
    # The runner's bound for a scenario with its clean-up.
    test_seconds = 180
    # A scenario that restarts the daemon itself says so; anywhere else a new process is a crash.
    daemon_may_restart = False
    # The other half of a scenario, after a reboot, wants to find them.
    leaves_jobs = False

    def setUp(self):
        self.ensure_daemon()
        self.alice = self.client(ALICE)
        self.root = self.client(ROOT)
        self.daemon = product.daemon_pid()
        self.addCleanup(self.check_nothing_left)

    def ensure_daemon(self):
        subprocess.run(["systemctl", "reset-failed", "mljobd.service"], check=False, stderr=subprocess.DEVNULL)
        product.checked(["systemctl", "start", "mljobd.service"], timeout=START_SECONDS)

    def client(self, user):
        client = Client(user)
        self.addCleanup(client.close)
        return client

    def check_nothing_left(self):
        """Whatever happened in it, the next scenario starts from nothing; what it left behind is its failure."""
        restarted = product.daemon_pid() != self.daemon and not self.daemon_may_restart
        self.ensure_daemon()
        if not self.leaves_jobs:
            self.clear_away()
        if restarted:
            self.fail("the daemon was restarted meanwhile:\n" + product.journal("-u", "mljobd.service"))

    def clear_away(self):
        with contextlib.closing(Client(ROOT)) as client:
            unfinished = client.rows(state=dbus.Array(UNFINISHED, signature="s"))
            if unfinished:
                client.many("Cancel", *unfinished)
            eventually(
                lambda: not client.rows(state=dbus.Array(UNFINISHED, signature="s")), 60, "cancelled jobs have finished"
            )
        eventually(lambda: not product.units("mljob-[0-9]*"), 30, "the units of finished jobs are gone")

    # Jobs

    def wait_until(self, job, *states, seconds=60):
        """The row of a job once it is in one of the states."""

        def reached():
            row = self.root.row(job)
            return row if row["state"] in states else None

        try:
            return eventually(reached, seconds, f"job {job} is {' or '.join(states)}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.root.row(job)}\n{product.journal('-u', 'mljobd.service')}") from None

    def wait_finished(self, job, seconds=60):
        return self.wait_until(job, "finished", seconds=seconds)

    def wait_all_finished(self, jobs, seconds=120):
        """The rows of all jobs once every one has finished."""
        jobs = list(jobs)

        def reached():
            rows = self.root.rows(jobs)
            return rows if len(rows) == len(jobs) and all(done(row) for row in rows.values()) else None

        return eventually(reached, seconds, f"{len(jobs)} jobs have finished")

    def assert_result(self, row, result, what="", exit_code=None, exit_signal=None):
        """How a job ended and why; the whole row is shown when it is another way."""
        self.assertEqual(row["state"], "finished", row)
        self.assertEqual((row["result"], row["cause"].get("what", "")), (result, what), row)
        if exit_code is not None:
            self.assertEqual(row["exit_code"], exit_code, row)
        if exit_signal is not None:
            self.assertEqual(row["exit_signal"], exit_signal, row)

    def assert_refused(self, error, call, /, *arguments, **options):
        """The call must end in this error of ours; returns its sentence."""
        with self.assertRaises(dbus.DBusException) as refusal:
            call(*arguments, **options)
        self.assertEqual(refusal.exception.get_dbus_name(), product.ERROR + error, refusal.exception)
        message = refusal.exception.get_dbus_message()
        self.assertGreater(len(message), 10, "the message says what to do")
        return message

    # The daemon

    def restart_daemon(self):
        product.checked(["systemctl", "restart", "mljobd.service"], timeout=START_SECONDS)

    def configure(self, **settings):
        """Lays settings over the configuration, until the scenario ends."""
        product.CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
        product.CONFIGURATION.write_text(json.dumps(settings), encoding="utf-8")
        self.addCleanup(self.forget_configuration)
        self.root.manager("Reload")

    def forget_configuration(self):
        product.CONFIGURATION.unlink(missing_ok=True)
        with contextlib.closing(Client(ROOT)) as client:
            client.manager("Reload")



def done(row):
    return row["state"] == "finished"
