"""Reads plans: by name, from plan and session files, with keys set on the command line."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench import paths
from workbench.config.yaml import convert, load_yaml, loads_yaml
from workbench.documents import OUR_AGENT
from workbench.errors import BadInput
from workbench.plan.checks import check
from workbench.plan.model import Plan
from workbench.servers.address import is_address, parse
from workbench.servers.catalogue import variant_id
from workbench.sessions import is_session, read_session
from workbench.untrusted import one_line
from workbench.workloads.options import Workload, fields
from workbench.workloads.pong.declaration import PongWorkload
from workbench.workloads.registry import PROTOCOLS, WORKLOADS, declaration, options_of


def load_plan(name_or_path: str | Path) -> Plan:
    """Load a plan by name, or from a plan or session file, and check it. Raises BadInput."""
    name = str(name_or_path)
    return check(read_plan(name), name=name if is_address(name) else str(_find(name)))


def read_plan(name_or_path: str | Path, changes: Sequence[str] = ()) -> Plan:
    """Read a plan, with keys set (see `with_set`), without `check`. Raises BadInput."""
    if is_address(str(name_or_path)):
        read = _named(of_address(str(name_or_path)), _OF_ADDRESS)
        return with_set(read, changes) if changes else read
    path = _find(str(name_or_path))
    if is_session(path):
        read = _of_session(read_session(path).start.plan, str(path))
    else:
        read = _named(_of_file(load_yaml(path, what="plan"), path), str(path))
    return with_set(read, changes) if changes else read


_OF_ADDRESS = "Running server"


def of_address(address: str) -> dict[str, Any]:
    """Return the plan of a running server by itself, as data. Raises BadInput."""
    found = parse(address)
    plan: dict[str, Any] = {
        "name": _OF_ADDRESS,
        "servers": [address],
        "rates": {"from": 100, "to": "ceiling", "points": 10, "spacing": "geometric"},
        "seconds": 2,
    }
    tls = {"tls": "full"} if found.tls else {}
    if found.protocols == ["websocket"]:
        workload: dict[str, Any] = {"protocol": "websocket", "connections": 100, **tls}
        return plan | {"workload": workload, "rates": {"from": 50, "to": 1_600, "points": 6}}
    if found.protocols == ["pong"]:
        return plan
    workload = {"protocol": "http/1.1", "calls_per_connection": 10, "on_close": "reconnect"}
    return plan | {"workload": workload | tls, "rate_of": "requests"}


def _of_file(data: object, path: Path) -> object:
    """Resolve the path of a locustfile beside the plan's file. Raises BadInput for an empty list of
    requests, which a session has in place of none."""
    workload = data.get("workload") if isinstance(data, dict) else None
    if not isinstance(workload, dict):
        return data
    name = workload.get("locustfile")
    if isinstance(name, str) and (path.parent / name).is_file():
        workload["locustfile"] = str((path.parent / name).resolve())
    if workload.get("requests") == []:
        raise BadInput(
            f"plan {path}, workload.requests: the list is empty; name at least one request, or"
            " leave it out for the one of path, method, headers and body."
        )
    return data


def plan_from_data(data: object, *, name: str) -> Plan:
    """Build a checked plan from plain data; `name` is the file's, for messages. Raises BadInput."""
    return check(_named(data, name), name=name)


def plan_of_session(data: dict[str, Any], *, name: str) -> Plan:
    """Build a plan like `plan_from_data`, from what a session recorded of it; see `recorded`."""
    return check(_of_session(data, name), name=name)


def _of_session(data: dict[str, Any], name: str) -> Plan:
    """A rate of the warm-up that follows from the plan is left open again, so that it also follows
    from what is changed before the next run."""
    plan = _named(data, name)
    if plan.warm_up is None:
        return plan
    warm_up = msgspec.structs.replace(plan.warm_up, rate_per_s=None)
    left_open = msgspec.structs.replace(plan, warm_up=warm_up)
    return left_open if left_open.warming == plan.warming else plan


def _named(data: object, name: str) -> Plan:
    data = _with_server_ids(data, name)
    plan = as_plan(convert(data, plan_type(data), name=name, what="plan"))
    return plan if plan.name else msgspec.structs.replace(plan, name=Path(name).stem)


def _with_server_ids(data: object, name: str) -> object:
    """Replace {server: tornado, processes: 4} and addresses by ids. Raises BadInput."""
    servers = data.get("servers") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(servers, list):
        return data
    ids = [_server_id(server, name) for server in servers]
    about = {
        server["address"]: {key: value for key, value in server.items() if key != "address"}
        for server in servers
        if isinstance(server, Mapping) and "address" in server
    }
    running = data.get("running")
    if about:
        running = {**(running if isinstance(running, Mapping) else {}), **about}
    return {**data, "servers": ids, **({} if running is None else {"running": running})}


def _server_id(server: object, name: str) -> object:
    if not isinstance(server, Mapping):
        return server
    match dict(server):
        case {"server": str(id), "processes": int(count), **other} if count > 0 and not other:
            return variant_id(id, count)
        case {"address": str(address)}:
            return parse(address).text
    raise BadInput(
        f"plan {name}, servers: {one_line(str(dict(server)))} is no server; write its id, or its"
        " id and a number of processes: {server: tornado, processes: 4}; of a running server its"
        " address: {address: http://127.0.0.1:8000/}."
    )


