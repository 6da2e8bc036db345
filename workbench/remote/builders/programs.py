"""Finds programs, and unpacks those of its distribution: a folder `<cache>/programs/<name>-<key>`.

Task: {install, bring, programs: {name: `programs.Program`}}; ready: {paths, versions, env}. With
`bring`, or where it comes as a wheel or as source, a missing program is not fetched: the failure
`absent` holds what another computer needs to fetch it for this one.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from pathlib import Path
from typing import Any

from . import Failed, digest, last_line, put_in_place, ran, say

SEARCHED = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
STAMP = "program.json"
INSTALLED = "${db:Status-Abbrev}|${Package}|${Version}|${Architecture}|${Multi-Arch}|${Provides}\\n"


def run(task: dict[str, Any]) -> dict[str, Any]:
    paths: dict[str, str] = {}
    versions: dict[str, str] = {}
    env: dict[str, str] = {}
    for name, program in task["programs"].items():
        path, root, version = provided(task, name, program)
        found = {name: matches(root, where) for name, where in program["env"].items() if root}
        added = {name: os.pathsep.join(folders) for name, folders in found.items() if folders}
        versions[name] = version or version_of(program, path, {**env, **added})
        paths[name] = path
        for key, folders in added.items():
            env[key] = os.pathsep.join(filter(None, (env.get(key, ""), folders)))
    return {"paths": paths, "versions": versions, "env": env}


def failed(why: str, program: dict[str, Any], detail: str = "", **more: Any) -> Failed:
    return Failed(why, detail, title=program["title"], **more)


def provided(task: dict[str, Any], name: str, program: dict[str, Any]) -> tuple[str, str, str]:
    """Return (path, folder it was unpacked into or "", version if the packages have it)."""
    if path := located(program, "/") or on_path(program):
        version = ""
        if not program["version"] and shutil.which("dpkg-query"):  # Or else it prints it.
            shown = ["--show", "--showformat=${Version}", program["packages"][0]]
            done = ran(["dpkg-query", *shown])
            version = "" if done.returncode else upstream(done.stdout)
        return path, "", version
    place = Path(task["cache"], "programs", f"{name}-{key(program)}")
    if not (place / STAMP).is_file():
        unpack(task, name, program, place)
    path = located(program, str(place))
    if not path:
        raise failed("broken", program, f"what {program['packages'][0]} brings is not it")
    relocate(place, program["relocated"])
    return path, str(place), json.loads((place / STAMP).read_text("utf-8"))["version"]


def located(program: dict[str, Any], root: str) -> str:
    """Return the last file in the order of the patterns; empty: none."""
    unpacked = program["unpacked"] if root != "/" else []
    found = matches(root, unpacked or program["files"])
    return found[-1] if found else ""


def matches(root: str, patterns: list[str]) -> list[str]:
    return [str(path) for pattern in patterns for path in sorted(Path(root).glob(pattern))]


def on_path(program: dict[str, Any]) -> str:
    """Find a program on the search path when it is not where Debian puts it."""
    name = Path(program["files"][0]).name
    if "*" in name or not program["version"]:
        return ""
    searched = os.pathsep.join([*SEARCHED, os.environ.get("PATH", "")])
    return shutil.which(name, path=searched) or ""


def key(program: dict[str, Any]) -> str:
    what = sorted(program["packages"]) or program["wheel"] or program["commit"]
    return digest(what, release() if on_debian() else [], platform.machine())


def on_debian() -> bool:
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def unpack(task: dict[str, Any], name: str, program: dict[str, Any], place: Path) -> None:
    if program["wheel"] or program["git"]:
        raise failed("absent", program, name=name, folder=str(place))
    if not program["packages"]:
        raise failed("by-hand", program, program["by_hand"])
    if not on_debian():
        raise failed("no-apt", program)
    if task["bring"]:
        raise failed("absent", program, name=name, folder=str(place), **about_here())
    packages = wanted(program, program["packages"])
    if not task["install"]:
        raise failed("missing", program, **shown(packages, place))
    say(event="fetching", title=program["title"])
    fetched = Path(task["work"], f"debs-{os.getpid()}-{place.name}")
    made = extracted(program, packages, fetched)
    put_in_place(made, place, STAMP)
    shutil.rmtree(fetched, ignore_errors=True)


def about_here() -> dict[str, Any]:
    """Return what determines which packages fit, and which are installed."""
    installed = ran(["dpkg-query", "--show", f"--showformat={INSTALLED}"]).stdout
    there = [line.split("|")[1:] for line in installed.splitlines() if line.startswith("ii ")]
    architecture = ran(["dpkg", "--print-architecture"]).stdout.strip()
    return {"release": release(), "architecture": architecture, "installed": there}


def release() -> list[str]:
    """Return the distribution and its version, in their own spelling."""
    text = Path("/etc/os-release").read_text("utf-8")
    return sorted(
        line.replace('"', "") for line in re.findall(r"^(?:ID|VERSION_ID)=.*", text, re.M)
    )


def shown(packages: list[dict[str, Any]], place: Path) -> dict[str, Any]:
    """Describe what would be done, for consent."""
    names = " ".join(f"{package['name']}={package['version']}" for package in packages)
    commands = [f"apt-get download {names}", f"dpkg-deb --extract PACKAGE {place}"]
    size = sum(package["bytes"] for package in packages)
    return {"packages": packages, "commands": commands, "bytes": size, "folder": str(place)}


def extracted(
    program: dict[str, Any], packages: list[dict[str, Any]], work: Path, *options: str
) -> Path:
    """Return a folder with the unpacked packages, stamped."""
    made = work / "root"
    made.mkdir(parents=True)
    pinned = [f"{package['name']}={package['version']}" for package in packages]
    # apt as root would fetch as a user of its own, who may not write here.
    apt = ["apt-get", "-q", "-o=APT::Sandbox::User=", *options]
    done = ran([*apt, "download", *pinned], cwd=work)
    if done.returncode:
        raise failed("apt", program, unfetched(done.stderr or done.stdout))
    for package in sorted(work.glob("*.deb")):
        done = ran(["dpkg-deb", "--extract", str(package), str(made)])
        if done.returncode:
            raise failed("apt", program, last_line(done.stderr))
        package.unlink()
    relink(made)
    named = {package["name"]: package["version"] for package in packages}
    # Or else the program prints it.
    version = "" if program["version"] else upstream(named.get(program["packages"][0], ""))
    stamp = {"version": version, "packages": packages}
    (made / STAMP).write_text(json.dumps(stamp), "utf-8")
    return made


def unfetched(output: str) -> str:
    """Return apt's error without its prefix."""
    line = last_line(output).removeprefix("E: ").strip()
    if found := re.match(r"Failed to fetch (\S+)\s+(.*)", line):
        return f"{Path(found[1]).name.partition('_')[0]}: {found[2].rstrip(':. ')}"
    return line


