"""What the image is made of. A change here, in customize, initramfs-init or rootfs/ makes a new image."""

import hashlib
from pathlib import Path

RECIPE_FOLDER = Path(__file__).resolve().parent.parent
DEFAULT_SUITE = "bookworm"
DISK_SIZE = "6G"

COMMON_PACKAGES = """
    systemd systemd-sysv dbus dbus-user-session libpam-systemd polkitd openssh-server
    iproute2 procps sudo kmod e2fsprogs python3 python3-dbus python3-gi libglib2.0-bin
    python3-sklearn task-spooler strace acl jq file libsqlite3-0 libsmartcols1 libsystemd0
    libcap2 libncursesw6
""".split()
# Other guards of memory: masked, for what compares with them and for what has to live beside them.
GUARD_PACKAGES = "systemd-oomd earlyoom nohang".split()
SUITE_PACKAGES = {
    "bookworm": ["libsdbus-c++1", "libspdlog1.10", "libfmt9"],
    "trixie": ["libsdbus-c++2", "libspdlog1.15", "libfmt10"],
}
# Nobody reads manuals in the machine, and scipy drags a compiler in for a feature nobody uses there.
EXCLUDED_PATHS = (
    "/usr/share/man/*",
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/include/boost/*",
    "/usr/lib/gcc/x86_64-linux-gnu/*/cc1*",
    "/usr/lib/gcc/x86_64-linux-gnu/*/lto*",
)
INITRAMFS_MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "ext4")


def recipe_key(suite):
    """Changes whenever anything changes that the image is made from."""
    digest = hashlib.sha256(suite.encode())
    files = [Path(__file__).resolve(), RECIPE_FOLDER / "customize", RECIPE_FOLDER / "initramfs-init"]
    files += sorted(path for path in (RECIPE_FOLDER / "rootfs").rglob("*") if path.is_file())
    for path in files:
        digest.update(str(path.relative_to(RECIPE_FOLDER)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
