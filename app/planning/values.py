"""The values of the form's fields, made from a plan's data and made into them. No Qt.

A field has the key of the plan ("rates.from"), or one of the form alone: "load_model", "method",
"rates.as" and "vary.as" (how they are given), "vary.key", "vary.from", "vary.points",
"vary.spacing", "length" and "length.unit", and "warm_up.on", "give_up.on", "profile.on".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from workbench.converting import convert
from workbench.documents import OUR_AGENT
from workbench.plan.editing import plan_data
from workbench.plan.model import Plan, Profile, Range
from workbench.workloads.http.requests import OF_ONE, Request
from workbench.workloads.options import LOAD_MODELS, LoadModel, fields
from workbench.workloads.registry import DEFAULT, declaration, form_fields

Values: TypeAlias = Mapping[str, Any]

_BARE = plan_data(Plan(servers=[]))
_PLAIN = (
    "name", "description", "source", "servers", "running", "repeats", "order", "rate_of",
    "cool_down_s", "looks", "calibrate", "require_all", "seed", "backlog", "nofile", "workers",
    "load_tool", "with",
)  # fmt: skip
"""Keys that are fields as they are."""
SWITCHED: dict[str, tuple[dict[str, Any], Any]] = {
    "warm_up": (_BARE["warm_up"], None),
    "give_up": (_BARE["give_up"], None),
    "profile": (msgspec.to_builtins(Profile()), False),
}
"""Keys with keys of their own, which a tick switches on: their defaults, and the value when off."""
STARTS: Values = {
    "running": _BARE["running"],
    "concurrency": [1, 10, 50, 100],
    "kept": [],
    "rates.points": 10,
    "search.errors_pct": 1,
    "search.points": 30,
    "vary.from": 100,
    "vary.points": 8,
    "vary.spacing": "geometric",
}
"""What stands in fields until a plan says something about them."""
_USUAL = {field.key: field.default for field in fields(Request)}
_ENDS = {"range": ("from", "to", "step"), "ceiling": ("from", "points", "spacing")}
"""What numbers have that are given in these ways."""
_SPACING = {"spacing": "linear"}
_HELD = "connections"
"""The workload's key whose limit is known before a run."""


def closed(values: Values) -> bool:
    """Whether the load is a closed loop, which has no rates."""
    return bool(values["load_model"].mode == "closed")


def varied(values: Values) -> bool:
    """Whether a field of the workload is the axis."""
    return bool(values["vary.key"])


def searches(values: Values) -> bool:
    """Whether the peak is searched for: of rates, and with nothing else varied."""
    return values["method"] == "search" and not closed(values) and not varied(values)


def may_end_at_limit(values: Values) -> bool:
    return bool(values["vary.key"] == _HELD)


def ends_at_limit(values: Values) -> bool:
    """Whether the values of the axis end at what the machines can hold."""
    return may_end_at_limit(values) and values["vary.as"] == "ceiling"


def span(plan: Plan) -> str:
    """Return the rates of a plan, in words."""
    rates = plan.rates_per_s
    if plan.to_ceiling:
        return f"{len(rates):,} rates, {rates[0]:,.6g}/s to the client limit"
    if len(rates) < 2:
        return f"One rate, {rates[0]:,.6g}/s" if rates else ""
    ends = f"{len(rates):,} rates, {rates[0]:,.6g} to {rates[-1]:,.6g}/s"
    return f"Chooses among {ends}" if plan.search else ends


def from_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a plan's data, also invalid ones, but none that it does not mention."""
    given = _mapping(data.get("workload"))
    found = {key: data.get(key, _BARE[key]) for key in _PLAIN}
    if found["load_tool"] in declaration(given.get("protocol", "")).own_tools:
        found["load_tool"] = OUR_AGENT  # Also when another workload is chosen.
    for group, (defaults, _) in SWITCHED.items():
        kept = data.get(group, _BARE[group])
        found[f"{group}.on"] = bool(kept)
        found |= {f"{group}.{key}": _mapping(kept).get(key, defaults[key]) for key in defaults}
    found |= {f"workload.{f.key}": given.get(f.key, f.default) for f in form_fields()}
    found["workload.protocol"] = given.get("protocol", DEFAULT)
    found["workload.requests"] = _requests(given)
    found["load_model"] = _model(given)
    unit = "connections" if data.get("connections") is not None else "seconds"
    found |= {"length.unit": unit, "length": data.get(unit), "lengthen": data.get("lengthen")}
    found["kept"] = [] if found["load_model"].mode == "closed" else data.get("concurrency", [])
    if data.get("concurrency"):
        found["concurrency"] = data["concurrency"]
    return found | _from_rates(data) | _from_vary(data.get("vary"))


def to_data(values: Values) -> dict[str, Any]:
    """Return the plan's data, valid or not."""
    model: LoadModel = values["load_model"]
    unit, in_closed_loop = values["length.unit"], closed(values)
    keys = declaration(values["workload.protocol"]).options.__struct_fields__
    workload = {key.partition(".")[2]: values[key] for key in values if key.startswith("workload.")}
    workload |= {"arrivals": model.arrivals, "mode": model.mode}
    if "headers" in keys:
        workload = _with_requests(workload, several="requests" in keys)
    rates = _numbers(values, "rates", values["rates.as"])
    search = _part(values, "search", "errors_pct", "p99_ms", "points")
    search |= _numbers(values, "rates", "range")
    vary = _numbers(values, "vary", "ceiling" if ends_at_limit(values) else "list")
    return {  # in the order of the form, in which problems are told
        "workload": {key: value for key, value in workload.items() if key in keys},
        "rates": [] if in_closed_loop or searches(values) else rates,
        "search": search if searches(values) else None,
        "concurrency": values["concurrency" if in_closed_loop else "kept"],
        "vary": {values["vary.key"]: vary} if varied(values) else {},
        "connections": values["length"] if unit == "connections" else None,
        "seconds": values["length"] if unit == "seconds" else None,
        "lengthen": unit == "connections" and not in_closed_loop and values["lengthen"],
        **{key: values[key] for key in _PLAIN},
        "running": {id_: of for id_, of in values["running"].items() if id_ in values["servers"]},
        **{
            group: {key: values[f"{group}.{key}"] for key in defaults}
            if values[f"{group}.on"]
            else off
            for group, (defaults, off) in SWITCHED.items()
        },
    }


