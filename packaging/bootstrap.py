"""Sets this folder up on a bare machine, with nothing but Python, its pip and the system's apt.

    python3 packaging/bootstrap.py venv          the program and its tools, in .venv
    python3 packaging/bootstrap.py GROUP...      system libraries or programs: see GROUPS
    python3 packaging/bootstrap.py nginx         nginx, in .tools, as a target for measurements

uv comes from PyPI into .tools, in the version and with the hashes of uv.lock, and makes .venv from
the Python `venv_python` chooses. The system's Python is only read: pip is always given a target,
which also makes PEP 668 and a missing venv module no obstacle. What apt has to install is looked
for first, and installed as root or by passwordless sudo; otherwise one sentence names it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from workbench import fetching  # noqa: E402  of the standard library only

TOOLS = ROOT / ".tools"
VENV = ROOT / ".venv"
LEAST_PYTHON = (3, 11)

# Library or program -> Debian package.
QT_OFFSCREEN = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libX11.so.6": "libx11-6",
}
QT_WINDOW = {
    **QT_OFFSCREEN,
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
# A screen, a window manager, hands, and a screen reader's ears for the tests of the window.
SCREEN = {
    **QT_WINDOW,
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "xdotool": "xdotool",
    "dbus-daemon": "dbus",
    "libatspi.so.0": "libatspi2.0-0",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}
# The hosts of the lab bring an sshd; installed here, it would also listen, now and at every boot.
LAB = {"ip": "iproute2", "ssh-keygen": "openssh-client"}
# What builds the installers and tries them on bare machines.
PACKAGE = {
    "debootstrap": "debootstrap",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
    "objdump": "binutils",
    "patchelf": "patchelf",
    "libdeflate-gzip": "libdeflate-tools",
}
# What makes and tries the installer for Windows.
WINDOWS = {
    "debootstrap": "debootstrap",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
    "mvn": "maven",
    "unzip": "unzip",
}
PEERS = {"ab": "apache2-utils", "h2load": "nghttp2-client", "httperf": "httperf", "wrk": "wrk"}

GROUPS = {
    "qt-offscreen": QT_OFFSCREEN,
    "qt-window": QT_WINDOW,
    "screen": SCREEN,
    "lab": LAB,
    "package": PACKAGE,
    "windows": WINDOWS,
    "peers": PEERS,
}


class CannotSetUp(Exception):
    """One sentence for the person at the keyboard: what is missing and what to do."""


SYSTEM_PYTHON = "/usr/bin/python3"


def main(goals: list[str]) -> int:
    try:
        for goal in goals:
            if goal == "venv":
                make_venv()
            elif goal == "nginx":
                unpack_nginx()
            elif goal in GROUPS:
                install_missing(GROUPS[goal])
            else:
                raise CannotSetUp(f"there is no {goal!r}; give venv, nginx, {', '.join(GROUPS)}.")
    except CannotSetUp as problem:
        print(f"bootstrap: {problem}", file=sys.stderr)
        return 1
    return 0


def make_venv() -> None:
    """Bring .venv to the state uv.lock describes."""
    if sys.version_info < LEAST_PYTHON:
        raise CannotSetUp(
            f"Python {sys.version.split()[0]} ({sys.executable}) is too old, 3.11 or later is"
            " needed; name another one, for example: make PYTHON=python3.12"
        )
    uv = install_uv()
    say("setting up .venv ...")
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    env |= fetching.trust()
    env["UV_PROJECT_ENVIRONMENT"] = str(VENV)
    run(
        [str(uv), "sync", "--quiet", "--frozen", "--python", venv_python()],
        env=env,
        otherwise="uv could not set up .venv; its own words are above.",
    )


def install_uv() -> Path:
    """The uv that uv.lock names, from PyPI."""
    version, hashes = locked_uv()
    uv = TOOLS / "uv" / "bin" / "uv"
    if installed_version(uv) == version:
        return uv
    python = base_python()
    if not succeeds([python, "-m", "pip", "--version"]):
        raise CannotSetUp(
            f"{python} has no pip; install it (Debian: apt-get install python3-pip) and try again."
        )
    say(f"fetching uv {version} ...")
    shutil.rmtree(TOOLS / "uv", ignore_errors=True)
    TOOLS.mkdir(exist_ok=True)
    requirements = TOOLS / "uv.txt"
    requirements.write_text(
        " \\\n".join([f"uv=={version}", *(f"    --hash={digest}" for digest in hashes)]) + "\n"
    )
    # A user's or a site's settings may ask pip for --user or a virtual environment: not here.
    env = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    # pip of before 24.2 knows its own certificates only; what its user set comes first.
    env.setdefault("REQUESTS_CA_BUNDLE", fetching.certificates())
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--root-user-action=ignore", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    run(
        [*pip, "--target", str(TOOLS / "uv"), "--requirement", str(requirements)],
        env=env,
        otherwise=f"pip could not fetch uv {version} from PyPI; its own words are above.",
    )
    return uv


def locked_uv() -> tuple[str, list[str]]:
    """uv's version and the hashes of its wheels."""
    import tomllib  # noqa: PLC0415 - Python 3.11: an older one still gets as far as its sentence.

    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    entry = next(package for package in lock["package"] if package["name"] == "uv")
    return entry["version"], [wheel["hash"] for wheel in entry["wheels"]]


