"""The second program of a bundle: the Python that built it. On Linux for the load agent, what runs
under it, and servers that need nothing else; on Windows for uv, which fetches what machines need.

PyInstaller's boot loader needs the interpreter as a library, compiled to lie anywhere, which runs
Python code about a tenth slower than a distribution's `python3`, that has it inside. Below
`_internal`, which is its prefix:

    bin/python3                         finds the libraries of the system in `_internal`
    lib/python311.zip                   the standard library: base_library.zip, which both read
    lib/python3.11/lib-dynload          extension modules: those in python3.11, which both load
    lib/python3.11/dist-packages        gevent, what it needs, and pyzmq, which the window does not
    pyvenv.cfg                          keeps the user's own packages out

On Windows it is `python.exe` beside the window's own libraries, with `python._pth`, which names
that standard library and keeps everything else out.

Where a machine has no Python for them, runtimes of servers are environments based on it, which see
of this the standard library only.
"""

from __future__ import annotations

import py_compile
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from bootstrap import base_python, install_missing
from surplus import BULKY, OUTSIDE, UNUSED

PACKAGES = ("gevent", "greenlet", "zope.event", "zope.interface", "pyzmq")
TESTS = {"test", "tests"}
STDLIB = Path(sysconfig.get_path("stdlib"))
WINDOWS = sys.platform == "win32"
VERSION = sysconfig.get_python_version()
HOME = f"python{VERSION}"
"""Where PyInstaller looks for extension modules, below `_internal`."""

Entry = tuple[str, str]
"""A file, and the folder of the bundle it goes to."""


def binaries(work: Path) -> list[Entry]:
    """The program and all compiled modules; the libraries they need, PyInstaller finds."""
    if WINDOWS:
        return [(base_python(), ".")]
    modules = [
        path
        for path in sorted((STDLIB / "lib-dynload").glob("*.so"))
        if _wanted(path.name.partition(".")[0])
    ]
    return [
        (str(_program(work)), "bin"),
        *((str(path), f"{HOME}/lib-dynload") for path in modules),
        *((str(path), _folder(name)) for name, path in _packages() if path.suffix == ".so"),
    ]


def datas(work: Path, sources: list[Entry]) -> list[Entry]:
    """Modules of packages, compiled; and, of `sources`, which lie in the bundle as they are, what
    Python would keep beside them when it is first used, were that allowed."""
    if WINDOWS:
        work.mkdir(parents=True, exist_ok=True)
        (work / "python._pth").write_text("base_library.zip\n.\n")
        return [(str(work / "python._pth"), ".")]
    (work / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    found = [(str(work / "pyvenv.cfg"), ".")]
    for name, path in _packages():
        if path.suffix == ".py":
            found.append((str(_compiled(path, name, work / f"{name}c")), _folder(name)))
    for source, folder in sources:
        name = f"{folder}/__pycache__/{Path(source).stem}.{sys.implementation.cache_tag}.pyc"
        module = f"{folder}/{Path(source).name}"
        found.append((str(_compiled(Path(source), module, work / name)), str(Path(name).parent)))
    return found


def links() -> list[tuple[str, str, str]]:
    """As PyInstaller lists them: name, target, kind."""
    zipped = f"lib/python{VERSION.replace('.', '')}.zip"
    return [(zipped, "../base_library.zip", "SYMLINK"), (f"lib/{HOME}", f"../{HOME}", "SYMLINK")]


def library(path: Path, work: Path) -> None:
    """The standard library as a zip, the same for the same Python."""
    with zipfile.ZipFile(path, "w") as made:
        for source in sorted(STDLIB.rglob("*.py")):
            name = source.relative_to(STDLIB).as_posix()
            top = name.partition("/")[0].removesuffix(".py")
            if _wanted(top) and not TESTS & set(Path(name).parts):
                compiled = _compiled(source, name, work / "library" / f"{name}c")
                code = compiled.read_bytes()
                made.writestr(zipfile.ZipInfo(f"{name}c"), code, zipfile.ZIP_DEFLATED, 9)


def in_library(module: str) -> bool:
    """Is it in that zip, so that it need not be anywhere else?"""
    return module.partition(".")[0] in sys.stdlib_module_names


def _program(work: Path) -> Path:
    install_missing({"patchelf": "patchelf"})
    work.mkdir(parents=True, exist_ok=True)
    program = work / "python3"
    shutil.copyfile(Path(base_python()).resolve(), program)
    program.chmod(0o755)
    # An RPATH, not a RUNPATH: it also holds for the libraries of modules that are loaded later.
    patch = ["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/.."]
    subprocess.run([*patch, program], check=True)
    return program


def _packages() -> Iterator[tuple[str, Path]]:
    """Files of modules, by their name below a folder on sys.path."""
    for package in PACKAGES:
        for file in distribution(package).files or []:
            module = str(file).partition(".")[0].replace("/", ".")
            unused = module.startswith(UNUSED) or TESTS & set(file.parts)
            if file.suffix in (".py", ".so") and not unused:
                yield str(file), Path(str(file.locate()))


def _wanted(top: str) -> bool:
    known = top in sys.stdlib_module_names or top.startswith("_sysconfigdata_")
    return known and not {top, top.lstrip("_")} & {*OUTSIDE, *BULKY}


def _folder(name: str) -> str:
    return str(Path(_packages_of(base_python()), name).parent)


@cache
def _packages_of(python: str) -> str:
    """Where it looks for packages and an environment based on it does not: Debian's has another
    name for that."""
    asked = "import site; print(*site.getsitepackages(['/']), sep='\\n')"
    told = subprocess.run([python, "-I", "-c", asked], capture_output=True, text=True, check=True)
    (name,) = {Path(e).name for e in told.stdout.split() if e.startswith(f"/lib/{HOME}/")}
    return f"{HOME}/{name}"


def _compiled(source: Path, name: str, target: Path) -> Path:
    """Without asserts, as PyInstaller does it; it tells neither time nor place of the build."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(source), str(target), name, True, 1, mode)
    return target
