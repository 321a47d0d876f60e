"""Jobs that reserve cores have whole ones to themselves, all others share the rest, whatever happens in between."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import dbus

import product
from scenario import Scenario

MACHINE = "topology"

# 4 cores of 2 threads; node 0 has the CPUs 0-3, node 1 the others. The first core is the operating system's.
EVERYTHING = set(range(8))
ONE_CORE = {2, 3}
TWO_CORES = {4, 5, 6, 7}
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "PYTHON_CPU_COUNT",
)
# What a program sees, in one line; nproc is asked without the variable that it believes more than the kernel.
LOOK = """
import json, os, subprocess
environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
nproc = subprocess.run(["nproc"], env=environment, capture_output=True, text=True, check=True).stdout
seen = {"affinity": sorted(os.sched_getaffinity(0)), "nproc": int(nproc), "environment": dict(os.environ)}
print(json.dumps(seen), flush=True)
"""
LOOK_AND_STAY = f"{LOOK}\nimport time\ntime.sleep(1000)\n"
SYSTEM_CONTROL = Path("/run/systemd/system.control")


def cpus_of(text):
    """The kernel's list, "0-1,4", as a set."""
    cpus = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def kill_daemon():
    pid = product.daemon_pid()
    os.kill(pid, signal.SIGKILL)
    product.eventually(lambda: product.daemon_pid() not in (0, pid), 60, "systemd started the daemon again")
    product.eventually(
        lambda: product.unit_property("mljobd.service", "ActiveState") == "active", 60, "the daemon is ready"
    )


class Cores(Scenario):
    def sleeper(self, **keys):
        job = self.alice.submit("sleep", "1000", **keys)
        self.wait_until(job, "running")
        return job

    def pipeline(self, *stages):
        """Jobs that the daemon learns of, and starts, all at once."""
        specs = [product.typed_spec(command=["sleep", "1000"], **keys) for keys in stages]
        answer = self.alice.manager(
            "SubmitPipeline", "aa{sv}a{sv}", dbus.Array(specs, signature="a{sv}"), product.no_options()
        )
        jobs = [job for job, _ in answer]
        for job in jobs:
            self.wait_until(job, "running")
        return jobs

    def cpus(self, job):
        """Where the kernel lets it run. While it is being moved, its processes and its group may disagree."""
        return product.eventually(
            lambda: self.agreed_cpus(job), 20, f"the processes of job {job} are where its group says"
        )

    def agreed_cpus(self, job):
        """Empty while they disagree. The processes of a group without a list of its own have its parent's."""
        folder = product.slice_folder(self.root.row(job))
        pids = product.processes_below(folder)
        self.assertTrue(pids, f"job {job} has processes")
        places = {frozenset(cpus_of(str(product.keyed(f"/proc/{pid}/status")["Cpus_allowed_list"]))) for pid in pids}
        effective = folder / "cpuset.cpus.effective"
        if effective.exists():
            places.add(frozenset(cpus_of(effective.read_text(encoding="ascii"))))
        return set(places.pop()) if len(places) == 1 else set()

    def assert_on(self, expected, what=""):
        """Every job on its CPUs, soon; and what its row tells agrees, without a warning."""
        for job, cpus in expected.items():
            product.eventually(
                lambda job=job, cpus=cpus: self.cpus(job) == cpus,
                20,
                f"{what}: job {job} is on {sorted(cpus)}; it is on {sorted(self.cpus(job))}",
            )
        for job, cpus in expected.items():
            row = self.alice.job_properties(job)
            self.assertEqual(row["Warnings"], [], (what, job))
            self.assertEqual(cpus_of(row["Effective"].get("cpu_list", "0-7")), cpus, (what, job))

    def seen_by(self, job):
        self.wait_until(job, "running")
        text = product.eventually(lambda: self.alice.log(job), 60, f"job {job} has looked around")
        return json.loads(text)

    def assert_told(self, seen, cpus, threads=None):
        """The kernel, coreutils and our own variable agree; the thread variables are there, or not."""
        self.assertEqual(set(seen["affinity"]), cpus)
        environment = seen["environment"]
        self.assertEqual((seen["nproc"], environment["MLJOB_CPUS"]), (len(cpus), str(len(cpus))))
        told = {name: environment[name] for name in THREAD_VARIABLES if name in environment}
        self.assertEqual(told, {name: str(threads) for name in THREAD_VARIABLES} if threads else {})


