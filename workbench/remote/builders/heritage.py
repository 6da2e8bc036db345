"""Unpacks an old Python of Debian, and builds a server's packages for it.

Task: {version, debs, folder, uv, tools, requirements, imports, cflags}. The Python is a folder
`<cache>/programs/python<version>-<key>`, unpacked from `debs` (files of packages in `folder`). Its
packages are a folder `<cache>/runtimes/python<version>-<key>` with a `bin/python` that finds both,
wherever the cache is.
"""

from __future__ import annotations

import lzma
import os
import re
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

from . import Failed, digest, put_in_place, ran
from .python import STAMP, in_place

FORM = 2
"""Version of the builds; raised when runtimes in place must be rebuilt."""
UTF_8 = "import sys\nreload(sys).setdefaultencoding('utf-8')\n"
"""For pip on Python 2, which joins bytes and text of paths that may be no ASCII."""
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PROOF = """
import json, pkg_resources, platform, re, sys
for name in sys.argv[1:]:
    __import__(name)
packages = dict(
    (re.sub("[-_.]+", "-", each.project_name).lower(), each.version)
    for each in pkg_resources.working_set
)
print(json.dumps({"name": "CPython " + platform.python_version(), "packages": packages}))
"""


SIGNS = {
    "offline": "Failed to fetch|NewConnectionError|ConnectTimeout|Request failed after"
    "|Connection refused|Name or service not known|Temporary failure in name resolution"
    "|Network is unreachable|CERTIFICATE_VERIFY_FAILED|No CA certificates",
    "no-compiler": r"unable to execute '\S*(?:cc|clang)'|command '\S*(?:cc|clang)' failed: No such"
    r"|unable to execute \S*(?:cc|clang): No such",
}
"""pip's output, and why it failed."""
PIPS = r"Command errored out|^(?:command|cwd): |^Complete output|^-+$"
"""Its own lines around the output of a command that failed."""

# Packages that share a namespace use .pth files, which are read in site folders only.
NAMESPACES = "import os, site\nsite.addsitedir(os.path.dirname(os.path.abspath(__file__)))\n"


def run(task: dict[str, Any]) -> dict[str, Any]:
    home = python_of(task)
    requirements = Path(task["requirements"]).read_text("utf-8")
    named = digest(str(home), requirements, task["imports"], FORM, task["cflags"])
    place = Path(task["cache"], "runtimes", f"python{task['version']}-{named}")
    return {"home": str(home), **in_place(place, lambda: built_in(task, home, place))}


def python_of(task: dict[str, Any]) -> Path:
    """Return the folder with that Python below `usr`, unpacking it if it is missing."""
    named = f"python{task['version']}-{digest(sorted(task['debs']), FORM)}"
    place = Path(task["cache"], "programs", named)
    if not place.is_dir():
        made = Path(task["work"], f"python{task['version']}-{os.getpid()}")
        for deb in task["debs"]:
            unpack(Path(task["folder"], f"{deb}.deb"), made)
        for path in made.rglob("_sysconfigdata*.py"):  # Where its headers are.
            text = path.read_text("utf-8").replace("/usr/include", f"{place}/usr/include")
            path.write_text(f"# coding: utf-8\n{text}", "utf-8")
        put_in_place(made, place)
    return place


def unpack(deb: Path, folder: Path) -> None:
    """Unpack a Debian package, an `ar` archive whose last member is a tar."""
    data = deb.read_bytes()
    at = len(b"!<arch>\n")
    while at < len(data):
        name, size = data[at : at + 16].strip(b" /"), int(data[at + 48 : at + 58])
        at += 60
        if name == b"data.tar.xz":
            with tarfile.open(fileobj=BytesIO(lzma.decompress(data[at : at + size]))) as files:
                # Its hash was checked; versions without filters ignore this.
                files.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
                files.extractall(folder)
        at += size + size % 2