def _requests(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a workload's requests of HTTP, without defaults; each has the headers of all."""
    shared = _mapping(given.get("headers"))
    several = given.get("requests")
    of_one = {key: given[key] for key in OF_ONE if key in given}
    found = [each for each in several if isinstance(each, dict)] if several else [of_one]
    return [
        {
            key: value
            for key, value in {
                **each,
                "headers": {**shared, **_mapping(each.get("headers"))},
            }.items()
            if key == "path" or value != _USUAL.get(key)
        }
        for each in found
    ]


def _with_requests(workload: dict[str, Any], *, several: bool) -> dict[str, Any]:
    """Return the workload with its requests as a plan has them: one, or several."""
    requests, usual = workload["requests"], {key: _USUAL[key] for key in OF_ONE} | {"path": "/"}
    if several and (len(requests) > 1 or requests[0].get("name")):
        return workload | usual
    one = {key: value for key, value in requests[0].items() if key in OF_ONE}
    return workload | usual | one | {"requests": []}


def adapted(values: Values, before: str) -> dict[str, Any]:
    """Return the values that others imply: the rates are kept as far as the way in which they are
    given can express them. `before`: the way ("rates.as") until now.
    """
    axes = {axis.key for axis in declaration(values["workload.protocol"]).axes}
    found: dict[str, Any] = {} if values["vary.key"] in axes else {"vary.key": ""}
    varies = varied({**values, **found})
    kind = "range" if searches({**values, **found}) else values["rates.as"]
    found["rates.as"] = kind = "list" if varies else kind
    low, high, step = (values[f"rates.{end}"] for end in ("from", "to", "step"))
    if kind == before:
        return found
    if kind == "list" and before == "range" and not varies:
        if all(isinstance(v, int | float) for v in (low, high, step)) and step > 0:
            count = min(2_000, int((high - low) / step + 1e-9) + 1)
            found["rates"] = [round(low + n * step, 6) for n in range(count)]
    elif kind == "list":
        found["rates"] = [low]
    elif before == "list":
        found |= _ends(values["rates"])
    elif kind == "range" and high is None:
        found |= {"rates.to": 10_000, "rates.step": 1_000}
    return found


def _from_rates(data: Mapping[str, Any]) -> dict[str, Any]:
    search = data.get("search")
    if not isinstance(search, dict):
        rates = data.get("rates")
        return {"method": "sweep"} | _from_numbers("rates", rates, _kind(rates))
    return {
        "method": "search",
        "search.errors_pct": search.get("errors_pct", 1),
        "search.p99_ms": search.get("p99_ms"),
        "search.points": search.get("points", 30),
    } | _from_numbers("rates", search, "range")


def _from_vary(vary: Any) -> dict[str, Any]:
    key, given = next(iter(vary.items()), ("", [])) if isinstance(vary, dict) else ("", [])
    kind = "ceiling" if _kind(given) == "ceiling" else "list"
    return {"vary.key": key} | _from_numbers("vary", given, kind)


def _from_numbers(group: str, given: Any, kind: str) -> dict[str, Any]:
    """Return the values of numbers that are listed, or go from one to another."""
    if kind == "list":
        return {f"{group}.as": kind, group: _listed(given)}
    ends = {f"{group}.{key}": given.get(key, _SPACING.get(key)) for key in _ENDS[kind]}
    return {f"{group}.as": kind} | ends


def _numbers(values: Values, group: str, kind: str) -> Any:
    if kind == "list":
        return values[group]
    ends = _part(values, group, *_ENDS[kind])
    return ends | {"to": "ceiling"} if kind == "ceiling" else ends


def _part(values: Values, group: str, *keys: str) -> dict[str, Any]:
    return {key: values[f"{group}.{key}"] for key in keys}


def _ends(rates: Sequence[Any]) -> dict[str, Any]:
    """Return a range through as many rates."""
    numbers = [value for value in rates if isinstance(value, int | float)]
    low, high = min(numbers, default=1000), max(numbers, default=10000)
    step = round((high - low) / max(1, len(numbers) - 1), 6) or max(1, low)
    return {"rates.from": low, "rates.to": high, "rates.step": step}


def _kind(rates: Any) -> str:
    """Return how rates are given; those by their number between two rates are listed."""
    if not isinstance(rates, dict):
        return "list"
    if rates.get("to") == "ceiling":
        return "ceiling"
    return "list" if rates.get("points") and rates.get("step") is None else "range"


def _listed(values: Any) -> Any:
    """Return a range as a list, if it is valid; anything else is returned unchanged."""
    if not isinstance(values, dict):
        return values
    try:
        return convert(values, Range).values(0)
    except msgspec.ValidationError:
        return []


def _model(given: Mapping[str, Any]) -> LoadModel:
    """Return the load model of a workload's plain data."""
    mode, arrivals = given.get("mode", "open"), given.get("arrivals", "uniform")
    alike = [each for each in LOAD_MODELS if each.mode == mode]
    exact = [each for each in alike if each.arrivals == arrivals]
    return next(iter([*exact, *alike]), LOAD_MODELS[0])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
