"""Starts a server with only the privileges it needs. Standard library only.

A single file for Python 3.10 or later, copied to the machine and started with the server's
command as its arguments, which it then executes. Its settings are in $PONGBENCH_CONFINE, as JSON:
    folder, home, tmp   the directories it may write to, created if missing
    cache               where runtimes are kept, each tree of them two levels below
    uses                paths of its runtime
    env                 its environment, beside PATH, HOME, TMPDIR, LANG and the run's marks
    rights              those its entry states: root, files, shared-memory
    report              the file for the report of what is in force: {"user", "landlock", "rights"}
Root becomes nobody, with a private mount namespace where directories closed to others would be in
the way. Landlock then restricts access to system files, the runtime and those directories.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import pwd
import signal
import stat
import struct
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

SPECIFICATION = "PONGBENCH_CONFINE"
MARKS = ("PONGBENCH_RUN", "PONGBENCH_PROCESS")
"""Marks by which runner and janitor recognise what they started."""

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"),
    *("/nix/store", "/gnu/store", "/proc", "/sys"),
)
NOBODY = 65534
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHARED_MEMORY = "/dev/shm"
BESIDE = ("bin", "lib", "lib64", "libexec", "conf")
"""Installed parts below a prefix; the rest of it may be a user's own files."""

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITIES_V3 = 0x20080522
LAST_CAPABILITY = 63
CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_SLAVE = 2, 4, 4096, 16384, 1 << 19

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
"""Access rights for files that Landlock knows, by the version of its interface; later: all 16."""
SCOPED = 0b11
"""No abstract sockets or signals beyond the server's own processes, from version 6."""

libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The text says what to do."""


def main() -> NoReturn:
    parent = os.getppid()
    task = json.loads(os.environ[SPECIFICATION])
    command = sys.argv[1:]
    own = [task["folder"], task["home"], task["tmp"]]
    rights = task["rights"]
    try:
        for folder in own:
            os.makedirs(folder, exist_ok=True)
        report = os.open(task["report"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC)
        trees = trees_of(task["uses"], task["cache"])
        user = known(os.geteuid() if os.geteuid() or "root" in rights else NOBODY)
        if user.pw_uid != os.geteuid():
            hand_over(own, user)
            for tree in trees:
                if within(tree, task["cache"]):
                    let_read(tree)
            make_reachable([*own, *trees], task["cache"])
        os.chdir(task["folder"])
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        version = 0 if "files" in rights else restrict(own, trees, "shared-memory" in rights)
        if not (os.geteuid() == 0 and "root" in rights):
            give_up(user)
        in_force = {"user": user.pw_name, "landlock": version, "rights": sorted(rights)}
        os.write(report, json.dumps(in_force).encode())
    except Refused as refused:
        sys.exit(f"It was not started: {refused}")
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        sys.exit(
            f"It was not started, because privileges could not be dropped: {error.strerror}{where}."
        )
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # A change of user resets it.
    if os.getppid() != parent:
        os._exit(127)
    env = environment(task, [*SYSTEM, *trees])
    try:
        os.execvpe(command[0], command, env)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}.")


def environment(task: dict[str, Any], allowed: Iterable[str]) -> dict[str, str]:
    """Return the server's whole environment."""
    searched = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return {
        "PATH": os.pathsep.join(p for p in searched if any(within(p, tree) for tree in allowed)),
        "HOME": task["home"],
        "TMPDIR": task["tmp"],
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in MARKS if name in os.environ},
        **task["env"],
    }


def known(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:  # Such users exist in containers.
        return pwd.struct_passwd((str(uid), "x", uid, os.getegid() or uid, "", "/", ""))


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


# -- what is its runtime


def trees_of(used: Iterable[str], cache: str) -> list[str]:
    """Return the directories and files outside the system that a runtime needs."""
    found: set[str] = set()
    for path in used:
        if within(path, cache):
            kind, name, *_ = [*os.path.relpath(path, cache).split("/"), "", ""]
            found.add(os.path.join(cache, kind, name))
        elif os.path.isdir(path):
            found.add(path)
        else:
            found |= around(path)
    for path in [*used, *found]:
        for link in linked(path):
            found |= around(link)
        found |= based_on(path)
    outside = [p for p in found if not any(within(p, folder) for folder in SYSTEM)]
    inside = {p for p in outside for tree in outside if p != tree and within(p, tree)}
    return sorted(path for path in outside if path not in inside and os.path.exists(path))


def linked(path: str) -> Iterable[str]:
    """Return each step of a symbolic link, and its target."""
    for _ in range(8):
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        yield path
        yield os.path.realpath(path)


def around(program: str) -> set[str]:
    """Return a program's folder, and what is installed beside it."""
    folder = os.path.dirname(program)
    if os.path.basename(folder) not in ("bin", "sbin"):
        return {program}
    return {folder, *(os.path.join(os.path.dirname(folder), name) for name in BESIDE)}


def based_on(environment: str) -> set[str]:
    """Return the base Python of a virtual environment."""
    try:
        with open(os.path.join(environment, "pyvenv.cfg"), encoding="utf-8") as file:
            pairs = [line.partition("=") for line in file]
    except OSError:
        return set()
    found: set[str] = set()
    for key, _, value in pairs:
        if key.strip() == "home":
            home = os.path.join(value.strip(), "python")
            found |= around(home) | around(os.path.realpath(home))
    return found


# -- from root to nobody


def hand_over(folders: Iterable[str], user: pwd.struct_passwd) -> None:
    os.fchown(1, user.pw_uid, user.pw_gid)  # Some servers open /dev/stdout or /dev/stderr again.
    for top in folders:
        if os.lstat(top).st_uid == user.pw_uid:
            continue  # Created by an earlier start; its content is the server's own.
        for folder, _, names in os.walk(top):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)


