"""What a person does with jobs: hold, drain, freeze, change, requeue, run in the foreground, adopt."""

import json
import os
import shutil
import signal
import time
from pathlib import Path

import dbus

import product
from product import ALICE, BOB, MEBIBYTE, SECOND
from scenario import Scenario

WITHOUT_END = ("sleep", "1000")


class Queue(Scenario):
    def test_a_held_job_waits_until_it_is_released(self):
        job = product.submit("--hold", "--", "true")
        product.always(lambda: self.root.row(job)["state"] == "held", 1, "a held job does not start")
        product.jobctl_ok("release", str(job))
        self.assert_result(self.wait_finished(job), "done")

    def test_draining_starts_nothing_and_leaves_what_runs(self):
        running = self.alice.submit(*WITHOUT_END)
        self.wait_until(running, "running")
        self.assertNotEqual(product.jobctl("drain", user=ALICE).returncode, 0, "alice may not drain")
        product.jobctl_ok("drain", user=product.ROOT)
        self.addCleanup(product.jobctl, "resume", user=product.ROOT)
        job = self.alice.submit("true")
        product.eventually(lambda: self.root.row(job)["reason"].startswith("Draining"), 10, "the reason is shown")
        self.assertEqual(self.root.row(running)["state"], "running")
        product.jobctl_ok("resume", user=product.ROOT)
        self.assert_result(self.wait_finished(job), "done")

    def test_a_class_runs_no_more_than_it_is_allowed_to(self):
        self.configure(classes=[{"name": "train", "max_running": 1}])
        first = self.alice.submit(*WITHOUT_END, class_="train")
        self.wait_until(first, "running")
        second = self.alice.submit("true", class_="train")
        other = self.alice.submit("true", class_="batch")
        self.assert_result(self.wait_finished(other), "done")
        row = self.root.row(second)
        self.assertEqual(row["state"], "queued")
        self.assertTrue(row["reason"].startswith("Class"), row["reason"])
        self.alice.many("Cancel", first)
        self.assert_result(self.wait_finished(second), "done")

    def test_claims_beyond_the_memory_wait_for_it(self):
        most = self.root.properties()["Memory"]["jobs_memory_max"]
        first = self.alice.submit(*WITHOUT_END, memory=most * 3 // 4)
        self.wait_until(first, "running")
        second = self.alice.submit("true", memory=most // 2)
        product.eventually(
            lambda: self.root.row(second)["reason"].startswith("Resources:memory"), 10, "it says what it waits for"
        )
        self.alice.many("Cancel", first)
        self.assert_result(self.wait_finished(second), "done")

    def test_a_claim_that_can_never_be_met_is_refused_at_once(self):
        message = self.assert_refused("NoCapacity", self.alice.submit, "true", memory=1 << 50)
        self.assertIn("1.0P", message)

    def test_the_queue_goes_by_priority_then_by_age(self):
        self.configure(classes=[{"name": "train", "max_running": 1}])
        first = self.alice.submit(*WITHOUT_END, class_="train")
        self.wait_until(first, "running")
        later = [self.alice.submit("true", class_="train", priority=number) for number in (-10, 0, 0)]
        urgent = self.root.submit("true", class_="train", priority=10)
        self.alice.many("Cancel", first)
        rows = self.wait_all_finished([urgent, *later])
        order = sorted(rows, key=lambda job: rows[job]["start_time"])
        self.assertEqual(order, [urgent, later[1], later[2], later[0]])


class WhileItRuns(Scenario):
    def test_frozen_time_counts_for_no_limit(self):
        script = "n=0; while :; do n=$((n+1)); echo $n; sleep 0.2; done"
        job = self.alice.submit("sh", "-c", script, time_limit=5 * SECOND)
        self.wait_until(job, "running")
        product.jobctl_ok("freeze", str(job))
        self.wait_until(job, "frozen")
        before = self.alice.log(job)
        time.sleep(6)
        self.assertEqual(self.alice.log(job), before, "a frozen job does nothing")
        self.assertEqual(self.root.row(job)["state"], "frozen", "and does not run into its limit")
        product.jobctl_ok("thaw", str(job))
        row = self.wait_finished(job)
        self.assert_result(row, "timeout", "time-limit")
        self.assertGreater(row["end_time"] - row["start_time"], 10 * SECOND)
        self.assertLess(row["run_time"], 9 * SECOND)

    def test_limits_can_be_changed(self):
        job = self.alice.submit(*WITHOUT_END, memory=100 * MEBIBYTE, class_="train")
        folder = product.slice_folder(self.wait_until(job, "running"))
        product.jobctl_ok("set", str(job), "--mem", "200M", "--cpu-weight", "321")
        self.assertEqual((folder / "memory.max").read_text(), f"{200 * MEBIBYTE}\n")
        self.assertEqual((folder / "cpu.weight").read_text(), "321\n")
        properties = self.alice.job_properties(job)
        self.assertEqual(properties["Effective"]["memory_max"], 200 * MEBIBYTE)
        self.assertEqual(properties["Limits"]["memory"], 200 * MEBIBYTE)

    def test_a_limit_below_what_the_job_holds_is_refused(self):
        script = "import time\nheld = bytearray(80 << 20)\nprint('held', flush=True)\ntime.sleep(1000)"
        job = self.alice.submit("python3", "-c", script, memory=200 * MEBIBYTE)
        self.wait_until(job, "running")
        product.eventually(lambda: self.alice.log(job) == b"held\n", 60, "the job holds its memory")
        changes = dbus.Dictionary({"memory": dbus.UInt64(20 * MEBIBYTE)}, signature="sv")
        self.assert_refused("InvalidSpec", self.alice.job, job, "SetLimits", "a{sv}a{sv}", changes, product.no_options())
        self.assertEqual(self.root.row(job)["state"], "running")

    def test_a_longer_time_limit_keeps_it_alive(self):
        job = self.alice.submit("sh", "-c", "sleep 5; exit 6", time_limit=3 * SECOND)
        self.wait_until(job, "running")
        product.jobctl_ok("set", str(job), "--time", "60s")
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=6)

    def test_a_signal_reaches_the_job(self):
        script = "trap 'echo checkpoint; exit 11' USR1; echo ready; while :; do sleep 0.2; done"
        job = self.alice.submit("sh", "-c", script)
        self.wait_until(job, "running")
        product.eventually(lambda: b"ready" in self.alice.log(job), 30, "the trap is set")
        options = dbus.Dictionary({"who": "main"}, signature="sv")
        self.alice.job(job, "Signal", "ia{sv}", dbus.Int32(signal.SIGUSR1), options)
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=11)
        self.assertIn(b"checkpoint", self.alice.log(job))

    def test_progress_that_a_job_reports_is_shown(self):
        job = self.alice.submit(*WITHOUT_END)
        self.wait_until(job, "running")
        self.alice.job(job, "ReportProgress", "dsa{sv}", dbus.Double(0.25), "epoch 1 of 4", product.no_options())
        properties = self.alice.job_properties(job)
        self.assertEqual((properties["Progress"], properties["ProgressMessage"]), (0.25, "epoch 1 of 4"))

    def test_a_requeued_job_runs_again_under_its_id(self):
        job = self.alice.submit("sh", "-c", "[ $MLJOB_ATTEMPT = 2 ] && exit 8; sleep 1000")
        self.wait_until(job, "running")
        product.jobctl_ok("requeue", str(job))
        row = self.wait_finished(job)
        self.assert_result(row, "failed", "exit", exit_code=8)
        self.assertEqual(row["attempt"], 2)