def relink(made: Path) -> None:
    """Redirect absolute links to files unpacked beside them."""
    for folder, folders, files in os.walk(made):
        for path in (Path(folder, name) for name in (*folders, *files)):
            if path.is_symlink() and (target := str(path.readlink())).startswith("/"):
                inside = made / target[1:]
                if inside.exists() or inside.is_symlink():
                    path.unlink()
                    path.symlink_to(os.path.relpath(inside, folder))


def relocate(place: Path, scripts: list[str]) -> None:
    """Give scripts the paths of what was unpacked beside them in place of those below /usr, and
    below /bin, which is a link to /usr/bin."""

    def here(path: re.Match[str]) -> str:
        inside = place / "usr" / path[0].removeprefix("/usr").removeprefix("/")
        return str(inside) if inside.exists() else path[0]

    for script in map(Path, matches(str(place), scripts)):
        text = script.read_text("utf-8")
        moved = re.sub(r"(?<=[=\s\"':])/(?:usr|bin)/[\w./+-]+", here, text)
        if moved != text:
            made = script.with_name(f"{script.name}-{os.getpid()}")
            made.write_text(moved, "utf-8")
            made.chmod(script.stat().st_mode)
            made.replace(script)  # Another run may be starting it.


def wanted(
    program: dict[str, Any], packages: list[str] | tuple[str, ...], *options: str
) -> list[dict[str, Any]]:
    """Return every package that is not installed yet, including dependencies. The program's own
    are among them in any case: what is installed of them may be incomplete."""
    # apt lists no URI of what is in its cache, so it is given none.
    nothing = ["-o=Debug::NoLocking=1", "-o=Dir::Cache::Archives=/nonexistent"]
    argv = ["apt-get", "-qq", "-y", *nothing, "-o=APT::Get::Print-URIs=1", *options]
    found: list[tuple[str, str, str]] = []
    for command in (
        ["install", "--reinstall", "--no-install-recommends", *packages],
        *(["download", name] for name in program["lone"]),
    ):
        done = ran([*argv, *command])
        if done.returncode:
            raise failed("apt", program, unfetched(done.stderr or done.stdout))
        pattern = r"^'\S+' (\S+?)_(\S+)_[^_\s]+\.deb (\d+)"
        found += re.findall(pattern, done.stdout, re.MULTILINE)
    if not found:
        raise failed("apt", program, "its archive lacks the version that is installed")
    return [
        {"name": name, "version": version.replace("%3a", ":"), "bytes": int(size)}
        for name, version, size in found
    ]


def upstream(version: str) -> str:
    """Return the upstream version: "1:25.2.3+dfsg-1" is 25.2.3."""
    return re.split(r"[-+~]", version.rpartition(":")[2])[0]


def version_of(program: dict[str, Any], path: str, env: dict[str, str]) -> str:
    if not program["version"]:
        return ""
    done = ran([path, *program["version"]], env)
    output = done.stdout + done.stderr
    match = re.search(program["pattern"], output)
    if done.returncode != program["status"]:
        raise failed("broken", program, last_line(output))
    if not match:
        raise failed("no-version", program, f"{path} prints: {last_line(output)}")
    return match[1]
