"""The power is cut while jobs wait and run."""

import reboot

MACHINE = "reboot"
PHASES = ("before", "after")
REBOOT = "power-cut"


class Before(reboot.Before):
    """The scenarios of every way down."""


class After(reboot.After):
    """The same for the way up."""