class WhatItGets(Scenario):
    ENVIRONMENT = {
        "PLAIN": "value",
        "EMPTY": "",
        "NEWLINES": "one\ntwo\n\nfour\n",
        "QUOTES": "\"double\" 'single' `backquote` \\ \\n \\\\",
        "DOLLAR": "$HOME ${HOME} $$ %n %%",
        "SPACES": "  leading, \ttab and trailing  ",
        "HASH": "# no comment",
        "UNICODE": "Überprüfung 訓練",
    }

    def dump(self, **keys):
        """The environment that a job of alice's really has."""
        job = self.alice.submit("cat", "/proc/self/environ", **keys)
        self.assert_result(self.wait_finished(job), "done")
        entries = self.alice.log(job).decode().split("\0")
        return dict(entry.partition("=")[::2] for entry in entries if entry)

    def test_the_environment_arrives_as_it_was_given(self):
        environment = self.dump(environment=[f"{key}={value}" for key, value in self.ENVIRONMENT.items()])
        self.assertEqual({key: environment.get(key) for key in self.ENVIRONMENT}, self.ENVIRONMENT)

    def test_a_job_knows_who_it_is(self):
        environment = self.dump(name="named", class_="train", memory=100 * MEBIBYTE)
        self.assertEqual(environment["MLJOB_NAME"], "named")
        self.assertEqual(environment["MLJOB_CLASS"], "train")
        self.assertEqual(environment["MLJOB_ATTEMPT"], "1")
        self.assertEqual(environment["MLJOB_MEMORY"], str(100 * MEBIBYTE))
        self.assertTrue(environment["MLJOB_ID"].isdigit())

    def test_the_environment_of_a_job_is_hidden_from_others(self):
        job = self.alice.submit(*WITHOUT_END, environment=["TOKEN=secret-of-alice"])
        row = self.wait_until(job, "running")
        shown = product.run(["systemctl", "show", row["unit"]], user=BOB).stdout
        shown += json.dumps(self.client(BOB).job_properties(job))
        self.assertIn(row["unit"], shown)
        self.assertNotIn("secret-of-alice", shown)
        files = [path for path in Path("/run/mljobd").rglob("*") if path.is_file()]
        self.assertTrue(any("secret-of-alice" in path.read_text(errors="replace") for path in files))
        for path in files:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_arguments_arrive_as_they_were_given(self):
        words = ["$HOME", "${HOME}", "$$", "%n", "a b", "", "'quoted'", "*", "\\x41", "line\nbreak", ";", "-", "@x"]
        job = self.alice.submit("printf", "%s\\0", *words)
        self.assert_result(self.wait_finished(job), "done")
        self.assertEqual(self.alice.log(job).decode().split("\0")[:-1], words)

    def test_a_program_whose_name_systemd_would_read_as_a_prefix(self):
        for prefix in ("-", "@", "!", "+", ":"):
            program = Path("/tmp") / f"{prefix}mljobd-program"
            program.write_text("#!/bin/sh\nexit 12\n", encoding="ascii")
            self.addCleanup(program.unlink)
            program.chmod(0o755)
            job = self.alice.submit(str(program))
            self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=12)


