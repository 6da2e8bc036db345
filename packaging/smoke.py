"""Installs what `build.py` made on bare machines and uses it there, as a colleague would.

    .venv/bin/python packaging/smoke.py [bookworm] [trixie] [NAME OF A CHECK]

Each machine is a Debian without Python and without fonts, in namespaces of its own: no network
but loopback, an ordinary user, a screen (Xvfb). Needs root, debootstrap and overlayfs; the bases
stay in .tools/smoke. Pictures of the window go to out/smoke, and what was tried into
docs/installing.md.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tried  # noqa: E402
from bootstrap import QT_WINDOW  # noqa: E402
from framebuffer import keep, share  # noqa: E402

from app.theme import LIGHT  # noqa: E402
from workbench import __version__  # noqa: E402
from workbench.fetching import certificates  # noqa: E402

MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
BASES = ROOT / ".tools" / "smoke"
INSTALLER = ROOT / "dist" / f"pongbench-{__version__}-linux-x86_64.run"
PACKAGE = ROOT / "dist" / f"pongbench_{__version__}_amd64.deb"
PICTURES = ROOT / "out" / "smoke"
USER = 1000
HOME = "/home/colleague"
OPT = f"{HOME}/.local/opt/pongbench"
SERVERS = ("asyncio-streams", "asyncio-protocol", "gevent")
SCREEN = (1280, 800)
BESIDE = {
    "desktop": ("shared-mime-info", "desktop-file-utils", "libglib2.0-bin", "xdg-utils"),
    "sshd": ("openssh-server", "systemd-standalone-sysusers"),  # in place of systemd itself
}
"""What a desktop knows file types by, and what is measured over SSH. Kept beside the base, which
stays bare, in folders of /var."""
ROOTS_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
SYSTEMS = {"bookworm": "Debian 12", "trixie": "Debian 13"}
BOX, PORT = "box", 2298
KIND = "application/x-pongbench-session"
ENDS_WITHIN_S = 600.0
STILL_S = 6.0
"""A window that has not changed for so long has been drawn."""


PARTS = """
from app.licences import components
for part in components():
    assert "contains no licence text" not in part.text[:120], part
    print(f"{part.name} {part.version}".strip())
"""
"""What the about box shows, asked in the bundle."""


PRESSED = """
import sys, time
from PySide6.QtCore import QTimer
from app import application
from app.shell.main_window import MainWindow

wanted, picture = sys.argv[1:]
begun = []

def step(window):
    start, busy = window.start, window.desk.busy
    if not begun and start.compare.servers.count() and time.monotonic() > opened + 8:
        (start.quick if wanted == "quick" else start.compare.run).click()
        begun.append(time.monotonic())
    elif begun and not busy and time.monotonic() > begun[0] + 5:
        window.grab().save(picture)
        print("ended:", window.live.error.text)
        window.close()

made = MainWindow.__init__
def make(window, *words, **named):
    made(window, *words, **named)
    window.presser = QTimer(window)
    window.presser.timeout.connect(lambda: step(window))
    window.presser.start(200)

