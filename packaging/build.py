"""Builds what is sent to people:  .tools/package/bin/python packaging/build.py  (`make package`)

    dist/pongbench/                    the program in one directory (PyInstaller)
    dist/pongbench-VERSION-linux-x86_64.run   installer for one user; needs sh, tar and gzip
    dist/pongbench_VERSION_amd64.deb   the same for Debian and its relatives
    dist/pongbench-VERSION-py3-none-any.whl   for whoever has Python: uv tool install, pipx
    dist/pongbench-VERSION.cdx.json    software bill of materials (CycloneDX)
    dist/SHA256SUMS

On Windows and macOS only the directory (and Pongbench.app), with LICENCES.txt in it.

Two builds of one commit on one machine differ in nothing that is ours: times are the commit's,
names are sorted, owners are root.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import icu  # noqa: E402
import manual  # noqa: E402
import provenance  # noqa: E402
from bootstrap import QT_WINDOW  # noqa: E402

from app.licences import BUNDLED, Component, components  # noqa: E402
from workbench import __version__  # noqa: E402
from workbench.paths import SHIPPED  # noqa: E402

DIST = ROOT / "dist"
APP = DIST / "pongbench"
LINUX = ROOT / "packaging" / "linux"
ID = "io.github.pongbench.Pongbench"
UV = ROOT / ".tools" / "uv" / "bin" / "uv"


def main() -> None:
    # CI builds as root what belongs to another user.
    log = ("git", "-c", f"safe.directory={ROOT}", "log", "-1", "--format=%ct")
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or _output(*log).strip()
    os.environ["SOURCE_DATE_EPOCH"] = epoch
    os.environ["PYTHONHASHSEED"] = "1"
    DIST.mkdir(exist_ok=True)
    bundle()
    records()
    if sys.platform != "linux":
        licences()
        return  # packaging/windows and packaging/macos go on from here
    slim_icu()
    strip()
    parts = licences()
    glibc = least_glibc()
    made = [installer(int(epoch), glibc), deb(int(epoch), glibc), wheel()]
    made.append(bill_of_materials(parts))
    sums = DIST / "SHA256SUMS"
    sums.write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in made))
    print(f"The directory holds {_size(APP) / 1e6:.0f} MB and needs glibc {glibc}.")
    for path in [*made, sums]:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")


def bundle() -> None:
    """PyInstaller into dist/pongbench."""
    shutil.rmtree(APP, ignore_errors=True)
    _run(
        sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level=ERROR",
        f"--distpath={DIST}", f"--workpath={ROOT / 'build'}", ROOT / "packaging" / "pongbench.spec",
    )  # fmt: skip


def records() -> None:
    """Lists of a package's files keep what is here: programs beside an environment differ by its
    place."""
    for path in APP.rglob("*.dist-info/RECORD"):
        there = path.parent.parent
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if (there / line.split(",")[0]).is_file()]
        path.write_text("".join(line for line in kept if not line.startswith("..")), "utf-8")


def slim_icu() -> None:
    """32 MB of ICU's data become 4; where there is no compiler, they stay."""
    for path in APP.rglob("libicudata.so*"):
        if not path.is_symlink() and not icu.slim(path):
            print(f"There is no gcc: {path.name} keeps what nothing needs.")


def strip() -> None:
    """Without symbols. What was laid out by hand stays: numpy's libraries, the programs."""
    for path in provenance.elves(APP):
        if "numpy.libs" not in path.parts and path.name not in ("pongbench", "python3"):
            _run("strip", "--strip-unneeded", path)


def licences() -> list[Component]:
    """LICENCES.txt and what the about box reads, in the bundle. All its parts.

    Ends the build when a file in it belongs to none of them.
    """
    beside = provenance.bundled(APP)
    place = APP / "_internal" / BUNDLED.relative_to(SHIPPED)
    place.write_text(provenance.kept(beside), encoding="utf-8")
    parts = [*components(), *beside]
    (APP / "LICENCES.txt").write_text(provenance.licences(parts), encoding="utf-8")
    sources = provenance.gathered(ROOT / "build" / "pongbench")
    if strangers := provenance.strangers(sources, parts, ROOT):
        raise SystemExit(f"No licence is known of {', '.join(sorted(strangers)[:9])}.")
    return parts


def least_glibc() -> str:
    """The newest version of glibc's symbols that anything in the bundle asks for."""
    found = {(2, 17)}
    for path in provenance.elves(APP):
        needed = _output("objdump", "-T", path)
        found |= {tuple(map(int, m.split("."))) for m in re.findall(r"GLIBC_(2\.\d+)", needed)}
    return ".".join(map(str, max(found)))


