"""Versions of a user's service as servers: folders of the cache with the files of a commit, or of
the working tree, and a `server.yaml` of what `recognising` says of them. How it is started, if
its files do not say so, is kept beside its folder."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench import stores
from workbench.config import yaml
from workbench.errors import BadInput, PongbenchError, why
from workbench.machines.base import Machine
from workbench.servers import sources
from workbench.servers.catalogue import versions
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import Reply, ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import gate, wire_to
from workbench.servers.recognising import recognise
from workbench.servers.runtimes import Notify
from workbench.servers.sources import Repository
from workbench.servers.user_servers import complete
from workbench.workloads.gating import request
from workbench.workloads.http.gate import CALLS_KEPT
from workbench.workloads.http.requests import Secret
from workbench.workloads.wire import Fault
from workbench.workloads.wire import Reply as Received

HERE = "."
"""In place of a commit: the working tree."""
BEFORE = "before.py"
"""Of `resources/apps`: runs commands before a server."""
STARTS = 2
"""Of which a reply has to be the same to be expected."""
KEPT_S = 30 * 86_400
"""How long a version is kept that nobody uses."""
MOST_BODY = 16_384
"""Bytes of a body that is expected."""


class Told(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What is kept beside a service's folder. Commands are read by no shell."""

    command: str = ""
    """How it is started, with {port}; empty: as its files say."""
    env: dict[str, str | Secret] = {}
    before: list[str] = []
    """Commands run before each start."""
    make: list[str] = []
    """Commands that compile it into {made}; empty: as its files say."""
    path: str = "/"
    """What is asked."""


@dataclass(frozen=True)
class Version:
    """A version of a service."""

    name: str
    """As it was asked for: "v1.4"; "working tree"."""
    commit: str
    """Empty: the working tree."""


def beside(folder: Path) -> Path:
    """Return the file beside a service's folder."""
    whole = folder.resolve()
    return whole.with_name(f"{whole.name}.pongbench.yaml")


def told(folder: Path) -> Told:
    """Raises BadInput."""
    path = beside(folder)
    if not path.exists():
        return Told()
    found = yaml.load_yaml(path, what="service") or {}
    return yaml.convert(found, Told, name=str(path), what="service")


def keep(folder: Path, what: Told) -> None:
    """Raises BadInput."""
    try:
        text = yaml.dumped(msgspec.to_builtins(what), default_flow_style=False)
        beside(folder).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{beside(folder)} cannot be written: {why(error)}.") from None


def version(repository: Repository, ref: str) -> Version:
    """Raises BadInput."""
    if ref == HERE:
        return Version("working tree", "")
    return Version(ref, repository.commit(ref))


def entry(repository: Repository, of: Version, how: Told) -> ServerEntry:
    """Return the server that a version is, made if it is not in the cache. Raises PongbenchError,
    of which NoCommand means that nothing says how it is started."""
    parent = versions()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        stores.tidy(parent, KEPT_S)
        if of.commit and (place := parent / _id(repository, of, how, of.commit)).is_dir():
            stores.used(place)
            return load_entry(place)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=parent) as work:
            part = Path(work, "service")
            part.mkdir()
            if of.commit:
                repository.unpack(of.commit, part)
            else:
                repository.copy_here(part)
            place = parent / _id(repository, of, how, of.commit or sources.digest(part))
            _complete(part, repository.folder.name, of, how)
            shutil.rmtree(place, ignore_errors=True)
            part.rename(place)
        return load_entry(place)
    except OSError as error:
        raise PongbenchError(f"There is no place for it in {parent}: {why(error)}.") from None


def _id(repository: Repository, of: Version, how: Told, content: str) -> str:
    named = re.sub(r"[^a-z0-9.]+", "-", f"{repository.folder.name}-{of.name}".lower()).strip("-.")
    key = hashlib.sha256(content.encode() + msgspec.json.encode(how)).hexdigest()[:8]
    return f"{named[:50].rstrip('-.') or 'service'}-{key}"


def _complete(part: Path, service: str, of: Version, how: Told) -> None:
    if (part / "server.yaml").exists():
        raise BadInput("It has a server.yaml of its own, which a server here needs; rename it.")
    project = recognise(part, how.command)
    made: dict[str, Any] = {
        **project.entry,
        "name": of.name,
        "description": f"{service}, {of.commit or 'with local changes'}.",
        "version": f"{service} {of.commit[:10] or 'working tree'}",
        "path": how.path,
        "ready": "http",
        "closes_first": "server",
        "env": project.entry.get("env", {}) | msgspec.to_builtins(how.env),
        "build": bool(project.requirements),
    }
    if how.make:
        made["make"] = [shlex.split(each) for each in how.make]
    if how.before:
        made |= _after(how.before, made)
    complete(part, made, project.requirements)


def _after(before: Sequence[str], made: dict[str, Any]) -> dict[str, Any]:
    words = [word for each in before for word in (*shlex.split(each), ";")]
    python = made.get("runtime", "python") == "python"
    if python:
        words = ["{python}" if re.fullmatch(r"python[\d.]*", w) else w for w in words]
    command = ["{python}", BEFORE, *words, *made["command"]]
    return {"runtime": "python", "shared": [BEFORE], "command": command}


async def observed(
    machine: Machine, of: ServerEntry, *, notify: Notify, install: bool
) -> ServerEntry:
    """Start it twice, and return it with what it then answered as what it has to answer. Raises
    PongbenchError when it does not start, or is no server of HTTP that can be measured."""
    replies: list[Received] = []
    for start in range(STARTS):
        deployment = await deploy(machine, of, notify=notify, install=install)
        try:
            of = await _observe(deployment, replies)
            if start == STARTS - 1:
                deployment.entry = of
                result = await gate(deployment)
                if not result.passed:
                    raise PongbenchError(" ".join(result.sentences))
        finally:
            await deployment.stop()
    return of


async def _observe(deployment: Deployment, replies: list[Received]) -> ServerEntry:
    """Return its entry by what it answers; `replies`: of all starts, to which these are added."""
    of, wire = deployment.entry, wire_to(deployment)
    try:
        end = await wire.whole(request(of, "HTTP/1.0"), must_close=False)
        kept = await wire.one_by_one(request(of, "HTTP/1.1"), CALLS_KEPT)
    except Fault as fault:
        raise PongbenchError(str(fault)) from None
    replies += [end.reply, *kept]
    if not 200 <= end.reply.status < 300:
        raise PongbenchError(
            f"It answers {end.reply.status} to GET {of.path} with `Host: pongbench`; write another"
            " `path:` into the file beside its folder, or let it accept that host"
            " (Django: ALLOWED_HOSTS)."
        )
    path = of.folder / "server.yaml"
    data: Any = yaml.load_yaml(path, what="server")
    closed, keeps = end.how != "open", len(kept) == CALLS_KEPT
    data["protocols"] = ["http/1.0"] * closed + ["http/1.1"] * (keeps or not closed)
    data["closes_first"] = "server" if closed else "client"
    data["reply"] = msgspec.to_builtins(Reply(status=end.reply.status, body=_body(replies)))
    text = yaml.dumped(data, default_flow_style=None, width=1_000)
    path.write_text(text, encoding="utf-8")
    return load_entry(of.folder)


def _body(replies: Sequence[Received]) -> str | None:
    """Return the body that all of them have; None: they differ, or it is long or no text."""
    body = replies[0].body
    if len(body) > MOST_BODY or any((r.body, r.body_bytes) != (body, len(body)) for r in replies):
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None
