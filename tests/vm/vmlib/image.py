"""The machine's disk, kernel and initramfs, built once per recipe and cached."""

import lzma
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from .host import VmError, cache_folder, ensure_programs, locked, say
from .recipe import (
    COMMON_PACKAGES,
    DEFAULT_SUITE,
    DISK_SIZE,
    EXCLUDED_PATHS,
    GUARD_PACKAGES,
    INITRAMFS_MODULES,
    RECIPE_FOLDER,
    SUITE_PACKAGES,
    recipe_key,
)

BUILD_TIMEOUT_SECONDS = 1800
UNUSED_IMAGE_DAYS = 14
UNFINISHED = "building-"


class Image:
    """One complete, read-only image in the cache."""

    def __init__(self, folder):
        self.folder = folder
        self.disk = folder / "disk.raw"
        self.kernel = folder / "vmlinuz"
        self.initramfs = folder / "initramfs"
        self.login_key = folder / "login_key"
        self.snapshots = folder / "snapshots"


def ensure_image(suite=DEFAULT_SUITE):
    """Returns the image of the present recipe, building it if it is not there."""
    if suite not in SUITE_PACKAGES:
        raise VmError(f"unknown suite {suite}: have {', '.join(SUITE_PACKAGES)}")
    ensure_programs()
    images = cache_folder() / "images"
    images.mkdir(exist_ok=True)
    folder = images / f"{suite}-{recipe_key(suite)}"
    if not folder.exists():
        with locked(cache_folder() / "build.lock", "another image build"):
            if not folder.exists():
                build_image(suite, folder)
                remove_unused_images(images)
    os.utime(folder)
    return Image(folder)


def build_image(suite, folder):
    if os.geteuid() != 0:
        raise VmError("building the image needs root")
    started = time.monotonic()
    say(f"building the {suite} image (minutes, once)")
    work = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
    try:
        image = Image(work)
        make_login_key(image)
        make_root(suite, image)
        install_kernel(image)
        make_initramfs(image)
        make_disk(image)
        shutil.rmtree(work / "root")
        shutil.rmtree(work / "kernel")
        image.snapshots.mkdir()
        work.chmod(0o700)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    say(f"image built in {time.monotonic() - started:.0f} s")


def remove_unused_images(images):
    """An image is touched at every use; one that nobody has touched for long is only in the way.

    Called by the one who holds the build lock, so an unfinished folder is left from a killed build.
    """
    oldest = time.time() - UNUSED_IMAGE_DAYS * 24 * 3600
    for folder in images.iterdir():
        if folder.name.startswith(UNFINISHED) or folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def run_tool(command):
    """Runs a build step; what it printed appears only if it fails."""
    with subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=BUILD_TIMEOUT_SECONDS)
        except BaseException:
            # With all of its processes: one that still unpacks would fill the folder again.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
    if process.returncode != 0:
        raise VmError(f"{command[0]} failed with {process.returncode}:\n{output[-4000:].decode(errors='replace')}")


def make_login_key(image):
    run_tool(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "mljobd-vm", "-f", image.login_key])


def make_root(suite, image):
    work = image.folder
    (work / "kernel").mkdir()
    packages = COMMON_PACKAGES + GUARD_PACKAGES + SUITE_PACKAGES[suite]
    hook = f'"{RECIPE_FOLDER}/customize" "$1" "{RECIPE_FOLDER}" "{work}/kernel" "{work}/login_key.pub"'
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(packages)}"]
    command += [f"--dpkgopt=path-exclude={path}" for path in EXCLUDED_PATHS]
    command += ["--dpkgopt=force-unsafe-io", f"--customize-hook={hook}", suite, work / "root"]
    mirror = os.environ.get("MLJOBD_VM_MIRROR")
    if mirror:
        command.append(mirror)
    run_tool(command)


def install_kernel(image):
    (kernel,) = (image.folder / "kernel" / "boot").glob("vmlinuz-*")
    shutil.copyfile(kernel, image.kernel)


def make_disk(image):
    with open(image.disk, "wb"):
        pass
    run_tool(
        [
            "/sbin/mke2fs", "-q", "-t", "ext4", "-L", "root",
            # Everything initialised now: a kernel thread doing it later would disturb the measurements.
            "-E", "lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0",
            "-d", image.folder / "root", image.disk, DISK_SIZE,
        ]
    )  # fmt: skip


def make_initramfs(image):
    """Busybox, the modules that reach the root disk and the network, and a script of a few lines."""
    tree = Path(tempfile.mkdtemp(prefix="initramfs-", dir=image.folder))
    (tree / "bin").mkdir()
    (tree / "modules").mkdir()
    shutil.copy(shutil.which("busybox"), tree / "bin" / "busybox")
    shutil.copy(RECIPE_FOLDER / "initramfs-init", tree / "init")
    # The kernel opens it before it starts init; without it init has no output.
    (tree / "dev").mkdir()
    os.mknod(tree / "dev" / "console", 0o600 | 0o020000, os.makedev(5, 1))
    copy_modules(image.folder / "root", tree / "modules")
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*"))).encode()
    archive = run_tool_with_input(["cpio", "--quiet", "-o", "-H", "newc"], names, cwd=tree)
    image.initramfs.write_bytes(archive)
    shutil.rmtree(tree)


def run_tool_with_input(command, text, **options):
    done = subprocess.run(command, input=text, capture_output=True, check=False, **options)
    if done.returncode != 0:
        raise VmError(f"{command[0]} failed:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def copy_modules(root, target):
    """Copies the modules with their dependencies and writes the order of insertion."""
    (modules,) = (root / "usr/lib/modules").iterdir()
    dependencies = {}
    for line in (modules / "modules.dep").read_text(encoding="ascii").splitlines():
        path, _, needs = line.partition(":")
        dependencies[module_name(path)] = (path, [module_name(need) for need in needs.split()])
    order = []
    for name in INITRAMFS_MODULES:
        add_module(name, dependencies, order)
    for name in order:
        content = (modules / dependencies[name][0]).read_bytes()
        if dependencies[name][0].endswith(".xz"):
            content = lzma.decompress(content)
        (target / f"{name}.ko").write_bytes(content)
    (target / "order").write_text("".join(f"{name}.ko\n" for name in order), encoding="ascii")


def module_name(path):
    return Path(path).name.split(".")[0].replace("-", "_")


def add_module(name, dependencies, order):
    # Built-in modules are not in modules.dep and need no insertion.
    if name in order or name not in dependencies:
        return
    for need in dependencies[name][1]:
        add_module(need, dependencies, order)
    order.append(name)