def plan_type(data: object) -> type[Plan]:
    """Return the type for plain data, with the keys of its workload; see `as_plan`."""
    return _plan_with(options_of(data.get("workload") if isinstance(data, Mapping) else None))


def as_plan(read: Plan) -> Plan:
    """Convert a value of a `plan_type` to a plan."""
    return Plan(**{name: getattr(read, name) for name in Plan.__struct_fields__})


@functools.cache
def _plan_with(options: type[Workload]) -> type[Plan]:
    return msgspec.defstruct(  # type: ignore[return-value]
        "Plan",
        [("workload", options, PongWorkload())],
        bases=(Plan,),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def with_set(plan: Plan, changes: Sequence[str]) -> Plan:
    """Set keys as "key=value", the value as in YAML; keys of the workload need no "workload."
    prefix. Raises BadInput; the plan as a whole is checked by `check`."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    for change in changes:
        _set(data, change)
    changed = _named(data, plan.name)
    keys = {change.partition("=")[0].removeprefix("workload.") for change in changes}
    for key in sorted(keys & set(changed.vary)):
        raise BadInput(f"--set {key}: the plan varies it; set its values, vary={{{key}: [...]}}.")
    if idle := sorted(keys & _OF_RATES) if changed.closed else []:
        raise BadInput(
            f"--set {idle[0]}: a closed loop offers no rate, so it has no effect; leave it out, or"
            " set mode=open and rates."
        )
    return changed


_OF_RATES = {"arrivals", "rate_of", "lengthen"}


def _set(data: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"--set {change}: write KEY=VALUE, for example seconds=10.")
    own = options_of(data["workload"]).__struct_fields__
    if key in own or key in _keys_of_workloads() - set(Plan.__struct_fields__):
        key = f"workload.{key}"
    value = loads_yaml(text, name=change, what="--set") if text else ""
    own_tools = declaration(data["workload"]["protocol"]).own_tools
    if key in ("workload.protocol", "workload.engine") and data["load_tool"] in own_tools:
        data["load_tool"] = OUR_AGENT
    if key == "workload.protocol" and value in PROTOCOLS:
        # Keys that the other protocol does not have would be reported as errors.
        there = declaration(str(value)).options.__struct_fields__
        data["workload"] = {k: v for k, v in data["workload"].items() if k in there}
    if key in ("seconds", "connections"):
        data |= {"seconds": None, "connections": None}
    if key == "search" and value:
        data |= {"rates": [], "concurrency": [], "vary": {}}
    elif key.startswith(("rates", "concurrency", "vary")):
        data["search"] = None
    *outer, last = key.split(".")
    inner: Any = data
    for step in outer:
        if step not in inner:
            close = difflib.get_close_matches(step, [*inner, *_keys_of_workloads()], n=1)
            hint = f". Did you mean {close[0]!r}?" if close else "; docs/plans.md lists them."
            raise BadInput(f"--set {change}: unknown key {step!r}{hint}")
        if not isinstance(inner := inner.get(step), dict):
            raise BadInput(f"--set {change}: {step} has no keys in this plan; give all of it.")
    inner[last] = value


def _keys_of_workloads() -> set[str]:
    return {field.key for each in WORKLOADS.values() for field in fields(each.options)}


def to_data(plan: Plan) -> dict[str, Any]:
    """Return plain data with defaults; `rates` as a list, unless they end at the limit."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    if not plan.running:
        del data["running"]
    if not plan.to_ceiling:
        data["rates"] = [] if plan.search else plan.rates_per_s
    return data


def recorded(plan: Plan) -> dict[str, Any]:
    """Return it as a session has it, with its warm-up. `plan_of_session` reads it."""
    return to_data(plan) | {"warm_up": plan.warming and plan.warming._asdict()}


def _folders() -> list[Path]:
    return [paths.data_dir() / "plans", paths.RESOURCES / "plans"]


def _find(name: str) -> Path:
    looks_like_a_file = Path(name).suffix in {".yaml", ".yml"} or "/" in name or "\\" in name
    if looks_like_a_file or Path(name).is_file():
        return Path(name)
    # A name contains no separator, so it cannot leave the folders.
    for folder in _folders():
        candidate = folder / f"{name}.yaml"
        if candidate.is_file():
            return candidate
    known = sorted({each.stem for folder in _folders() for each in folder.glob("*.yaml")})
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else "Give a file, or one of `pongbench plans`."
    servers = [each.name for each in (paths.RESOURCES / "servers").iterdir()]
    if not close and (close := difflib.get_close_matches(name, servers, n=1, cutoff=0.7)):
        hint = f"To measure the server {close[0]}: `pongbench run quick --server {close[0]}`."
    if re.fullmatch(r"\[?[\w.:-]+\]?:\d+", name):
        hint = f"To measure a running server: `pongbench run http://{name}/`."
    raise BadInput(f"There is no plan {name!r}. {hint}")
