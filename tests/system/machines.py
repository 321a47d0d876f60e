"""The machines that test modules may ask for with `MACHINE = "name"`."""

DEFAULT = "plain"

# The values are those of `vm up`. A cold machine boots, so its boot id is new and it may reboot.
MACHINES = {
    "plain": {"memory": "2G", "cpus": 2},
    "swap": {"memory": "2G", "cpus": 2, "swap": "1G"},
    # Room for everything that has to give way.
    "parking": {"memory": "2G", "cpus": 2, "swap": "2G"},
    # A kernel that does not measure pressure.
    "blind": {"memory": "2G", "cpus": 2, "kernel_options": "psi=0"},
    "reboot": {"memory": "2G", "cpus": 2, "cold": True},
    # Of its own for the package, which is removed in it.
    "package": {"memory": "2G", "cpus": 2},
    "topology": {"memory": "4G", "smp": "8,sockets=2,cores=2,threads=2", "numa_nodes": 2},
}