def installer(epoch: int, glibc: str) -> Path:
    """A script with a tar behind it."""
    path = DIST / f"pongbench-{__version__}-linux-x86_64.run"
    header = (LINUX / "header.sh").read_text().replace("VERSION", __version__)
    lines = header.count("\n") + 1
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for source, name in _installed():
            _add(tar, source, name, epoch)
        with tempfile.TemporaryDirectory() as share:
            manual.write(Path(share))
            for source in sorted(Path(share).rglob("*")):
                _add(tar, source, f"share/{source.relative_to(share).as_posix()}", epoch)
        _add_text(tar, "libraries", "".join(f"{k} {v}\n" for k, v in QT_WINDOW.items()), epoch)
        _add_text(tar, "glibc", f"{glibc}\n", epoch)
    # The same format, a thirtieth smaller.
    squeeze = (
        ["libdeflate-gzip", "-12"] if shutil.which("libdeflate-gzip") else ["gzip", "-9", "-n"]
    )
    squeezed = subprocess.run(
        squeeze, input=packed.getvalue(), stdout=subprocess.PIPE, check=True
    ).stdout
    path.write_bytes(header.replace("LINES", str(lines)).encode() + squeezed)
    path.chmod(0o755)
    return path


def deb(epoch: int, glibc: str) -> Path:
    """For the whole machine, in /opt."""
    path = DIST / f"pongbench_{__version__}_amd64.deb"
    with tempfile.TemporaryDirectory(dir=DIST) as folder:
        root = Path(folder, "root")
        _lay_out(root, glibc)
        for each in [root, *root.rglob("*")]:
            if not each.is_symlink():
                each.chmod(_mode(each.stat().st_mode))
            os.utime(each, (epoch, epoch), follow_symlinks=False)
        _run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path)
    return path


def _lay_out(root: Path, glibc: str) -> None:
    """The package's files, and what it says of itself."""
    shutil.copytree(APP, root / "opt" / "pongbench", symlinks=True)
    share = root / "usr" / "share"
    for source, target in (
        (f"{ID}.desktop", f"applications/{ID}.desktop"),
        (f"{ID}.mime.xml", f"mime/packages/{ID}.xml"),
        (f"{ID}.metainfo.xml", f"metainfo/{ID}.metainfo.xml"),
        (f"{ID}.svg", f"icons/hicolor/scalable/apps/{ID}.svg"),
    ):
        (share / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(LINUX / source, share / target)
    manual.write(share)
    # Debian's zsh reads what packages bring from a folder of that name.
    (share / "zsh" / "site-functions").rename(share / "zsh" / "vendor-completions")
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "pongbench").symlink_to("/opt/pongbench/pongbench")
    copyright_file = share / "doc" / "pongbench" / "copyright"
    copyright_file.parent.mkdir(parents=True)
    others = "\nThe licences of everything else in it: /opt/pongbench/LICENCES.txt\n"
    copyright_file.write_text((ROOT / "LICENSE").read_text(encoding="utf-8") + others)
    depends = ", ".join([f"libc6 (>= {glibc})", *sorted(set(QT_WINDOW.values()))])
    control = root / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text(
        f"Package: pongbench\nVersion: {__version__}\nArchitecture: amd64\n"
        "Maintainer: The Pongbench developers <pongbench@users.noreply.github.com>\n"
        f"Installed-Size: {_size(root) // 1024}\nDepends: {depends}\n"
        "Section: devel\nPriority: optional\n"
        "Description: Which server sustains which rate?\n"
        " Pongbench sends more and more calls per second to each server you choose, and\n"
        " draws where each one stops keeping up.\n"
    )


def wheel() -> Path:
    """For every system that has Python; by the back end that uv.lock pins, fetched already."""
    path = DIST / f"pongbench-{__version__}-py3-none-any.whl"
    path.unlink(missing_ok=True)
    _run(
        UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--offline",
        "--python", sys.executable, "--out-dir", DIST,
    )  # fmt: skip
    return path


def bill_of_materials(parts: list[Component]) -> Path:
    """What is in the bundle, for programs that look for known flaws."""
    listed = _output(UV, "export", "--frozen", "--no-dev", "--format", "cyclonedx1.5", "--quiet")
    path = DIST / f"pongbench-{__version__}.cdx.json"
    path.write_text(provenance.bill(listed, parts, APP))
    return path


def _installed() -> Iterator[tuple[Path, str]]:
    """What the installer unpacks: (source, name)."""
    yield LINUX / "install.sh", "install.sh"
    for name in (f"{ID}.desktop", f"{ID}.mime.xml", f"{ID}.svg"):
        yield LINUX / name, name
    for path in sorted(APP.rglob("*")):
        yield path, f"pongbench/{path.relative_to(APP)}"


def _add(tar: tarfile.TarFile, source: Path, name: str, epoch: int) -> None:
    entry = tar.gettarinfo(source, name)
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "root", "root"
    entry.mode = _mode(entry.mode)
    if entry.isfile():
        with source.open("rb") as file:
            tar.addfile(entry, file)
    else:
        tar.addfile(entry)


def _mode(mode: int) -> int:
    """Of a folder or a program, or of another file: for everyone, whatever this user's umask is."""
    return 0o755 if mode & 0o100 else 0o644


def _add_text(tar: tarfile.TarFile, name: str, text: str, epoch: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = len(text.encode()), epoch
    tar.addfile(entry, io.BytesIO(text.encode()))


def _size(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)


def _output(*command: object) -> str:
    words = [str(part) for part in command]
    return subprocess.run(words, check=True, cwd=ROOT, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
