"""The form of a plan as a table; the lines of workloads follow from their declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from PySide6.QtWidgets import QWidget

from app.fields import Figure, Flag, Options, Segments, TextField, TickList
from app.planning.inputs import DataField, FileField, Note, Numbers, TextLines
from app.planning.request_list import RequestList
from app.planning.values import Values, closed, ends_at_limit, may_end_at_limit, searches, varied
from workbench.formatting import capital
from workbench.load.registry import TOOLS
from workbench.workloads.http.requests import OF_ONE
from workbench.workloads.options import LOAD_MODELS, Field
from workbench.workloads.registry import PROTOCOLS, declaration, form_fields

When: TypeAlias = Callable[[Values], bool]
_AS_WRITTEN = re.compile("`(.+?)`")
_KINDS = {"lines": TextLines, "file": FileField, "text": TextField}
_WIDE = Segments, TextField, FileField, Note, TextLines, DataField, Numbers, TickList, RequestList


def _always(_: Values) -> bool:
    return True


@dataclass(frozen=True)
class Cell:
    """A field: `kind(name, *given)`."""

    key: str
    """See `values`."""
    kind: Callable[..., QWidget]
    name: str = ""
    """For screen readers and problems; empty: that of the line."""
    given: tuple[Any, ...] = ()
    also: tuple[str, ...] = ()
    """Further keys whose problems are shown at it."""
    shown: When = _always


class Group:
    """Parts of a line that are shown together."""

    def __init__(self, shown: When, *parts: Cell | Group | str) -> None:
        self.shown, self.parts = shown, parts
        self.cells: list[Cell] = []
        for part in parts:
            if not isinstance(part, str):
                self.cells += part.cells if isinstance(part, Group) else [part]


class Row(Group):
    """A line: its name, and its fields with the words between them."""

    def __init__(
        self, name: str, *parts: Cell | Group | str, hint: str = "", shown: When = _always
    ) -> None:
        super().__init__(shown, *parts)
        self.name, self.hint = name, hint
        self.wide = any(cell.kind in _WIDE for cell in self.cells)
        """Whether a field takes the width that there is."""


def _cell(key: str, kind: Callable[..., QWidget], name: str = "", *given: Any, **more: Any) -> Cell:
    return Cell(key, kind, name, given, **more)


def _choice(key: str, options: list[Any], name: str = "", **more: Any) -> Cell:
    return Cell(key, Options, name, (options,), **more)


def _open(values: Values) -> bool:
    return not closed(values)


def _swept(values: Values) -> bool:
    return not (closed(values) or varied(values) or searches(values))


def _rates_as(*kinds: str) -> When:
    return lambda values: not closed(values) and values["rates.as"] in kinds


def _workload_rows(*, advanced: bool) -> Iterator[Row]:
    """Return a line for each field that any workload has."""
    for field in form_fields():
        if field.advanced != advanced or field.key in _OF_REQUESTS:
            continue
        cell, shown = cell_of(field), _of_workload(field)
        about = _AS_WRITTEN.sub(r"“\1”", field.help)
        if advanced:
            hint = f"{capital(about)}." if about else ""
            yield Row(field.label, cell, *filter(None, [field.unit]), hint=hint, shown=shown)
        else:
            yield Row(field.label, cell, f"{field.unit} {about}".strip(), shown=shown)


def cell_of(field: Field) -> Cell:
    """Return the field for a key of a workload, or of a request."""
    key, name = f"workload.{field.key}", f"{field.label}, {field.unit}" if field.unit else ""
    if field.kind == "choice":
        return _choice(key, [(each, str(each)) for each in field.choices])
    if field.kind == "data":
        return _cell(key, DataField, "", field.default)
    return _cell(key, _KINDS.get(field.kind, Figure), name)


def _of_workload(field: Field) -> When:
    def has(values: Values) -> bool:
        keys = declaration(values["workload.protocol"]).options.__struct_fields__
        return field.key in keys and not (field.key == "path" and "headers" in keys)

    return has


def _has_requests(values: Values) -> bool:
    return "headers" in declaration(values["workload.protocol"]).options.__struct_fields__


_OF_REQUESTS = {"requests", *OF_ONE} - {"path"}
"""Keys that the list of requests edits; a path is also one of other workloads."""
_MODELS = [(each, each.label) for each in LOAD_MODELS]
_METHODS = [("sweep", "Sweep all rates"), ("search", "Search the peak")]
_RATES = [("range", "range"), ("list", "list"), ("ceiling", "up to the client limit")]
_SPACINGS = [("linear", "equal steps"), ("geometric", "equal ratios")]
_LENGTHS = [("seconds", "seconds"), ("connections", "connections")]
_PROTOCOLS = [(key, protocol.label) for key, protocol in PROTOCOLS.items()]
_AXES = [("", "load"), *((field.key, field.label) for field in form_fields())]
_VALUES = [("list", "list"), ("ceiling", "up to the limit")]
_ORDERS = [("sequential", "server by server"), ("interleaved", "interleaved, random order")]
_UNITS = [(None, "default"), *((each, each) for each in ("connections", "requests", "users"))]
_TOOLS = [(tool.name, tool.label) for tool in TOOLS.values()]
_COMPARED = [(name, name, f"Compared with {name}") for name in TOOLS]
_Ungrouped = partial(Figure, grouped=False)
_RATE_PX = 84, 62
"""The width of a rate, and the least, with room for 10,000."""

LOAD = (
    Row(
        "Load model",
        _cell("load_model", Segments, "", _MODELS, also=("workload.mode", "workload.arrivals")),
    ),
    Row(
        "Method",
        _cell("method", Segments, "", _METHODS),
        shown=lambda values: not (closed(values) or varied(values)),
    ),
    Row("Rates", _choice("rates.as", _RATES, "Rates as"), shown=_swept),
    Row(
        "Offered rate",
        Group(
            _rates_as("range", "ceiling"),
            _cell("rates.from", Figure, "Lowest rate", *_RATE_PX, also=("search.from", "search")),
            Group(
                _rates_as("range"),
                "to",
                _cell("rates.to", Figure, "Highest rate", *_RATE_PX, also=("search.to",)),
                "step",
                _cell("rates.step", Figure, "Step between rates", *_RATE_PX, also=("search.step",)),
                "/s",
            ),
            Group(
                _rates_as("ceiling"),
                "/s, in",
                _cell("rates.points", Figure, "Number of rates", 46),
                "points,",
                _choice("rates.spacing", _SPACINGS, "Spacing of the rates"),
            ),
        ),
        _cell("rates", Numbers, "Rates per second", shown=_rates_as("list")),
        _cell("concurrency", Numbers, "Concurrent connections", shown=closed),
    ),
    Row(
        "Limits",
        "errors at most",
        _cell("search.errors_pct", Figure, "Errors, percent"),
        "%, p99 at most",
        _cell("search.p99_ms", Figure, "p99, milliseconds"),
        "ms",
        hint="Latency from scheduled time. Empty: any p99.",
        shown=searches,
    ),
    Row(
        "Point length",
        _cell("length", Figure, "", 96, also=("seconds", "connections")),
        _choice("length.unit", _LENGTHS, "Unit of the point length"),
    ),
    Row(
        "",
        _cell("lengthen", Flag, "Extend to the minimum sample size"),
        shown=lambda values: values["length.unit"] == "connections" and not closed(values),
    ),
    Row("Protocol", _choice("workload.protocol", _PROTOCOLS)),
    Row("Requests", _cell("workload.requests", RequestList), shown=_has_requests),
    *_workload_rows(advanced=False),
    Row(
        "Axis",
        _choice("vary.key", _AXES),
        _choice("vary.as", _VALUES, "Values as", shown=may_end_at_limit),
        shown=lambda values: bool(declaration(values["workload.protocol"]).axes),
    ),
    Row(
        "Values",
        _cell(
            "vary", Numbers, "Values of the axis", shown=lambda values: not ends_at_limit(values)
        ),
        Group(
            ends_at_limit,
            _cell("vary.from", Figure, "Lowest value"),
            "in",
            _cell("vary.points", Figure, "Number of values", 46),
            "points,",
            _choice("vary.spacing", _SPACINGS, "Spacing of the values"),
        ),
        shown=varied,
    ),
    Row("Passes", _cell("repeats", Figure), _choice("order", _ORDERS, "Order")),
)

ADVANCED = (
    *_workload_rows(advanced=True),
    Row(
        "Rate unit",
        _choice("rate_of", _UNITS),
        hint="Default: connections where each makes one call, otherwise requests.",
        shown=_open,
    ),
    Row(
        "Warm-up",
        _cell("warm_up.on", Flag, "At"),
        _cell("warm_up.rate_per_s", Figure, "Rate of the warm-up", 72),
        "/s for",
        _cell("warm_up.seconds", Figure, "Seconds of the warm-up", 64),
        "s",
        hint="Left empty: at 500/s, but at most the highest rate; with fixed concurrency no"
        " warm-up.",
    ),
    Row(
        "Cool-down",
        _cell("cool_down_s", Figure, "Cool-down in seconds", 64),
        "s or more between points",
    ),
    Row(
        "Repeats",
        "up to",
        _cell("looks", Figure, "Tries at the limit", 64),
        "tries at the limit",
        shown=_open,
    ),
    Row(
        "Early stop",
        _cell("give_up.on", Flag, "After"),
        _cell("give_up.after_points", Figure, "Points in a row", 56),
        "points below",
        _cell("give_up.success_below_pct", Figure, "Percent of success", 56),
        "%",
        hint="Consecutive points, by their share of successful calls.",
    ),
    Row(
        "CPU profile",
        _cell("profile.on", Flag, "After all results, at"),
        _cell("profile.at", Figure, "Where servers are profiled", 72),
        "for",
        _cell("profile.seconds", Figure, "Seconds of a profile", 56),
        "s",
        hint="In which functions CPU time goes. Left empty: at the highest rate each sustains.",
    ),
    Row("Calibration", _cell("calibrate", Flag, "Calibrate clients first"), shown=_open),
    Row("Servers", _cell("require_all", Flag, "One that fails its test ends the run")),
    Row("Seed", _cell("seed", _Ungrouped, "", 140), "0: a new one for each run"),
    Row(
        "Backlog",
        _cell("backlog", Figure),
        "descriptors",
        _cell("nofile", Figure, "Descriptors"),
        hint="The same for every server.",
    ),
    Row("Load agents", _cell("workers", Figure, "", 64), "processes, one core each"),
    Row("Load tool", _choice("load_tool", _TOOLS)),
    Row("Compared with", _cell("with", TickList, "", _COMPARED)),
)

TEXTS = (Row("Title", _cell("name", TextField)), Row("Note", _cell("description", Note)))
