"""The Debian packages that each layer needs, installed only if they are missing."""

import os
import subprocess

BUILD = """
    build-essential g++ cmake ninja-build ccache pkg-config dbus python3 libsdbus-c++-dev libsdbus-c++-bin
    libsystemd-dev nlohmann-json3-dev libspdlog-dev catch2 libcli11-dev libsqlitecpp-dev libsqlite3-dev
    libexpected-dev libsmartcols-dev
""".split()
CLANG = "clang-19 libclang-rt-19-dev".split()
LINT = [*CLANG, *"clang-tidy-19 clang-format-19 shellcheck libxml2-utils git".split()]
PACKAGING = "debhelper scdoc fakeroot dpkg-dev git".split()
MACHINES = "qemu-system-x86 qemu-utils mmdebstrap busybox-static cpio openssh-client e2fsprogs util-linux".split()

OF_LAYER = {
    "lint": BUILD + LINT,
    "analysis": BUILD + LINT,
    "unit": BUILD,
    "bus": [*BUILD, "python3-dbus"],
    "sanitizers": [*BUILD, "python3-dbus"],
    "fuzz": BUILD + CLANG,
    "system": BUILD + PACKAGING + MACHINES,
}


class PackagesMissing(Exception):
    """Packages that could not be installed."""


def missing_packages(layers):
    wanted = sorted({package for layer in layers for package in OF_LAYER[layer]})
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package}\\n", *wanted]
    listed = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    installed = {line.split()[1] for line in listed.splitlines() if line.startswith("installed ")}
    return [package for package in wanted if package not in installed]


def ensure_packages(layers, log):
    missing = missing_packages(layers)
    if not missing:
        return
    if os.geteuid() != 0:
        raise PackagesMissing(
            "missing packages, install them as root: apt-get install --no-install-recommends " + " ".join(missing)
        )
    print(f"installing {' '.join(missing)}", flush=True)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *missing]
    with open(log, "wb") as output:
        for command in (["apt-get", "update", "-q"], install):
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
            if done.returncode != 0:
                raise PackagesMissing(f"{' '.join(command[:2])} failed: see {log}")