def built_in(task: dict[str, Any], home: Path, place: Path) -> Path:
    """Return a folder that is complete once it is at `place`."""
    made = Path(task["work"], f"runtime-{os.getpid()}")
    python = made / "bin/python"
    python.parent.mkdir(parents=True)
    write_python(python, task["version"], str(home), str(made / "site"), libraries_of(home))
    tools = made / "tools"
    install = [task["uv"], "pip", "install", "--quiet", "--python", sys.executable, "--no-deps"]
    listed = made / "tools.txt"
    listed.write_text("\n".join(task["tools"]), "utf-8")
    install += ["--only-binary", ":all:", "--target", str(tools), "--require-hashes"]
    install += ["--requirement", str(listed)]
    output_of(install, "install", UV_CACHE_DIR=f"{task['work']}/uv-cache", UV_NO_CONFIG="1")
    if task["version"].startswith("2"):
        (tools / "sitecustomize.py").write_text(UTF_8)
    there = home / "usr/include"
    # Includes are relative to any of these.
    folders = [there, there / f"python{task['version']}", *there.glob("*-linux-gnu")]
    headers = os.pathsep.join([*filter(None, [os.environ.get("CPATH")]), *map(str, folders)])
    env = {
        "PIP_NO_CACHE_DIR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_PYTHON_VERSION_WARNING": "1",
        "PYTHONPATH": f"{tools}",
        "CPATH": headers,
        "C_INCLUDE_PATH": headers,
        # Code of that time violates the stricter defaults of today's compilers.
        "CFLAGS": f"-Wno-error=format-security -fcommon {task['cflags']}",
    }
    if "PIP_CERT" not in os.environ and Path(CERTIFICATES).exists():
        env["PIP_CERT"] = CERTIFICATES
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    pip += ["--require-hashes", "--target", str(made / "site")]
    if re.search(r"^\w", Path(task["requirements"]).read_text("utf-8"), re.MULTILINE):
        output_of([*pip, "--requirement", task["requirements"]], "install", **env)
    (made / "site").mkdir(exist_ok=True)
    (made / "site/sitecustomize.py").write_text(NAMESPACES)
    proof = output_of([str(python), "-c", PROOF, *task["imports"]], "import", PYTHONPATH=str(tools))
    (made / STAMP).write_text(proof.splitlines()[-1], "utf-8")
    # From here on it finds packages in their final place.
    cache, libraries = str(Path(task["cache"])), libraries_of(home)
    near = [str(path).replace(cache, "$cache", 1) for path in (home, place / "site", *libraries)]
    write_python(python, task["version"], near[0], near[1], near[2:])
    return made


def libraries_of(home: Path) -> list[str]:
    return sorted({str(path.parent) for path in home.glob("*/**/*-linux-gnu/*.so.*")})


def write_python(path: Path, version: str, home: str, site: str, libraries: list[str]) -> None:
    """Write the wrapper. Paths may begin with $cache, the directory above this runtime's."""
    path.write_text(
        "#!/bin/sh\n"
        'cache=$(cd "${0%/*}/../../.." && pwd -P)\n'
        f'export LD_LIBRARY_PATH="{os.pathsep.join(libraries)}'
        '${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\n'
        f'export PYTHONHOME="{home}/usr"\n'
        f'export PYTHONPATH="{site}${{PYTHONPATH:+:$PYTHONPATH}}"\n'
        f'exec "{home}/usr/bin/python{version}" "$@"\n'
    )
    path.chmod(0o755)


def output_of(argv: list[str], why: str, **env: str) -> str:
    done = ran(argv, env)
    if done.returncode:
        output = done.stderr or done.stdout
        if why == "install":
            why = next((error for error, sign in SIGNS.items() if re.search(sign, output)), why)
        if why == "install":
            raise Failed(why, first_error(output), output=output)
        raise Failed(why, output[-4000:] if why == "offline" else first_error(output))
    return done.stdout


def first_error(output: str) -> str:
    """Return the most informative line: the first error, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    # pip reports first that a command failed, then the output of that command.
    likely = [line for line in lines if not re.search(PIPS, line)]
    errors = [line for line in likely if re.search(r"\berror\b:?|Error:", line, re.IGNORECASE)]
    error = [*errors[:1], *likely[-1:], *lines[-1:], "no output"][0]
    return re.sub(r" \(from .*", "", error)[:300]
