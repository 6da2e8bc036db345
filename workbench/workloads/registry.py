"""The workloads there are. A new one is a folder here, and a line in `WORKLOADS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from workbench.workloads.base import Declaration, Field, Protocol, Workload, fields
from workbench.workloads.http.declaration import Http
from workbench.workloads.pong.declaration import Pong

if TYPE_CHECKING:
    from workbench.workloads.gating import GateResult

WORKLOADS: Mapping[str, Declaration] = {each.key: each for each in (Pong(), Http())}

PROTOCOLS: Mapping[str, Protocol] = {
    key: protocol for each in WORKLOADS.values() for key, protocol in each.protocols.items()
}

DEFAULT = "pong"
"""Protocol of a plan that names none."""

MESSAGES = "messages"
"""What a server of its own protocol speaks, which only its own program can try."""

FAMILIES = tuple(dict.fromkeys(f for each in WORKLOADS.values() for f in each.families))
"""Of servers that can be swept."""


class _Unknown(Workload, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Of no protocol there is: reading it says which there are."""

    protocol: Annotated[Literal[tuple(PROTOCOLS)], Meta(title="Protocol")]  # type: ignore[valid-type]


def declaration(protocol: str) -> Declaration:
    """The workload whose clients speak it; of an unknown protocol, that of the default."""
    known = {key: each for each in WORKLOADS.values() for key in each.protocols}
    return known.get(protocol, known[DEFAULT])


def options_of(data: object) -> type[Workload]:
    """What plain data of a plan's `workload` are to be read as."""
    protocol = data.get("protocol", DEFAULT) if isinstance(data, Mapping) else DEFAULT
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        return _Unknown
    return declaration(protocol).options


def workload(**values: Any) -> Workload:
    """Of these values, whatever the protocol."""
    return options_of(values)(**values)


def speaking(like: Workload, protocol: str) -> Workload:
    """The same over another protocol, as far as that has the same keys."""
    options = declaration(protocol).options
    kept = {k: v for k, v in msgspec.structs.asdict(like).items() if k in options.__struct_fields__}
    return options(**kept | {"protocol": protocol})


def form_fields() -> list[Field]:
    """Keys that are set one by one, each once; protocol and load model are chosen."""
    found = {f.key: f for each in WORKLOADS.values() for f in fields(each.options)}
    return [f for key, f in found.items() if key not in ("protocol", "mode", "arrivals")]


def own_fields() -> list[Field]:
    """Keys that not all workloads have, each once."""
    own = {f.key: f for each in WORKLOADS.values() for f in fields(each.options)}
    return [field for key, field in own.items() if key not in Workload.__struct_fields__]


def spoken_by(protocols: Iterable[str]) -> Declaration | None:
    """The first workload that a server which speaks them is made for."""
    spoken = set(protocols)
    return next((each for each in WORKLOADS.values() if spoken & set(each.protocols)), None)


def able(gate: GateResult) -> list[str]:
    """What a server that was gated can be measured with, in words."""
    own = [MESSAGES] if MESSAGES in gate.protocols else []
    return [words for each in WORKLOADS.values() for words in each.able(gate)] + own


def short(protocol: str) -> str:
    """ "ping-pong", "HTTP/1.1"; what is not known as it is."""
    return PROTOCOLS[protocol].short if protocol in PROTOCOLS else protocol


def phrase(protocol: str) -> str:
    """Among the conditions of a run."""
    return PROTOCOLS[protocol].phrase if protocol in PROTOCOLS else protocol.upper()
