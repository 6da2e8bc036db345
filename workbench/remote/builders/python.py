"""Finds or builds one isolated Python runtime: a folder `<cache>/runtimes/<key>`, tested and
stamped. Of concurrent builds the first to rename its own wins, and the other uses its result.

Task: {uv, requirements, imports, build, unreached}; `unreached`: a pattern of uv's output when it
cannot reach the index.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import Failed, digest, last_line, put_in_place, ran, say

OLDEST = (3, 11)
FORM = 2
"""Version of the builds; raised when runtimes in place must be rebuilt."""
STAMP = "runtime.json"
BUILD_FAILED = "build backend returned an error"
"""In uv's output."""
PROOF = """
import importlib, importlib.metadata, json, platform, re, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
packages = {
    re.sub("[-_.]+", "-", d.metadata["Name"]).lower(): d.version
    for d in importlib.metadata.distributions()
}
name = f"{platform.python_implementation()} {platform.python_version()}"
print(json.dumps({"name": name, "packages": packages}))
"""


def run(task: dict[str, Any]) -> dict[str, Any]:
    base, identity = interpreter(task)
    place = Path(task["cache"], "runtimes", key(task, base, identity))
    return {"base": base, **in_place(place, lambda: build(task, base))}


def in_place(place: Path, make: Callable[[], Path]) -> dict[str, Any]:
    """Return the runtime in place; where none can be used, it is made first."""
    stamp, built = read_stamp(place), False
    if stamp is None:
        say(event="building")
        made = make()
        if place.exists() and read_stamp(place) is None:
            # It is damaged, for example because its interpreter was removed.
            place.rename(made.with_name(f"damaged-{os.urandom(8).hex()}"))
        built = put_in_place(made, place, STAMP)
        stamp = read_stamp(place) or {}
    return {"built": built, "python": str(python_of(place)), **stamp}


def interpreter(task: dict[str, Any]) -> tuple[str, str]:
    """Return (path, identity) of the Python that runtimes are based on: this one if it is
    suitable. A bundle's, whose library is a zip, only makes up for a missing one."""
    own = getattr(sys, "_base_executable", None) or sys.executable, sys.version
    suits = sys.version_info >= OLDEST
    if suits and Path(json.__file__).is_file():
        return own
    wanted = ">=" + ".".join(map(str, OLDEST))
    found = uv(task, "python", "find", "--system", "--no-python-downloads", wanted)
    base = found.stdout.strip()
    if found.returncode == 0 and base:
        return base, ran([base, "-I", "-S", "-c", "import sys; print(sys.version)"]).stdout
    if suits:
        return own
    raise Failed("python", f"it has none {wanted}")


def key(task: dict[str, Any], base: str, identity: str) -> str:
    """Return the name of a runtime by what it consists of: requirements, interpreter, platform."""
    listed = Path(task["requirements"]).read_text("utf-8") if task["requirements"] else ""
    there = [os.path.realpath(base), identity, platform.machine(), platform.libc_ver(base)]
    return f"python-{digest(listed, sorted(task['imports']), task['build'], FORM, there)}"


def build(task: dict[str, Any], base: str) -> Path:
    """Return the folder of a tested, stamped runtime in the work folder."""
    made = Path(task["work"], f"runtime-{os.getpid()}")
    # Relocatable, because it is renamed when it is complete.
    done = uv(task, "venv", "--relocatable", "--no-project", "--python", base, str(made))
    if done.returncode:
        raise Failed("python", cause(done.stderr))
    at_odds = install(task, made) if task["requirements"] else []
    proof = ran([str(python_of(made)), "-I", "-c", PROOF, *task["imports"]])
    if proof.returncode:
        raise Failed("import", last_line(proof.stderr))
    stamp = json.loads(proof.stdout.splitlines()[-1]) | {"at_odds": at_odds}
    (made / STAMP).write_text(json.dumps(stamp), "utf-8")
    return made


def install(task: dict[str, Any], made: Path) -> list[str]:
    """Install what is listed. Returns which packages do not suit each other (see `checked`)."""
    # Exactly the listed packages: sync adds nothing that a newer index might offer.
    options = [] if task["build"] else ["--only-binary", ":all:"]
    python = str(python_of(made))
    # Compiled now, because servers may not write into a runtime.
    options.append("--compile-bytecode")
    done = uv(task, "pip", "sync", "--python", python, *options, task["requirements"])
    if done.returncode == 0:
        return checked(task, python)
    if re.search(task["unreached"], done.stderr):
        raise Failed("offline", done.stderr[-4000:], package=package(done.stderr))
    if error := compiling(done.stderr):
        no_compiler = re.search(r"No such file or directory: '\S*(?:cc|gcc|g\+\+|clang)'", error)
        why = "no-compiler" if no_compiler else "compile"
        raise Failed(why, error, package=package(done.stderr), output=done.stderr)
    built = done.stderr if BUILD_FAILED in done.stderr else ""
    raise Failed("install", cause(done.stderr), package=package(done.stderr), output=built)


def checked(task: dict[str, Any], python: str) -> list[str]:
    """Return which packages have a version that another does not accept, a clause each: that may
    work, and is the business of whoever pinned them. Raises Failed when one is missing."""
    found = uv(task, "pip", "check", "--python", python).stderr
    missing = re.findall(r"requires [`']([^`']+)[`'], but it'?s not installed", found)
    if missing:
        raise Failed("incomplete", ", ".join(dict.fromkeys(missing)))
    at_odds = r"[`'](\S+)[`'] requires [`']([^`']+)[`'], but [`']?([^`'\s]+)[`']? is installed"
    return [f"{who} requires {what}, not {has}" for who, what, has in re.findall(at_odds, found)]


def read_stamp(place: Path) -> dict[str, Any] | None:
    """Return the stamp of the runtime in place; None: there is none that can be used."""
    try:
        stamp: dict[str, Any] = json.loads((place / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if os.access(python_of(place), os.X_OK) else None


def python_of(place: Path) -> Path:
    return place / "bin" / "python"


def uv(task: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    # Its cache is in the work folder, so that nothing is left elsewhere.
    return ran([task["uv"], *arguments], {"UV_CACHE_DIR": f"{task['work']}/uv-cache"})


def cause(output: str) -> str:
    """Return the most informative line of uv's output: the first of its causes."""
    causes = re.findall(r"^ *cause: (.*)", output, re.MULTILINE)
    return (causes[0] if causes else last_line(output)).strip()


def compiling(output: str) -> str:
    """Return what failed while a requirement was compiled; empty: nothing was compiled."""
    if BUILD_FAILED not in output:
        return ""
    errors: list[str] = re.findall(r"^ +.*\berror: (.*)", output, re.MULTILINE)
    fatal: list[str] = re.findall(r"fatal error: (.*)", output)
    return ([*fatal, *errors[-1:]] or [""])[0].strip()


def package(output: str) -> str:
    """Return the requirement that uv's output is about; empty: not given."""
    patterns = (
        r"`([\w.-]+==[^`]+)`",
        r"Because (?:there is no version of )?([\w.-]+(?:==[\w.!+-]+)?)",
        r"/simple/([\w.-]+)/",
    )
    found = (re.search(pattern, output) for pattern in patterns)
    return next((match[1] for match in found if match), "")