MainWindow.__init__ = make
opened = time.monotonic()
application.run(None)
"""
"""Presses a button of the start page in the bundle, and waits for the end of its run."""
TOLD = "out of reach"


class Failed(Exception):
    """What a colleague would have run into."""


class Machine:
    """A bare Debian with a layer of its own that is thrown away."""

    def __init__(self, base: Path, layer: Path) -> None:
        self.base, self.layer = base, layer
        self.upper = layer / "upper"
        for name in ("upper", "work", "root"):
            (layer / name).mkdir(parents=True)
        home = self.upper / HOME.lstrip("/")
        home.mkdir(parents=True)
        shutil.copy(INSTALLER, home / "pongbench.run")
        shutil.copy(PACKAGE, home / "pongbench.deb")
        (home / "parts.py").write_text(PARTS)
        (home / "pressed.py").write_text(PRESSED)
        if certificates():
            shutil.copy(certificates(), home / "ca.pem")
        (self.upper / "etc").mkdir()
        shutil.copy("/etc/resolv.conf", self.upper / "etc" / "resolv.conf")
        for path in (home, home / "pongbench.run", home / "pongbench.deb"):
            os.chown(path, USER, USER)

    def start(
        self, *command: str, options: str = "", user: int = USER, network: bool = False, **env: str
    ) -> subprocess.Popen[str]:
        """As `user`, in namespaces of its own over the machine's files. `network`: with that of
        this computer."""
        root = self.layer / "root"
        enter = (
            f"ip link set lo up; mount -t overlay overlay -o lowerdir={self.base},"
            f"upperdir={self.upper},workdir={self.layer}/work {root}"
            f" && mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev"
            f" && mount -t tmpfs tmpfs {root}/dev/shm && {options or 'true'}"
            f' && exec chroot --userspec={user}:{user} {root} /usr/bin/env -i "$@"'
        )
        path = f"{HOME}/.local/bin:/usr/bin:/bin"
        around = {"HOME": HOME, "PATH": path, "LANG": "C.UTF-8", **env}
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        if network and certificates():
            around["SSL_CERT_FILE"] = f"{HOME}/ca.pem"
        elif not network:
            unshare.append("--net")
        words = [*(f"{name}={value}" for name, value in around.items()), *command]
        return subprocess.Popen(
            [*unshare, "sh", "-c", enter, "enter", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str, code: int = 0, **options: Any) -> str:
        """Its output. Raises Failed when it ends otherwise than with `code`. `options`: of
        `start`."""
        process = self.start(*command, **options)
        try:
            output, _ = process.communicate(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            end(process)
            raise Failed(f"{' '.join(command)} did not end") from None
        if process.returncode != code:
            raise Failed(f"{' '.join(command)} ended with {process.returncode}:\n{output}")
        return output

    def files(self) -> set[str]:
        """Everything that differs from the base, without what was there before the installer."""
        found = {str(path.relative_to(self.upper)) for path in self.upper.rglob("*")}
        return {name for name in found if not name.startswith(("tmp", "var/tmp", "dev", "proc"))}


def main(suites: list[str]) -> int:
    if not INSTALLER.exists():
        raise SystemExit(f"There is no {INSTALLER.relative_to(ROOT)}; `make package` builds it.")
    PICTURES.mkdir(parents=True, exist_ok=True)
    failures = 0
    chosen = [check for check in CHECKS if check.__name__ in suites] or CHECKS
    for suite in [each for each in SYSTEMS if each in suites] or SYSTEMS:
        base = make_base(suite)
        for check in chosen:
            layer = Path(tempfile.mkdtemp(prefix="layer-", dir=BASES))
            begun = time.monotonic()
            try:
                result = check(Machine(base, layer), suite) or "ok"
            except Failed as failure:
                failures += 1
                result = f"FAILED: {failure}"
            finally:
                shutil.rmtree(layer, ignore_errors=True)
            what = " ".join((check.__doc__ or "").split()).rstrip(".")
            seconds = time.monotonic() - begun
            print(f"{suite}: {what}: {result} ({seconds:.0f} s)", flush=True)
            if not result.startswith("FAILED"):
                tried.write(SYSTEMS[suite], what, result, seconds)
    return 1 if failures else 0


def make_base(suite: str) -> Path:
    """A debootstrap with what a window needs from the system, an ordinary user, and no Python."""
    base = BASES / suite
    if not (base / "etc" / "ready").exists():
        _bootstrap(base, suite)
    for name, packages in BESIDE.items():
        kept = base / "var" / name
        asked = kept / "asked"  # a base that was made for other packages is not enough
        if not asked.exists() or asked.read_text() != " ".join(packages):
            shutil.rmtree(kept, ignore_errors=True)
            (kept / "partial").mkdir(parents=True)
            _quietly(
                *("chroot", base, "apt-get", "install", "-y", "--no-install-recommends"),
                *("--download-only", "-o", f"Dir::Cache::archives=/var/{name}", *packages),
            )
            asked.write_text(" ".join(packages))
    return base


def _bootstrap(base: Path, suite: str) -> None:
    shutil.rmtree(base, ignore_errors=True)
    BASES.mkdir(parents=True, exist_ok=True)
    print(f"{suite}: making the base", flush=True)
    _quietly("debootstrap", "--variant=minbase", suite, base, MIRROR)
    # Packages' scripts must not start anything here.
    (base / "usr" / "sbin" / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (base / "usr" / "sbin" / "policy-rc.d").chmod(0o755)
    packages = [*sorted(set(QT_WINDOW.values())), "xvfb"]
    _quietly("chroot", base, "apt-get", "install", "-y", "--no-install-recommends", *packages)
    _quietly("chroot", base, "useradd", "-u", USER, "-m", "colleague")
    for name in ("python3", "python"):
        if (base / "usr" / "bin" / name).exists():
            raise SystemExit(f"{suite} has {name} after all; the smoke test would prove nothing.")
    (base / "etc" / "ready").write_text("")


def _quietly(*command: object) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(
            f"There is no {words[0]}; `make package` installs it, as root or by sudo."
        ) from None
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def used_as_a_colleague_would(machine: Machine, suite: str) -> str:
    """Installs, tests itself, opens its window, replays, sweeps, and leaves nothing."""
    before, begun = machine.files(), time.monotonic()
    said = machine.run("sh", f"{HOME}/pongbench.run")
    took = time.monotonic() - begun
    size = sum(path.lstat().st_size for path in (machine.upper / OPT[1:]).rglob("*"))
    expect("the window draws" in said and "the null server is swept" in said, said)
    expect("start it from the menu" in said, said)
    session = f"{OPT}/app/_internal/resources/sessions/demo.pong.yaml"
    picture(machine, suite, f'pongbench "{session}"')
    replayed = machine.run("pongbench", "replay", session, "--speed", "1000", "--json")
    expect(replayed.count("\n") > 100, replayed[-500:])
    ran = machine.run(
        *("pongbench", "run", "quick", "-o", f"{HOME}/mine.pong.yaml"),
        *(word for server in SERVERS for word in ("--server", server)),
    )
    expect("Pongbench's own" in machine.run("cat", f"{HOME}/mine.pong.yaml"), ran)
    told = json.loads(machine.run("pongbench", "summary", f"{HOME}/mine.pong.yaml", "--json"))
    expect(told["status"] == "done" and told["ceiling_per_s"] > 0, ran)  # of the null server
    for server in SERVERS:
        first = told["servers"][server]["points"][0]
        expect(first["replies_per_s"] > 0.9 * first["rate_per_s"], ran)
    told = machine.run("pongbench", "--python", f"{HOME}/parts.py")
    licences = machine.run("cat", f"{OPT}/app/LICENCES.txt")
    expect(told.count("\n") > 50 and "libssl" in told, told)
    expect([part for part in told.splitlines() if f"\n{part}\n" not in f"\n{licences}"] == [], told)
    machine.run("sh", f"{OPT}/uninstall")
    left = {n for n in machine.files() - before if not (machine.upper / n).is_dir()}
    mine = {n for n in left if "/.local/share/pongbench/" in n or "/.config/pongbench/" in n}
    caches = {n for n in left if "/.cache/" in n or n.endswith("mimeinfo.cache")}
    left -= mine | caches | {f"{HOME}/mine.pong.yaml".lstrip("/")}
    expect(not left, f"left behind: {sorted(left)[:10]}")
    megabytes = INSTALLER.stat().st_size / 1e6
    return f"ok; {megabytes:.0f} MB, installed {size / 1e6:.0f} MB in {took:.0f} s"


def first_comparisons(machine: Machine, suite: str) -> str:
    """Runs what the start page offers, first without and then with a network."""
    begun = time.monotonic()
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    installed = time.monotonic() - begun
    told = machine.run("pongbench", "run", "demo", "--preview")
    expect(TOLD in told and "Twisted" in told, told)
    expect(TOLD in (told := machine.run("pongbench", "--selftest")), told)
    took = []
    for network in (False, True):
        for wanted in ("quick", "demo"):
            begun = time.monotonic()
            servers = pressed(machine, suite, wanted, network)
            took.append(time.monotonic() - begun)
            expect(len(servers) >= 3 and ("twisted" in servers) == network, f"{servers}")
    return (
        f"ok; from the file to the end of the first comparison {installed + took[0]:.0f} s and one"
        f" click, of the demo with a network {installed + took[-1]:.0f} s and one click"
    )


def pressed(machine: Machine, suite: str, wanted: str, network: bool) -> set[str]:
    """Press a button of the start page. Returns the servers that its session has results of."""
    name = f"{suite}-{wanted}-{'online' if network else 'offline'}"
    before = set(machine.upper.rglob("*.pong.yaml"))
    words = f"pongbench --python {HOME}/pressed.py {wanted} {HOME}/{name}.png"
    said = machine.run("sh", "-c", on_a_screen(words), network=network)
    sessions = set(machine.upper.rglob("*.pong.yaml")) - before
    expect(len(sessions) == 1, said)
    (path,) = (f"/{each.relative_to(machine.upper)}" for each in sessions)
    shutil.copy(machine.upper / HOME.lstrip("/") / f"{name}.png", PICTURES)
    told = json.loads(machine.run("pongbench", "summary", path, "--json"))
    expect(told["status"] == "done", f"{said}\n{told.get('reason')}")
    for server, found in told["servers"].items():
        expect(any(point["replies_per_s"] > 0 for point in found["points"]), server)
    return set(told["servers"])


def on_a_screen(words: str, options: str = "") -> str:
    """A line of shell that does this with a display."""
    screen = "x".join(map(str, SCREEN))
    return (
        "rm -rf /tmp/.X97-lock /tmp/.X11-unix;"  # of the one before
        f" Xvfb :97 -screen 0 {screen}x24 {options} -nolisten tcp &"
        f" while ! test -e /tmp/.X11-unix/X97; do sleep 0.1; done; export DISPLAY=:97; {words}"
    )


def over_ssh(machine: Machine, suite: str) -> str:
    """Adds a machine over SSH that has no Python, trusts its key, deploys an own script there,
    sweeps it with the live plot, finds the YAML and replays it, all in the window."""
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    shutil.copy(ROOT / "packaging" / "card.py", machine.upper / HOME.lstrip("/"))
    keys = f"/home/{BOX}/.ssh"
    machine.run(
        *("sh", "-ec"),
        f"dpkg -i /var/sshd/*.deb; useradd -m -p '*' {BOX}; mkdir -p /run/sshd {keys} {HOME}/card;"
        f" ssh-keygen -q -t ed25519 -N '' -f {HOME}/key; cp {HOME}/key.pub {keys}/authorized_keys;"
        f" chown {USER} {HOME}/key {HOME}/card; ! command -v python3",
        user=0,
        PATH=ROOTS_PATH,
    )
    sshd = f"/usr/sbin/sshd -p {PORT} -o ListenAddress=127.0.0.1 -o UsePAM=no -o StrictModes=no"
    said = machine.run(
        *("sh", "-c"),
        on_a_screen(f"pongbench --python {HOME}/card.py {PORT} {BOX} {HOME}/key {HOME}/card"),
        options=f"chroot {machine.layer}/root {sshd}",
        network=True,
    )
    for path in (machine.upper / HOME.lstrip("/") / "card").iterdir():
        shutil.copy(path, PICTURES / f"{suite}-{path.name}")
    parts = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    expect(not any("failed" in part for part in parts), said)
    expect(sum("clicks" in part for part in parts) == 5, said)
    return tried.of_a_card(parts)


def hard_places(machine: Machine, suite: str) -> None:
    """Upgrades, lives beside another, in a path with spaces and umlauts."""
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    machine.run("sh", "-c", f"mkdir -p {HOME}/.local/share/pongbench/sessions"
                f" && echo mine > {HOME}/.local/share/pongbench/sessions/mine.yaml"
                f" && touch {OPT}/app/of-the-old-version")  # fmt: skip
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    machine.run("test", "!", "-e", f"{OPT}/app/of-the-old-version")
    machine.run("test", "-e", f"{HOME}/.local/share/pongbench/sessions/mine.yaml")
    strange = f"{HOME}/Für Kollegen $HOME/pong bench"
    machine.run("sh", f"{HOME}/pongbench.run", f"--prefix={strange}", "--quiet")
    expect(__version__ in machine.run(f"{strange}/bin/pongbench", "--version"), strange)
    expect("the null server is swept" in machine.run(f"{strange}/bin/pongbench", "--selftest"), "")
    machine.run("sh", f"{strange}/uninstall")
    machine.run("test", "!", "-e", strange)
    expect(__version__ in machine.run("pongbench", "--version"), "the other one is gone, too")


def refusals(machine: Machine, suite: str) -> None:
    """Says what is in the way: a home that is read-only, noexec, a library that is missing."""
    home = f"{machine.layer}/root{HOME}"
    said = machine.run(
        *("sh", f"{HOME}/pongbench.run"), code=1,
        options=f"mount --bind {home} {home} && mount -o remount,bind,ro {home}",
    )  # fmt: skip
    expect("--prefix=DIR" in said, said)
    tmp = f"{machine.layer}/root/tmp"
    said = machine.run(
        *("sh", f"{HOME}/pongbench.run", "--quiet"),
        options=f"mount -t tmpfs -o noexec,mode=1777 tmpfs {tmp}", TMPDIR="/tmp",
    )  # fmt: skip
    expect("the window draws" in said and "the null server is swept" in said, said)
    machine.run("sh", f"{OPT}/uninstall")
    said = machine.run(
        *("sh", f"{HOME}/pongbench.run"), code=1,
        options=f"mount --bind {home} {home} && mount -o remount,bind,noexec {home}",
    )  # fmt: skip
    expect("noexec" in said, said)
    library = f"{machine.layer}/root/usr/lib/x86_64-linux-gnu/libEGL.so.1"
    said = machine.run(
        *("sh", f"{HOME}/pongbench.run"),
        options=f"rm -f {library} {library}.* && chroot {machine.layer}/root /sbin/ldconfig",
    )
    expect("apt install libegl1" in said, said)
    expect(__version__ in machine.run("pongbench", "--version"), said)
    said = machine.run("pongbench", code=1, DISPLAY=":97")
    expect("libEGL" in said and "Traceback" not in said, said)


def whole_or_not_at_all(machine: Machine, suite: str) -> None:
    """Installs nothing by half and says why: a file cut in half, an old glibc, a full disk. So does
    the program: no display, a file that is gone, a proxy that is none."""
    half, fake, small = f"{HOME}/half.run", f"{HOME}/fake", f"{machine.layer}/root/mnt"
    machine.run(
        *("sh", "-ec"),
        f"head -c 40000000 {HOME}/pongbench.run >{half}; mkdir {fake};"
        f" printf '#!/bin/sh\\necho glibc 2.31\\n' >{fake}/getconf; chmod +x {fake}/getconf",
    )
    refused(machine.run("sh", half, code=1), "The file is damaged")
    old = machine.run("sh", f"{HOME}/pongbench.run", code=1, PATH=f"{fake}:/usr/bin:/bin")
    refused(old, "and this system has 2.31")
    machine.run("test", "!", "-e", OPT)
    install = f"sh {HOME}/pongbench.run --quiet --prefix=/mnt/pongbench"
    said = machine.run(
        *(
            "sh",
            "-c",
            f"{install} >/dev/null && ! {install} && /mnt/pongbench/bin/pongbench --version",
        ),
        options=f"mount -t tmpfs -o size=300m,mode=1777 tmpfs {small}",
    )
    expect("The disk is full; nothing was changed." in said and __version__ in said, said)
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    refused(machine.run("pongbench", code=1), "No display")
    said = machine.run("pongbench", "--selftest", HTTPS_PROXY="http://127.0.0.1:9")
    expect("proxy" in said, said)
    machine.run("sh", "-c", f"rm {OPT}/app/_internal/msgspec/_core*.so")
    for words in (("--version",), ("plans",), ("--selftest",)):
        refused(machine.run("pongbench", *words, code=1), "install Pongbench again")
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    machine.run("pongbench", "--version")


def refused(said: str, why: str) -> None:
    """One sentence, and no traceback."""
    expect(why in said and "Traceback" not in said and len(said.strip().splitlines()) < 3, said)


def in_a_file_manager(machine: Machine, suite: str) -> None:
    """Opens a session by a double click, as file managers do it, and not once it is removed."""
    machine.run("sh", "-c", "dpkg -i /var/desktop/*.deb", user=0, PATH=ROOTS_PATH)
    machine.run("sh", f"{HOME}/pongbench.run", "--quiet")
    folder = f"{HOME}/Für Kollegen"
    shown = f"{folder}/Messung 1, 100 %.pong.yaml"
    demo = f"{OPT}/app/_internal/resources/sessions/demo.pong.yaml"
    renamed = f"{folder}/without its suffix"
    machine.run("mkdir", folder)
    machine.run("cp", demo, shown)
    machine.run("cp", demo, renamed)
    entry = "io.github.pongbench.Pongbench.desktop"
    for file in (shown, renamed):
        said = machine.run("gio", "info", "-a", "standard::content-type", file)
        expect(said.rstrip().endswith(KIND), said)
    expect(xdg_mime(machine, "filetype", shown) == KIND, shown)
    expect(xdg_mime(machine, "default", KIND) == entry, entry)
    expect(entry in machine.run("gio", "mime", KIND), KIND)
    opened = (
        f"while ! cat /proc/[0-9]*/cmdline | grep -qaF '{OPT}/app/pongbench'; do sleep 0.1; done"
    )
    words = f"gio open '{shown}'; {opened}; cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'"
    picture(machine, f"{suite}-double-click", f"{words} >{HOME}/told; sleep 600")
    told = (machine.upper / f"{HOME}/told".lstrip("/")).read_text()
    expect(shown in told.splitlines(), told)
    machine.run("sh", f"{OPT}/uninstall")
    said = machine.run("gio", "info", "-a", "standard::content-type", shown)
    expect(KIND not in said, said)
    machine.run("dpkg", "-i", f"{HOME}/pongbench.deb", user=0, PATH=ROOTS_PATH)
    expect(xdg_mime(machine, "filetype", shown) == KIND, "the package's type is not known")
    expect(xdg_mime(machine, "default", KIND) == entry, "the package's program is not known")


def xdg_mime(machine: Machine, what: str, of: str) -> str:
    """It asks the desktop, and knows which ones there are."""
    return machine.run("xdg-mime", "query", what, of, XDG_CURRENT_DESKTOP="GNOME").strip()


def as_a_package(machine: Machine, suite: str) -> None:
    """Goes in as a package for every user of the machine, and out again."""
    machine.run("dpkg", "-i", f"{HOME}/pongbench.deb", user=0, PATH=ROOTS_PATH)
    said = machine.run("pongbench", "--selftest")
    expect("the window draws" in said and "the null server is swept" in said, said)
    machine.run("dpkg", "-r", "pongbench", user=0, PATH=ROOTS_PATH)
    machine.run("test", "!", "-e", "/opt/pongbench")


CHECKS: tuple[Callable[[Machine, str], str | None], ...] = (
    used_as_a_colleague_would,
    first_comparisons,
    over_ssh,
    hard_places,
    refusals,
    whole_or_not_at_all,
    in_a_file_manager,
    as_a_package,
)


def expect(truth: bool, said: str) -> None:
    if not truth:
        raise Failed(said)


def end(process: subprocess.Popen[str]) -> None:
    """`unshare` would have taken its child along, had that not changed its user since."""
    with suppress(OSError):  # it has ended by itself
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    process.kill()


def picture(machine: Machine, name: str, command: str) -> None:
    """Run a line of shell that opens the window on a screen; keep what is to be seen."""
    script = on_a_screen(command, options=f"-fbdir {HOME}/fb")
    process = machine.start("sh", "-c", f"mkdir -p {HOME}/fb; {script}")
    frame = machine.upper / HOME.lstrip("/") / "fb" / "Xvfb_screen0"
    try:
        deadline = time.monotonic() + 90
        # On the film's timeline each server is an area of its colour.
        while share(frame, LIGHT.hues[1]) < 0.005:
            if process.poll() is not None or time.monotonic() > deadline:
                end(process)
                raise Failed(f"no session is to be seen: {process.communicate()[0]}")
            time.sleep(0.5)
        seen, since = b"", time.monotonic()
        # The film runs to its end. Only the picture depends on it, so no check does.
        while time.monotonic() < min(since + STILL_S, deadline):
            if (now := frame.read_bytes()) != seen:
                seen, since = now, time.monotonic()
            time.sleep(0.5)
        keep(frame, PICTURES / f"{name}.png")
    finally:
        end(process)
        process.wait()
        shutil.rmtree(frame.parent, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
