"""The machine is rebooted with jobs waiting and running."""

import reboot

MACHINE = "reboot"
PHASES = ("before", "after")


class Before(reboot.Before):
    """The scenarios of every way down."""


class After(reboot.After):
    """The same for the way up."""