class Partition(Cores):
    def test_three_jobs_have_disjoint_whole_cores_and_are_told_so(self):
        one = self.alice.submit("python3", "-c", LOOK_AND_STAY, cpus=1)
        two = self.alice.submit("python3", "-c", LOOK_AND_STAY, cpus=2)
        self.wait_until(one, "running")
        self.wait_until(two, "running")
        sharer = self.alice.submit("python3", "-c", LOOK_AND_STAY)
        listed = self.alice.submit("python3", "-c", LOOK_AND_STAY, cpu_list="1,4-6")
        rest = EVERYTHING - ONE_CORE - TWO_CORES
        self.assert_told(self.seen_by(one), ONE_CORE, threads=2)
        self.assert_told(self.seen_by(two), TWO_CORES, threads=4)
        self.assert_told(self.seen_by(sharer), rest)
        # Of what it named, that which nobody has reserved.
        self.assert_told(self.seen_by(listed), {1})
        self.assert_on({one: ONE_CORE, two: TWO_CORES, sharer: rest, listed: {1}})
        self.assert_siblings_and_nodes(one, two)

    def assert_siblings_and_nodes(self, *jobs):
        for job in jobs:
            cpus = self.cpus(job)
            for cpu in cpus:
                topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list")
                self.assertLessEqual(cpus_of(topology.read_text(encoding="ascii")), cpus)
            nodes = [
                path
                for path in Path("/sys/devices/system/node").glob("node[0-9]*")
                if cpus & cpus_of((path / "cpulist").read_text(encoding="ascii"))
            ]
            self.assertEqual(len(nodes), 1, f"job {job} is on one node")

    def test_one_that_does_not_fit_waits_and_gets_what_comes_free(self):
        one, two = self.sleeper(cpus=1), self.sleeper(cpus=2)
        sharer = self.sleeper()
        waiting = self.alice.submit("sleep", "1000", cpus=2)
        row = product.eventually(
            lambda: (row := self.root.row(waiting))["reason"].startswith("Resources:cpus") and row, 20, "it waits"
        )
        self.assertRegex(row["reason"], rf"needs 2 cores, 0 free, waits for ({one}|{two})")
        self.alice.many("Cancel", one)
        self.assert_on({two: TWO_CORES, sharer: EVERYTHING - TWO_CORES}, "one core is free")
        self.assertEqual(self.root.row(waiting)["state"], "queued")
        self.alice.many("Cancel", two)
        self.wait_until(waiting, "running")
        self.assert_on({waiting: TWO_CORES, sharer: EVERYTHING - TWO_CORES}, "it has two")
        self.alice.many("Cancel", waiting)
        self.assert_on({sharer: EVERYTHING}, "all are free")

    def test_a_job_whose_cores_are_on_both_nodes_has_no_others(self):
        sharer = self.sleeper()
        three = self.sleeper(cpus=3)
        self.assert_on({three: EVERYTHING - {0, 1}, sharer: {0, 1}})

    def test_more_than_the_machine_can_reserve_is_refused(self):
        message = self.assert_refused("NoCapacity", self.alice.submit, "true", cpus=4)
        self.assertIn("needs 4 whole cores; jobs on this machine may reserve 3", message)

    def test_many_that_end_at_once_leave_nothing_reserved(self):
        sharer = self.sleeper()
        jobs = [self.alice.submit("true", cpus=1) for _ in range(9)]
        for row in self.wait_all_finished(jobs).values():
            self.assert_result(row, "done")
        self.assert_on({sharer: EVERYTHING})
        resources = product.jobctl_json("status")["machine"]["resources"]
        self.assertEqual((resources["cores_reserved"], resources["shared_cpus"]), (0, "0-7"))

    def test_cancelling_while_they_start_leaves_nothing_reserved(self):
        sharer = self.sleeper()
        for _ in range(3):
            jobs = [self.alice.submit("sleep", "1000", cpus=1) for _ in range(4)]
            self.alice.many("Cancel", *jobs)
            self.wait_all_finished(jobs)
        self.assert_on({sharer: EVERYTHING})

    def test_a_frozen_job_keeps_its_cores_and_gives_way(self):
        one, sharer = self.sleeper(cpus=1), self.sleeper()
        for job in (one, sharer):
            self.alice.job(job, "Freeze")
        two = self.sleeper(cpus=2)
        self.assert_on({one: ONE_CORE, two: TWO_CORES, sharer: {0, 1}}, "both are frozen")
        self.alice.job(sharer, "Thaw")
        self.alice.many("Cancel", one, two)
        self.assert_on({sharer: EVERYTHING}, "it is thawed")

    def test_a_changed_list_takes_nothing_that_others_have_reserved(self):
        one, sharer = self.sleeper(cpus=1), self.sleeper()
        product.jobctl_ok("set", str(sharer), "--cpu-list", "0-4")
        self.assert_on({one: ONE_CORE, sharer: {0, 1, 4}}, "a list that is partly reserved")
        product.jobctl_ok("set", str(sharer), "--cpu-list", "2-3")
        self.assert_on({one: ONE_CORE, sharer: EVERYTHING - ONE_CORE}, "a list that is wholly reserved")
        self.alice.many("Cancel", one)
        self.assert_on({sharer: ONE_CORE}, "it has its list to itself")

    def test_a_job_with_cores_cannot_take_others(self):
        one = self.sleeper(cpus=1)
        refused = product.jobctl("set", str(one), "--cpu-list", "0-7")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("cpus and cpu_list exclude each other", refused.stderr)
        self.assert_on({one: ONE_CORE})

    def test_status_shows_the_cores_and_no_warning(self):
        two = self.sleeper(cpus=2)
        [row] = product.jobctl_json("status", str(two))["jobs"]
        self.assertEqual((cpus_of(row["effective"]["cpu_list"]), row["warnings"]), (TWO_CORES, []))
        self.assertRegex(product.jobctl_ok("status", str(two)), r"cpu_list .*4-7")
        resources = product.jobctl_json("status")["machine"]["resources"]
        self.assertEqual((resources["cores"], resources["numa_nodes"]), (4, 2))
        self.assertEqual((resources["cores_reserved"], resources["cores_free"]), (2, 1))