class OutputFiles(Scenario):
    FOLDER = Path("/home/alice/output")

    def setUp(self):
        super().setUp()
        self.FOLDER.mkdir()
        self.addCleanup(shutil.rmtree, self.FOLDER)
        os.chown(self.FOLDER, ALICE, ALICE)

    def test_output_and_error_go_where_they_were_sent(self):
        output, error = self.FOLDER / "out", self.FOLDER / "err"
        for _ in range(2):
            self.wait_finished(
                product.submit("-o", str(output), "-e", str(error), "--", "sh", "-c", "echo said; echo failed >&2")
            )
        self.assertEqual(output.read_text(), "said\nsaid\n", "appended to")
        self.assertEqual(error.read_text(), "failed\nfailed\n")
        self.assertEqual(output.stat().st_uid, ALICE)

    def assert_closed_to_alice(self, path):
        job = self.alice.submit("echo", "intruder", output=str(path))
        row = self.wait_finished(job)
        self.assert_result(row, "start-failed", "start")
        self.assertIn(str(path), row["cause"]["advice"])

    def test_a_file_of_root_is_not_touched(self):
        target = Path("/etc/mljobd-scenario-root-file")
        target.write_text("root's\n", encoding="ascii")
        self.addCleanup(target.unlink)
        target.chmod(0o644)
        self.assert_closed_to_alice(target)
        self.assertEqual(target.read_text(), "root's\n")

    def test_a_link_to_a_file_of_root_is_no_way_around(self):
        link = self.FOLDER / "link"
        link.unlink(missing_ok=True)
        link.symlink_to("/etc/mljobd-scenario-new-file")
        os.chown(link, ALICE, ALICE, follow_symlinks=False)
        self.assert_closed_to_alice(link)
        self.assertFalse(Path("/etc/mljobd-scenario-new-file").exists())

    def test_a_folder_that_does_not_exist_is_named(self):
        self.assert_closed_to_alice(self.FOLDER / "missing" / "out")