def let_read(tree: str) -> None:
    """Make files readable that were built under a strict umask."""
    if os.stat(tree).st_mode & stat.S_IROTH:
        return
    for folder, _, names in os.walk(tree, topdown=False):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            if not os.path.islink(path):
                mode = stat.S_IMODE(os.stat(path).st_mode)
                os.chmod(path, mode | (mode & 0o500) >> 6)


def make_reachable(paths: list[str], cache: str) -> None:
    """Make paths below directories closed to others reachable: by mounts private to this process
    or, where it may not mount, by opening directories in the cache."""
    closed = {path: folder for path in paths if (folder := closed_above(path))}
    if not closed:
        return
    try:
        unshare_mounts()
    except PermissionError:
        for path in closed:
            open_up_to(path, cache)
        return
    umask = os.umask(0o022)
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in sorted(closed)}
    for folder in sorted(set(closed.values())):
        mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for path, descriptor in opened.items():
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.makedirs(path, exist_ok=True)
        elif not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
        mount(f"/proc/self/fd/{descriptor}", path, None, MS_BIND)
        os.close(descriptor)
    os.umask(umask)


def unshare_mounts() -> None:
    """Mount from here on for this process and its children alone."""
    check(libc.unshare(CLONE_NEWNS))
    try:
        mount(None, "/", None, MS_REC | MS_SLAVE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # In a chroot whose root is no mount: make it one, on a mount that already is our own.
        mount(None, "/proc", None, MS_SLAVE)
        mount("/", "/proc", None, MS_BIND | MS_REC)
        mount(None, "/proc", None, MS_REC | MS_SLAVE)
        os.chroot("/proc")


def open_up_to(path: str, cache: str) -> None:
    while folder := closed_above(path):
        if not within(folder, cache):
            raise Refused(
                f"root gives its rights up and becomes nobody, who cannot enter {folder} here; run"
                " as another user, or set PONGBENCH_HOME to a directory that others may enter."
            )
        os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode) | stat.S_IXOTH)


def closed_above(path: str) -> str:
    """Return the topmost directory above it that others may not enter; empty: there is none."""
    folder = ""
    for part in os.path.dirname(path).split("/"):
        folder = os.path.join(folder, part) or "/"
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            return folder
    return ""


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    words = (word.encode() if word else None for word in (source, target, kind))
    check(libc.mount(*words, ctypes.c_ulong(flags), data.encode()), target)


def prctl(option: int, value: int) -> None:
    libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def check(result: int, path: str = "") -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path or None)
    return result


def give_up(user: pwd.struct_passwd) -> None:
    """Give up all capabilities and root, permanently."""
    for capability in range(LAST_CAPABILITY + 1):
        # Needs a capability, and has no effect with no_new_privs.
        prctl(PR_CAPBSET_DROP, capability)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    header = ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITIES_V3, 0))
    check(libc.capset(header, ctypes.create_string_buffer(24)))


# -- Landlock


def restrict(own: list[str], trees: list[str], shared_memory: bool) -> int:
    """Allow only what is named here. Returns the version of Landlock, 0 where there is none."""
    version: int = libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return 0
    handled = HANDLED.get(version, (1 << 16) - 1)
    wanted = struct.pack("=QQQ", handled, 0, SCOPED if version >= 6 else 0)
    ruleset = check(
        libc.syscall(LANDLOCK_CREATE, ctypes.create_string_buffer(wanted), ctypes.c_size_t(24), 0)
    )
    written = [*own, *DEVICES, *([SHARED_MEMORY] if shared_memory else [])]
    for paths, access in (((*SYSTEM, *trees), READ), (written, handled)):
        for path in paths:
            allow(ruleset, path, access & handled)
    check(libc.syscall(LANDLOCK_RESTRICT, ruleset, 0))
    os.close(ruleset)
    return version


def allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        access &= OF_FILES
    rule = ctypes.create_string_buffer(struct.pack("=Qi", access, descriptor), 12)
    check(libc.syscall(LANDLOCK_ADD, ruleset, 1, rule, 0), path)
    os.close(descriptor)


if __name__ == "__main__":
    main()
