"""Runs on a machine: finds or builds one isolated Python runtime. Standard library only.

Argument: one JSON object {cache, work, uv, requirements, imports, build, unreached}, paths
absolute, `unreached` a pattern of uv's output when it cannot reach the index. Output:
JSON lines; the last is `ready` or `failed`.

A runtime is a folder `<cache>/runtimes/<key>`. It is built in the work folder, tested, stamped and
then renamed into place, so that a runtime in place is complete even if this process is killed, and
concurrent builds do not collide: the first to rename wins and the other uses its result.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

OLDEST = (3, 11)
FORM = 2
"""Version of the builds; raised when runtimes in place must be rebuilt."""
STAMP = "runtime.json"
LAST_LINES, LONGEST_LINE = 12, 300
"""Of the output of a build that failed."""
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


class Failed(Exception):
    """The reason in one word, the details, and the package concerned, if any."""

    def __init__(self, why: str, detail: str, package: str = "", output: str = "") -> None:
        """`output`: of a build that failed."""
        super().__init__(detail)
        event = {"event": "failed", "why": why, "detail": detail, "package": package}
        lines = [line.rstrip()[:LONGEST_LINE] for line in output.splitlines() if line.strip()]
        self.event: dict[str, Any] = {**event, "lines": lines[-LAST_LINES:]}


def main() -> None:
    task = json.loads(sys.argv[1])
    try:
        base, identity = interpreter(task)
        runtimes = Path(task["cache"], "runtimes")
        place = runtimes / key(task, base, identity)
        stamp, built = read_stamp(place), False
        if stamp is None:
            check_uv(task)
            say(event="building")
            made = build(task, base)
            runtimes.mkdir(parents=True, exist_ok=True)
            built = put_in_place(made, place)
            stamp = read_stamp(place) or {}
        say(event="ready", built=built, python=str(python_of(place)), **stamp)
    except Failed as failure:
        say(**failure.event)
    except OSError as error:
        say(event="failed", why="disk", detail=f"{error.strerror}: {error.filename}")


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def interpreter(task: dict[str, Any]) -> tuple[str, str]:
    """Return (path, identity) of the Python that runtimes are based on: this one if it is
    suitable."""
    # Not one whose library is a zip: that belongs to a bundle and is removed with it.
    if sys.version_info >= OLDEST and Path(json.__file__).is_file():
        return getattr(sys, "_base_executable", None) or sys.executable, sys.version
    check_uv(task)
    wanted = ">=" + ".".join(map(str, OLDEST))
    found = uv(task, "python", "find", "--system", "--no-python-downloads", wanted)
    base = found.stdout.strip()
    if found.returncode or not base:
        raise Failed("python", f"it has none {wanted}")
    return base, run([base, "-I", "-S", "-c", "import sys; print(sys.version)"]).stdout


def key(task: dict[str, Any], base: str, identity: str) -> str:
    """Return the hash of what a runtime consists of: requirements, interpreter with ABI,
    platform."""
    parts = [
        Path(task["requirements"]).read_text("utf-8") if task["requirements"] else "",
        sorted(task["imports"]),
        task["build"],
        FORM,
        [os.path.realpath(base), identity, platform.machine(), platform.libc_ver(base)],
    ]
    return "python-" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def build(task: dict[str, Any], base: str) -> Path:
    """Return the folder of a tested, stamped runtime in the work folder."""
    made = Path(task["work"], f"runtime-{os.getpid()}")
    # Relocatable, because it is renamed when it is complete.
    done = uv(task, "venv", "--relocatable", "--no-project", "--python", base, str(made))
    if done.returncode:
        raise Failed("python", cause(done.stderr))
    if task["requirements"]:
        install(task, made)
    proof = run([str(python_of(made)), "-I", "-c", PROOF, *task["imports"]])
    if proof.returncode:
        raise Failed("import", (proof.stderr.strip() or "it died").splitlines()[-1])
    (made / STAMP).write_text(proof.stdout.splitlines()[-1], "utf-8")
    return made


def install(task: dict[str, Any], made: Path) -> None:
    # Exactly the listed packages: sync adds nothing that a newer index might offer.
    options = [] if task["build"] else ["--only-binary", ":all:"]
    python = str(python_of(made))
    # Compiled now, because servers may not write into a runtime.
    options.append("--compile-bytecode")
    done = uv(task, "pip", "sync", "--python", python, *options, task["requirements"])
    if done.returncode == 0:
        see_complete(task, python)
        return
    if re.search(task["unreached"], done.stderr):
        raise Failed("offline", done.stderr[-4000:], package(done.stderr))
    if error := compiling(done.stderr):
        no_compiler = re.search(r"No such file or directory: '\S*(?:cc|gcc|g\+\+|clang)'", error)
        why = "no-compiler" if no_compiler else "compile"
        raise Failed(why, error, package(done.stderr), done.stderr)
    built = done.stderr if BUILD_FAILED in done.stderr else ""
    raise Failed("install", cause(done.stderr), package(done.stderr), built)


def see_complete(task: dict[str, Any], python: str) -> None:
    """Raises Failed when a package that is installed requires another that is not. Versions that do
    not suit each other are the business of whoever pinned them."""
    checked = uv(task, "pip", "check", "--python", python)
    missing = re.findall(r"requires [`']([^`']+)[`'], but it'?s not installed", checked.stderr)
    if missing:
        raise Failed("incomplete", ", ".join(dict.fromkeys(missing)))


def put_in_place(made: Path, place: Path) -> bool:
    """Rename the runtime into place. Returns whether ours is the one in use now."""
    for _ in range(3):
        try:
            made.rename(place)
        except OSError:
            if read_stamp(place) is not None:
                shutil.rmtree(made, ignore_errors=True)
                return False
            # The one in place is damaged, for example because its interpreter was removed.
            place.rename(made.with_name(f"damaged-{os.urandom(8).hex()}"))
        else:
            return True
    raise Failed("disk", f"{place} cannot be replaced")


def read_stamp(place: Path) -> dict[str, Any] | None:
    """Return the stamp of the runtime in place; None: there is none that can be used."""
    try:
        stamp: dict[str, Any] = json.loads((place / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if os.access(python_of(place), os.X_OK) else None


def python_of(place: Path) -> Path:
    return place / "bin" / "python"


def check_uv(task: dict[str, Any]) -> None:
    if not os.access(task["uv"], os.X_OK):
        raise Failed("no-uv", f"{task['uv']} is not here")


def uv(task: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    # Its cache is in the work folder, so that nothing is left elsewhere.
    return run([task["uv"], *arguments], UV_CACHE_DIR=f"{task['work']}/uv-cache")


def run(argv: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NO_COLOR": "1", **env}
    return subprocess.run(argv, capture_output=True, text=True, env=env, check=False)


def cause(output: str) -> str:
    """Return the most informative line of uv's output: the first of its causes."""
    causes = re.findall(r"^ *cause: (.*)", output, re.MULTILINE)
    lines = output.strip().splitlines() or ["no output"]
    return (causes[0] if causes else lines[-1]).strip()


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


if __name__ == "__main__":
    main()
