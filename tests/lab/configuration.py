"""How the hosts of the lab are configured: users, keys, sudo, sshd."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.hosts import Host

USERS = {"bench": 2000, "ops": 2001}
"""bench uses sudo with its password, ops without one; root only logs in by key."""
PASSWORD = "benchpw"
PASSPHRASE = "lab phrase"
SUDOERS = """\
Defaults env_reset,secure_path="/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
bench ALL=(ALL:ALL) ALL
ops ALL=(ALL:ALL) NOPASSWD: ALL
"""
SSHD = """\
HostKey /etc/ssh/host_key
UsePAM yes
PasswordAuthentication yes
KbdInteractiveAuthentication yes
PermitRootLogin prohibit-password
UseDNS no
LogLevel VERBOSE
Subsystem sftp internal-sftp
"""


def layer(host: Host) -> Path:
    """Its layer over the base, made anew: users, keys, sshd."""
    config = host.folder / "config"
    shutil.rmtree(config, ignore_errors=True)
    for folder in ("etc/ssh", "home", "root/.ssh"):
        (config / folder).mkdir(parents=True)
    etc = config / "etc"
    password = host.lab.password_hash
    for name, line in (
        ("passwd", "{user}:x:{id}:{id}::/home/{user}:/bin/bash"),
        ("group", "{user}:x:{id}:"),
        ("shadow", "{user}:{password}:19000:0:99999:7:::"),
    ):
        shutil.copy2(host.lab.base / "etc" / name, etc / name)
        with (etc / name).open("a") as file:
            for user, number in USERS.items():
                print(line.format(user=user, id=number, password=password), file=file)
    keys = host.lab.authorized_keys
    for user, number in (*USERS.items(), ("root", 0)):
        home = config / ("root" if user == "root" else f"home/{user}")
        (home / ".ssh").mkdir(parents=True, exist_ok=True)
        (home / ".ssh/authorized_keys").write_text(keys)
        for path in (home, home / ".ssh", home / ".ssh/authorized_keys"):
            os.chown(path, number, number)
            path.chmod(0o700 if path.is_dir() else 0o600)
    (etc / "sudoers").write_text(SUDOERS)
    (etc / "sudoers").chmod(0o440)
    names = "".join(f"{h.address} {h.name}\n" for h in host.lab.hosts)
    (etc / "hosts").write_text(f"127.0.0.1 localhost\n{names}")
    (etc / "hostname").write_text(f"{host.name}\n")
    shutil.copy(host.folder / "host_key", etc / "ssh/host_key")
    (etc / "ssh/host_key").chmod(0o600)
    (etc / "ssh/sshd_config").write_text(sshd_config(host))
    return config


def sshd_config(host: Host) -> str:
    return f"{host.sshd_config}\n{SSHD}"
