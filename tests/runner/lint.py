"""Formatting, well-formedness, the other compiler and static analysis of everything that is tracked."""

import json
import subprocess
from pathlib import Path

from .layers import PROCESSORS, build

PRESET = "clang"


def lint(layer, _):
    files = tracked_files()
    check_all(layer, "clang-format", ["clang-format-19", "--dry-run", "-Werror"], of_kind(files, ".cpp", ".hpp"))
    check_all(layer, "shellcheck", ["shellcheck"], [path for path in files if is_shell_script(path)])
    interfaces = [path for path in of_kind(files, ".xml") if path.parts[0] == "dbus"]
    check_all(layer, "xmllint", ["xmllint", "--noout"], interfaces)
    build(layer, PRESET)


def analysis(layer, _):
    # The whole build, not its configuration alone: the analysis reads generated headers.
    build(layer, PRESET)
    analyse(layer, of_kind(tracked_files(), ".cpp"))


def tracked_files():
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    # A file that somebody has just removed is still tracked.
    return [path for path in map(Path, tracked) if path.is_file()]


def of_kind(files, *suffixes):
    return [path for path in files if path.suffix in suffixes]


def is_shell_script(path):
    with open(path, "rb") as file:
        first_line = file.readline(80)
    return first_line.startswith(b"#!") and first_line.split()[-1].rsplit(b"/")[-1] in (b"sh", b"bash")


def check_all(layer, what, command, files):
    if files:
        layer.check(f"{what} ({len(files)} files)", layer.run([*command, *files], show) == 0)


def analyse(layer, files):
    """clang-tidy, one file to a process, as many processes as there are processors."""
    database = Path(f"build/{PRESET}/compile_commands.json")
    compiled = {entry["file"] for entry in json.loads(database.read_text(encoding="utf-8"))}
    analysed = [path for path in files if str(path.absolute()) in compiled]
    # xargs, because it runs them in parallel and fails when one of them does.
    tidy = f"clang-tidy-19 --quiet --warnings-as-errors='*' -p build/{PRESET}"
    command = ["sh", "-c", f'printf "%s\\0" "$@" | xargs -0 -n 1 -P {PROCESSORS} {tidy}', "sh", *analysed]
    if analysed:
        layer.check(f"clang-tidy ({len(analysed)} files)", layer.run(command, show_findings) == 0)


def show(line):
    print(f"  | {line}", flush=True)


def show_findings(line):
    if "warnings generated" not in line and "warning generated" not in line and line.strip():
        show(line)
