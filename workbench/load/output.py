"""How a program is started for a point, and what it wrote: what a file of a load tool needs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Annotated

import msgspec

from workbench.analysis import histogram
from workbench.documents import Counts, Errors, SparseHistogram
from workbench.load.base import LoadReport, PointSpec
from workbench.machines.wire import Count, quoted


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Of a table that a program writes, the columns whose values are to be counted."""

    columns: list[str]
    heading: str = ""
    """Its heading where it has none."""
    span: list[str] = []
    """Of calls: who made each, when it ended, in seconds, and how long it took, in ms; see
    `run_program`."""


class Span(msgspec.Struct, frozen=True):
    """When those who made calls began with them."""

    begun: Count
    """How many did."""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)]
    """Between the first and the last that began."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is started for a point."""

    argv: list[str]
    """Its arguments; the first is its name, as the user would type it."""
    env: dict[str, str] = {}
    files: dict[str, str] = {}
    """Texts by name, written to its working folder."""
    read: list[str] = []
    """Files that it writes there, to be returned."""
    counted: dict[str, Table] = {}
    """Tables that it writes there, by name or pattern; see `run_program`."""

    def shown(self) -> str:
        """The command line as typed in a shell."""
        return " ".join(
            [*(f"{n}={shlex.quote(v)}" for n, v in self.env.items()), shlex.join(self.argv)]
        )


Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class Output(msgspec.Struct, frozen=True, kw_only=True, tag_field="ev", tag="ended"):
    """What a program wrote and used; see `run_program`."""

    status: int
    """Exit status; negative: the signal that ended it."""
    output: Text
    """stdout and stderr."""
    files: dict[str, Text] = {}
    counted: dict[str, dict[str, Count]] = {}
    spans: dict[str, Span] = {}
    """Of these tables."""
    began_us: Count = 0
    """By the client's monotonic clock."""
    wall_us: Count = 0
    cpu_us: Count = 0


class Unreadable(Exception):
    """An output that is not a result; the text says what is wrong, for use in a sentence."""


def checked(
    parse: Callable[[Output, PointSpec], LoadReport], output: Output, spec: PointSpec
) -> LoadReport:
    """Return what a parser reads. Raises Unreadable also where its arithmetic fails, or figures are
    too large for a session."""
    try:
        report = parse(output, spec)
        for figures in (report.counts, report.histograms):
            msgspec.convert(msgspec.to_builtins(figures), type(figures))
    except (ArithmeticError, LookupError, ValueError) as error:
        raise Unreadable("its figures are inconsistent") from error
    return report


def url(spec: PointSpec) -> str:
    host = f"[{spec.host}]" if ":" in spec.host else spec.host
    return f"http://{host}:{spec.port}{spec.options.get('path', '/')}"


def calls_per_s(spec: PointSpec) -> int:
    """The rate of calls for a program that takes whole rates only."""
    return max(1, round(spec.rate_per_s * spec.calls_per_connection))


def counts(succeeded: int, errors: Mapping[str, int], *, due: int = 0) -> Counts:
    """The counts of a program that reports replies and errors. `due`: calls of its schedule, of
    which those that did not end are in flight."""
    ended = succeeded + sum(errors.values())
    in_flight = max(0, due - ended)
    return Counts(
        scheduled=ended + in_flight,
        unsent=0,
        sent=ended,
        late=None,
        established=None,
        succeeded=succeeded,
        errors=dict(errors),
        in_flight=in_flight,
    )


def sparse(times: Mapping[int, int]) -> SparseHistogram:
    """Return the histogram of counts by us."""
    buckets: Counter[int] = Counter()
    for us, count in times.items():
        buckets[histogram.bucket_of(us)] += count
    return [number for pair in sorted(buckets.items()) for number in pair]


def last_line(text: str) -> str:
    """The last line that a program printed before it failed, for a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return quoted(lines[-1]).rstrip(".") if lines else "it printed nothing"


def lost_calls(
    events: Mapping[str, int],
    lost: int,
    calls: int,
    *,
    whole: Collection[str] = (),
    interrupted: bool = False,
) -> tuple[Errors, int]:
    """Divide the `lost` calls of a point among the errors that a tool counted.

    `events`: connections by error; `calls`: of each connection; `whole`: errors that come before
    the first call, so that all calls are lost; `interrupted`: the point ended early. Returns the
    calls by error, and those in flight. Calls lost with their connection have its error; where it
    cannot be known which of several errors that was, it is `other`.
    """
    left = lost
    errors: Counter[str] = Counter()
    for name in sorted(events, key=lambda each: (each not in whole, each)):
        errors[name] = min(left, events[name] * (calls if name in whole else 1))
        left -= errors[name]
    broken = [name for name in events if events[name] and name not in whole]
    if broken and not interrupted:
        errors[broken[0] if len(broken) == 1 else "other"] += left
        left = 0
    return {name: count for name, count in sorted(errors.items()) if count}, left