class Foreground(Scenario):
    def test_it_runs_here_and_gives_its_exit_code(self):
        done = product.jobctl("run", "--class", "train", "--", "sh", "-c", "cat; echo $MLJOB_ID >&2; exit 9", stdin=None,
                              input="typed\n")  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (9, "typed\n"), done.stderr)
        job = int(done.stderr.split()[-1])
        self.assert_result(self.wait_finished(job), "failed", "exit", exit_code=9)

    def test_a_signal_is_told_as_a_shell_does(self):
        done = product.jobctl("run", "--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV, done.stderr)

    def start_run(self, *arguments):
        client = product.start(["jobctl", "run", *arguments], user=ALICE)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        (job,) = product.eventually(
            lambda: [job for job, row in self.root.rows().items() if row["state"] == "running"], 30, "it runs"
        )
        return client, job

    def test_its_processes_are_in_a_scope_with_its_limits(self):
        _, job = self.start_run("--mem", "150M", "--", "sh", "-c", "sleep 1000 & wait")
        row = self.root.row(job)
        folder = product.slice_folder(row)
        self.assertEqual(row["unit"], f"mljob-{job}-1.scope")
        self.assertEqual((folder / "memory.max").read_text(), f"{150 * MEBIBYTE}\n")
        product.eventually(lambda: len(product.processes_below(folder)) == 2, 10, "the child is inside too")

    def test_interrupting_ends_it(self):
        client, job = self.start_run("--", "sleep", "1000")
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.wait(timeout=40), 128 + signal.SIGINT)
        row = self.wait_finished(job)
        self.assertEqual(row["exit_signal"], signal.SIGINT, row)

    def test_its_own_limit_is_proven_too(self):
        script = "held = []\nwhile True:\n    held.append(bytearray(4 << 20))"
        done = product.jobctl("run", "--mem", "60M", "--", "python3", "-c", script)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        (row,) = self.root.rows(limit=dbus.UInt32(1)).values()
        self.assert_result(self.wait_finished(row["id"]), "oom", "own-limit")

    def test_a_client_that_dies_leaves_an_unknown_end(self):
        client, job = self.start_run("--", "sh", "-c", "sleep 2")
        client.kill()
        client.wait()
        self.assert_result(self.wait_finished(job), "lost", "unknown", exit_code=-1)

    def test_it_never_waits_for_room(self):
        most = self.root.properties()["Memory"]["jobs_memory_max"]
        self.wait_until(self.alice.submit(*WITHOUT_END, memory=most * 3 // 4), "running")
        done = product.jobctl("run", "--mem", "50%", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("jobctl submit", done.stderr)

    def test_cancelling_ends_it(self):
        client, job = self.start_run("--", "sleep", "1000")
        product.jobctl_ok("cancel", str(job))
        self.assertEqual(client.wait(timeout=40), 128 + signal.SIGTERM)
        self.assert_result(self.wait_finished(job), "cancelled", "user")


class Adopted(Scenario):
    def start_process(self, *command, user=ALICE):
        process = product.start(list(command), user=user)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_running_processes_come_under_a_job(self):
        processes = [self.start_process("sleep", "1000") for _ in range(2)]
        pids = [str(process.pid) for process in processes]
        adopted = product.jobctl_ok("adopt", *pids, "--class", "validate", "--mem", "200M")
        (row,) = self.root.rows(limit=dbus.UInt32(1)).values()
        self.assertIn(str(row["id"]), adopted)
        self.assertEqual((row["kind"], row["state"]), ("adopted", "running"))
        folder = product.slice_folder(row)
        self.assertEqual(sorted(product.processes_below(folder)), sorted(int(pid) for pid in pids))
        self.assertEqual((folder / "memory.max").read_text(), f"{200 * MEBIBYTE}\n")
        product.jobctl_ok("cancel", str(row["id"]))
        self.assert_result(self.wait_finished(row["id"]), "cancelled", "user")
        for process in processes:
            self.assertEqual(process.wait(timeout=10), -signal.SIGTERM)

    def test_how_an_adopted_process_ended_is_not_guessed(self):
        process = self.start_process("sleep", "3")
        product.jobctl_ok("adopt", str(process.pid))
        (row,) = self.root.rows(limit=dbus.UInt32(1)).values()
        self.assert_result(self.wait_finished(row["id"]), "lost", "unknown", exit_code=-1)

    def test_a_process_of_another_user_is_not_taken(self):
        process = self.start_process("sleep", "1000", user=BOB)
        done = product.jobctl("adopt", str(process.pid))
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("mljob", product.cgroup_of(process.pid))


class Configuration(Scenario):
    def test_a_bad_file_is_refused_with_its_line_and_the_old_one_stays(self):
        product.CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
        product.CONFIGURATION.write_text('{\n  // small\n  "log_limit": "7M",\n  "no_such_key": 1\n}\n', encoding="ascii")
        self.addCleanup(self.forget_configuration)
        message = self.assert_refused("InvalidConfig", self.root.manager, "Reload")
        self.assertIn(f"{product.CONFIGURATION}:4:", message)
        self.assertIn("no_such_key", message)
        self.assert_result(self.wait_finished(self.alice.submit("true")), "done")

    def test_only_root_may_reload(self):
        self.assert_refused("NotAuthorized", self.alice.manager, "Reload")

    def test_systemctl_reload_reads_it_too(self):
        product.CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
        product.CONFIGURATION.write_text('{"classes": [{"name": "nightly", "cpu_weight": 50}]}', encoding="ascii")
        self.addCleanup(self.forget_configuration)
        product.checked(["systemctl", "reload", "mljobd.service"])
        self.assertIn("nightly", [row["name"] for row in self.root.manager("ListClasses")])


class Reading(Scenario):
    def test_lists_and_status_for_people_and_programs(self):
        job = product.submit("-J", "readable", "--class", "train", "--", "sh", "-c", "exit 3")
        self.wait_finished(job)
        table = product.jobctl_ok("list", "--all")
        self.assertRegex(table.splitlines()[0], r"ID\s+NAME\s+CLASS\s+USER\s+ST\b")
        self.assertRegex(table, rf"(?m)^\s*{job}\s+readable\s+train\s+alice\s+F\b")
        self.assertNotIn("\x1b", table, "no colour for a pipe")
        listed = product.jobctl_json("list", "--all")
        self.assertEqual(listed["version"], 1)
        (entry,) = [entry for entry in listed["jobs"] if entry["id"] == job]
        self.assertEqual(
            (entry["name"], entry["class"], entry["state"], entry["result"], entry["exit_code"]),
            ("readable", "train", "finished", "failed", 3),
        )
        (status,) = product.jobctl_json("status", str(job))["jobs"]
        self.assertEqual(status["cause"]["what"], "exit")
        self.assertIn("readable", product.jobctl_ok("status", str(job)))
        self.assertIn("mljobd", product.jobctl_ok("status"))

    def test_every_state_change_is_an_event(self):
        job = product.submit("--", "sleep", "1")
        self.wait_finished(job)
        events = [event for event in product.jobctl_json("events")["events"] if event["job"] == job]
        steps = [event["new"] for event in events if event["kind"] == "state"]
        self.assertEqual(steps, ["queued", "starting", "running", "finished"])

    def test_exit_codes_of_jobctl(self):
        self.assertEqual(product.jobctl("status", "4000000000").returncode, 4)
        self.assertEqual(product.jobctl("submit", "--mem", "12", "--", "true").returncode, 2)
        job = product.submit("--", "true")
        self.wait_finished(job)
        self.assertEqual(product.jobctl("cancel", str(job)).returncode, 3)
        waiting = product.submit("--hold", "--", "true")
        self.assertEqual(product.jobctl("wait", str(waiting), "--timeout", "1s").returncode, 124)

    def test_a_test_submission_stores_nothing(self):
        before = set(self.root.rows())
        product.jobctl_ok("submit", "--test-only", "--mem", "100M", "--", "true")
        self.assertEqual(set(self.root.rows()), before)