def installed_version(uv: Path) -> str:
    """Empty when it is missing or does not run here."""
    try:
        words = subprocess.check_output([str(uv), "--version"], text=True).split()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return words[1] if len(words) > 1 else ""


def base_python() -> str:
    """This Python outside any virtual environment: inside one there may be no pip."""
    return getattr(sys, "_base_executable", None) or sys.executable


def venv_python() -> str:
    """The distribution's Python where it is new enough, unless `make PYTHON=...` named another.

    Distributions build theirs with profile-guided optimisation; one compiled by hand usually is
    not, and costs the load agent several microseconds more for every connection.
    """
    wanted = f"import sys; sys.exit(sys.version_info < {LEAST_PYTHON})"
    chosen = "PYTHON" in os.environ or not Path(SYSTEM_PYTHON).exists()
    if not chosen and succeeds([SYSTEM_PYTHON, "-c", wanted]):
        return SYSTEM_PYTHON
    return base_python()


def install_missing(group: dict[str, str]) -> None:
    """Install by apt those packages of the group whose library or program is not there. A person
    is asked once for what Qt needs: for pictures and for the window."""
    packages = missing(group)
    if not packages:
        return
    names = " ".join(packages)
    asked = " ".join(
        missing(QT_WINDOW | group) if QT_OFFSCREEN.items() <= group.items() else packages
    )
    if not shutil.which("apt-get"):
        raise CannotSetUp(f"this machine lacks what Debian packages as {asked}; install it first.")
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if prefix and not passwordless_sudo():
        raise CannotSetUp(f"system packages are missing; run: sudo apt-get install {asked}")
    say(f"installing {names} ...")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    # A source that cannot be reached need not be the one that matters: what counts is `install`.
    subprocess.call([*apt, "update"], stdout=subprocess.DEVNULL)
    run(
        [*apt, "-y", "-o=Dpkg::Use-Pty=0", "--no-install-recommends", "install", *packages],
        stdout=subprocess.DEVNULL,
        otherwise=f"apt-get could not install {names}; its own words are above.",
    )
    if lacking := [name for name in group if not present(name)]:
        raise CannotSetUp(f"apt-get installed {names}, but still missing: {', '.join(lacking)}")


def missing(group: dict[str, str]) -> list[str]:
    """The packages of the group whose library or program is not there."""
    return sorted({package for name, package in group.items() if not present(name)})


def unpack_nginx() -> None:
    """Debian's nginx without installing it, which would also start it, now and at every boot."""
    folder = TOOLS / "nginx"
    if present("nginx") or (folder / "usr" / "sbin" / "nginx").exists():
        return
    if not shutil.which("apt-get"):
        raise CannotSetUp("this machine lacks nginx; install it first.")
    say("fetching nginx ...")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    otherwise = "apt-get could not fetch nginx; its own words are above."
    apt = ["apt-get", "-qq", "-o=APT::Sandbox::User=", "download", "nginx"]
    run(apt, cwd=folder, otherwise=otherwise)
    for package in folder.glob("*.deb"):
        run(["dpkg-deb", "--extract", str(package), str(folder)], otherwise=otherwise)
        package.unlink()


def present(name: str) -> bool:
    """Is the file there, can the library be loaded, or is the program on the path?"""
    if name.startswith("/"):
        return Path(name).exists()
    if ".so" not in name:
        return bool(shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin"))
    if sys.platform != "linux":
        return True  # Qt's wheels bring all they need there.
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def passwordless_sudo() -> bool:
    return shutil.which("sudo") is not None and succeeds(["sudo", "-n", "true"])


def succeeds(command: list[str]) -> bool:
    quiet = subprocess.DEVNULL
    return subprocess.call(command, stdin=quiet, stdout=quiet, stderr=quiet) == 0


def run(
    command: list[str],
    *,
    otherwise: str,
    cwd: Path = ROOT,
    env: dict[str, str] | None = None,
    stdout: int | None = None,
) -> None:
    if subprocess.call(command, cwd=cwd, env=env, stdout=stdout):
        raise CannotSetUp(otherwise)


def say(text: str) -> None:
    print(f"bootstrap: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
