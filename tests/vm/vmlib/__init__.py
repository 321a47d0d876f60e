"""The proving ground: disposable virtual machines with a real systemd, cgroup v2 and PSI."""