class Upheaval(Cores):
    """The same partition before and after the daemon, or PID 1, began anew."""

    daemon_may_restart = True

    def partition(self):
        two, sharer, other, listed = self.pipeline({"cpus": 2}, {}, {"class": "train"}, {"cpu_list": "0,4"})
        expected = {two: TWO_CORES, sharer: EVERYTHING - TWO_CORES, other: EVERYTHING - TWO_CORES, listed: {0}}
        self.assert_on(expected, "all started at once")
        return two, expected

    def assert_survives(self, *upheavals):
        two, expected = self.partition()
        for upheaval in upheavals:
            upheaval()
            self.assert_on(expected, "reserved")
        self.alice.many("Cancel", two)
        self.wait_finished(two)
        expected = {job: EVERYTHING for job in expected if job != two}
        expected[max(expected)] = {0, 4}
        self.assert_on(expected, "free again")
        for upheaval in upheavals:
            upheaval()
            self.assert_on(expected, "still free")
        left = [str(path) for path in SYSTEM_CONTROL.glob("mljob-*-[0-9]*.slice.d/*")]
        self.assertEqual(left, [], "settings that would outlive their jobs")

    def test_a_restart_of_the_daemon(self):
        self.assert_survives(self.restart_daemon)

    def test_a_killed_daemon(self):
        self.assert_survives(kill_daemon)

    def test_a_reload_and_a_new_execution_of_the_manager(self):
        self.assert_survives(
            lambda: product.checked(["systemctl", "daemon-reload"]),
            lambda: product.checked(["systemctl", "daemon-reexec"]),
        )

    def test_cores_that_came_free_without_the_daemon_are_given_back(self):
        sharer = self.sleeper()
        ending = self.alice.submit("sh", "-c", "while [ -e /tmp/mljobd-cores-go-on ]; do sleep 0.2; done", cpus=2)
        Path("/tmp/mljobd-cores-go-on").touch()
        self.addCleanup(Path("/tmp/mljobd-cores-go-on").unlink, missing_ok=True)
        self.wait_until(ending, "running")
        self.assert_on({ending: TWO_CORES, sharer: EVERYTHING - TWO_CORES})
        unit = self.root.row(ending)["unit"]
        product.checked(["systemctl", "stop", "mljobd.service"])
        Path("/tmp/mljobd-cores-go-on").unlink()
        product.eventually(
            lambda: product.unit_property(unit, "SubState") == "exited", 30, "it has ended without the daemon"
        )
        product.checked(["systemctl", "start", "mljobd.service"])
        self.assert_result(self.wait_finished(ending), "done")
        self.assert_on({sharer: EVERYTHING})

    def test_a_change_that_was_decided_and_not_carried_out_is_made_up_for(self):
        two, sharer = self.sleeper(cpus=2), self.sleeper()
        slice_unit = self.root.row(sharer)["slice"]
        product.checked(["systemctl", "stop", "mljobd.service"])
        # As it is when the daemon dies between writing the partition down and telling the manager.
        product.checked(["systemctl", "set-property", "--runtime", slice_unit, "AllowedCPUs=0-5"])
        product.checked(["systemctl", "start", "mljobd.service"])
        self.assert_on({two: TWO_CORES, sharer: EVERYTHING - TWO_CORES})
        self.alice.many("Cancel", two)
        self.wait_finished(two)
        product.checked(["systemctl", "stop", "mljobd.service"])
        product.checked(["systemctl", "set-property", "--runtime", slice_unit, "AllowedCPUs=0-3"])
        product.checked(["systemctl", "start", "mljobd.service"])
        self.assert_on({sharer: EVERYTHING})


