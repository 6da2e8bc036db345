"""The workloads there are: every folder beside this file, by the `DECLARATION` in its
`declaration.py`. None of these imports this module."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from workbench import paths
from workbench.workloads.base import Declaration, Protocol
from workbench.workloads.gating import GateResult
from workbench.workloads.options import Field, Workload, fields

DEFAULT = "pong"
"""Protocol of a plan without one."""


def _declared() -> Iterator[Declaration]:
    # Frozen builds also contain the files that are sent to machines.
    for file in paths.CODE.glob("workbench/workloads/*/__init__.py"):
        module = importlib.import_module(f"workbench.workloads.{file.parent.name}.declaration")
        yield module.DECLARATION


WORKLOADS: Mapping[str, Declaration] = {
    each.key: each for each in sorted(_declared(), key=lambda each: (each.key != DEFAULT, each.key))
}
"""Declarations by key, the default first."""

PROTOCOLS: Mapping[str, Protocol] = {
    key: protocol for each in WORKLOADS.values() for key, protocol in each.protocols.items()
}

MESSAGES = "messages"
"""Protocols of servers that only their own program can test."""

FAMILIES: Mapping[str, str] = {
    key: name for each in WORKLOADS.values() for key, name in each.families.items()
}
"""Families of servers that can be measured: their names for display, by key."""

ALL_FAMILIES: Mapping[str, str] = {**FAMILIES, "message": "Messages"}
"""And of those that only their own program can test."""


class _Unknown(Workload, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A workload of an unknown protocol: converting it lists the known ones."""

    protocol: Annotated[Literal[tuple(PROTOCOLS)], Meta(title="Protocol")]  # type: ignore[valid-type]


def declaration(protocol: str) -> Declaration:
    """Return the workload of a protocol; the default one for an unknown protocol."""
    known = {key: each for each in WORKLOADS.values() for key in each.protocols}
    return known.get(protocol, known[DEFAULT])


def options_of(data: object) -> type[Workload]:
    """Return the type for the plain data of a plan's `workload`."""
    protocol: object = DEFAULT
    if isinstance(data, Mapping):
        implied = (each for each in WORKLOADS.values() if each.implied_by in data)
        protocol = data.get("protocol", next((p for w in implied for p in w.protocols), DEFAULT))
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        return _Unknown
    return declaration(protocol).options


def workload(**values: Any) -> Workload:
    """Return a workload with these values, whatever the protocol."""
    return options_of(values)(**values)


def speaking(like: Workload, protocol: str) -> Workload:
    """Return the same workload with another protocol, as far as that has the same keys."""
    options = declaration(protocol).options
    kept = {k: v for k, v in msgspec.structs.asdict(like).items() if k in options.__struct_fields__}
    return options(**kept | {"protocol": protocol})


def form_fields() -> list[Field]:
    """Return the keys set in fields of their own, each once; protocol and load model are chosen."""
    # The longest list first, for it is in the order of reading.
    each = sorted((fields(each.options) for each in WORKLOADS.values()), key=len, reverse=True)
    found = {f.key: f for listed in each for f in listed}
    return [f for key, f in found.items() if key not in ("protocol", "mode", "arrivals")]


def own_fields() -> list[Field]:
    """Return the keys that not all workloads have, each once."""
    own = {f.key: f for each in WORKLOADS.values() for f in fields(each.options)}
    return [field for key, field in own.items() if key not in Workload.__struct_fields__]


def spoken_by(protocols: Iterable[str]) -> Declaration | None:
    """Return the first workload made for a server with these protocols."""
    spoken = set(protocols)
    return next((each for each in WORKLOADS.values() if spoken & set(each.protocols)), None)


def able(gate: GateResult) -> list[str]:
    """Describe what a gated server can be measured with."""
    own = [MESSAGES] if MESSAGES in gate.protocols else []
    return [words for each in WORKLOADS.values() for words in each.able(gate)] + own


def short(protocol: str) -> str:
    """Return a short name: "ping-pong", "HTTP/1.1"; unknown ones unchanged."""
    return PROTOCOLS[protocol].short if protocol in PROTOCOLS else protocol
