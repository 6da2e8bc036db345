"""The published benchmarks that Pongbench re-creates, their questions, and the figures that their
texts state: `resources/sources.yaml`. Their charts are lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from workbench import paths
from workbench.config.yaml import convert, load_yaml


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a text states of one server. None: it does not say."""

    name: str
    """As the text calls it."""
    servers: tuple[str, ...] = ()
    """Ids of the catalogue's entries that it may be compared with."""
    at: float | None = None
    """Value of the question's axis: connections or requests per second, or connections at once."""
    replies_per_s: float | None = None
    mean_ms: float | None = None
    errors: int | None = None
    """Of the whole run."""
    requests: int | None = None
    """Replies of the whole run."""
    stopped_at: float | None = None
    """The rate at which it stopped replying: it was disqualified."""
    memory_mb: float | None = None
    kb_per_s: float | None = None
    """Received, in KB of 1,024 bytes."""
    percentiles_ms: dict[str, float] = {}
    """Response times by percentile, "100" for the longest; empty: none are stated."""
    cited: str
    """Where in the source it stands."""
    drawn: bool = True
    """Whether charts mark it."""

    def label(self, kind: str) -> str:
        """Return the text beside a mark of one of its `figures`, which has the year of its source:
        "Tornado, published 2009: 7,400/s"."""
        stating = (s.year for s in sources() if any(self in q.figures for q in s.questions))
        when = " ".join(("published", *stating))
        return f"{self.name}, {when}: {self.figures[kind]}"

    @property
    def figures(self) -> dict[str, str]:
        """What is stated, for people, by kind."""
        each = ((kind, getattr(self, key), write) for kind, (key, write) in _WRITTEN.items())
        return {kind: write(value) for kind, value, write in each if value is not None}


_WRITTEN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "replies": ("replies_per_s", "{:,.0f}/s".format),
    "requests": ("requests", "{:,} in the run".format),
    "mean": ("mean_ms", lambda ms: f"mean {ms / 1000:g} s" if ms >= 1000 else f"mean {ms:g} ms"),
    "errors": ("errors", "{:,} errors".format),
    "stopped": ("stopped_at", "stopped replying at {:,.0f}/s".format),
    "memory": ("memory_mb", "{:g} MB".format),
    "transfer": ("kb_per_s", "{:,.0f} KB/s".format),
}


class Above(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    above: float


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question of a source: one measurement, which presets repeat in full and scaled."""

    id: str
    """A plan's `source`; the preset of the full form has the same name."""
    label: str
    asks: dict[str, str | int | Above]
    """Keys of a plan's workload, as the source had them: with others, a run is not comparable."""
    shows: str
    method: str
    found: str
    differs: str
    """What is not as it was then."""
    figures: tuple[Published, ...] = ()


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    author: str
    title: str
    published: str
    """Its date, for people."""
    questions: tuple[Question, ...]

    @property
    def year(self) -> str:
        return self.published.split()[-1]

    @property
    def citation(self) -> str:
        return f"{self.author}, {self.title}, {self.published}"


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources, oldest first."""
    path = paths.RESOURCES / "sources.yaml"
    data = load_yaml(path, what="sources")
    return convert(data, tuple[Source, ...], name=str(path), what="sources")


def source_of(question: str) -> tuple[Source, Question] | None:
    """Return a question by its id, with its source; None: there is none of this name."""
    asked = ((source, each) for source in sources() for each in source.questions)
    return next((found for found in asked if found[1].id == question), None)


def question_of(plan: Mapping[str, Any]) -> tuple[Source, Question] | None:
    """Return the question that a plan (as data) asks; None: none, or with another workload."""
    # Sessions recorded before plans named their source may ask that of the sockets.
    found = source_of(str(plan.get("source") or "piel-2009-sockets"))
    workload = _DEFAULTS | plan.get("workload", {})
    asked = found[1].asks.items() if found else ()
    for key, wanted in asked:
        value = workload[key]
        if not (value > wanted.above if isinstance(wanted, Above) else value == wanted):
            return None
    return found


_DEFAULTS = {
    "protocol": "pong",
    "mode": "open",
    "calls_per_connection": 1,
    "think_time_s": 0.0,
    "path": "/",
}
"""Of the keys that questions ask for."""


def figures_of(plan: Mapping[str, Any], servers: Iterable[str]) -> list[Published]:
    """Return the published figures that a run of a plan may be compared with."""
    found, ids = question_of(plan), set(servers)
    return [figure for figure in found[1].figures if ids & set(figure.servers)] if found else []