class Foreground(Cores):
    def look(self, *options):
        done = product.jobctl("run", *options, "--", "python3", "-c", LOOK)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_command_in_the_foreground_has_cores_too(self):
        two = self.sleeper(cpus=2)
        self.assert_told(self.look("--cpus", "1"), ONE_CORE, threads=2)
        self.assert_told(self.look(), EVERYTHING - TWO_CORES)
        refused = product.jobctl("run", "--cpus", "2", "--", "true")
        self.assertEqual(refused.returncode, 125)
        self.assertIn("Resources:cpus (needs 2 cores, 1 free", refused.stderr)
        self.assert_on({two: TWO_CORES})

    def test_processes_are_adopted_onto_cores_that_are_free(self):
        children = [subprocess.Popen(["sleep", "1000"], user=product.ALICE, group=product.ALICE) for _ in range(2)]
        for child in children:
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
        two = self.sleeper(cpus=2)
        refused = product.jobctl("adopt", "--cpus", "2", str(children[0].pid))
        self.assertEqual(refused.returncode, 125)
        self.assertIn("adopt it without cpus", refused.stderr)
        answer = product.jobctl_ok("adopt", "--cpus", "1", str(children[1].pid))
        adopted = int(re.search(r"job (\d+)", answer)[1])
        self.assert_on({two: TWO_CORES, adopted: ONE_CORE})


class Advice(Cores):
    def test_the_advice_is_that_of_the_table(self):
        for jobs, workers in ((1, 3), (2, 2), (4, 1)):
            advice = product.jobctl_json("advise", "--jobs", str(jobs))
            self.assertEqual((advice["num_workers"], advice["cores"], advice["cpus"]), (workers, 4, 8))

    def test_what_a_user_set_is_left_alone_and_a_quota_counts(self):
        mine = self.alice.submit("python3", "-c", LOOK, cpus=1, environment=["OMP_NUM_THREADS=7"])
        self.assert_result(self.wait_finished(mine), "done")
        environment = json.loads(self.alice.log(mine))["environment"]
        self.assertEqual((environment["OMP_NUM_THREADS"], environment["MKL_NUM_THREADS"]), ("7", "2"))
        bounded = self.alice.submit("python3", "-c", LOOK, cpu_quota_percent=300)
        self.assert_result(self.wait_finished(bounded), "done")
        environment = json.loads(self.alice.log(bounded))["environment"]
        self.assertEqual((environment["MLJOB_CPUS"], environment["OMP_NUM_THREADS"]), ("3", "3"))
