"""A message: a code with parameters, and the sentence they render to.

The sentence is the template of its code in a table (`Templates`), whose parameters are numbers and
names, never prose. A name in braces is replaced by what it has, formatted as after the colon:

    {calls:,}  {busy_pct:.0f}      as Python does
    {offered_per_s:rate}           by a function of `FORMATS`
    {calls:number_of calls}        the same, with words of its own
    {failed:percent_of $calls}     the same, with the values of other names
    {said:? Last output: {said}}   the rest, if it is not empty, 0 or false ...
    {asleep:?it slept|it stopped}  ... or else the part after the bar
    {first_s:known?, at {first_s}} the same, if it is not None
    {left:1?one was|some were}     the same, if it is 1, or has one item
    {axis:rate?users|rates}        the same, if it is this text
    {left:?}                       nothing, so that it may be left out
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Any, TypeAlias

from workbench import formatting
from workbench.axis import RATE
from workbench.documents import Note

Record: TypeAlias = dict[str, Any]
"""A message as recorded in a session: its parameters, and its code under "code"."""


def share(part: float, whole: float) -> float:
    """part / whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def percent(share: float) -> str:
    # 98.96 % must not be rendered as 99 %, the very limit it missed.
    return f"{math.floor(share * 1000) / 10:.1f} %"


def by_host(stolen_pct: float) -> str:
    """To follow the background load of which it is a part; empty: next to none."""
    if stolen_pct < 1:
        return ""
    return f" (the host of the virtual machine took {stolen_pct:.0f} %)"


def every(count: int, noun: str) -> str:
    """ "all 7 servers", "both servers", "the server"."""
    if count == 1:
        return f"the {noun}"
    return f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"


def place(x: float, suffix: str = RATE.suffix) -> str:
    """A position on the plan's axis with its suffix (`axis.Axis.suffix`): "4,700/s"."""
    return formatting.counted(RATE.figure(x), suffix)


FORMATS: dict[str, Callable[..., str]] = {
    "bits": formatting.bits,
    "by_host": by_host,
    "cores": formatting.cores,
    "Every": lambda count, noun: formatting.capital(every(count, noun)),
    "duration": formatting.duration,
    "every": every,
    "exit": lambda status: f"by signal {-status}" if status < 0 else f"with status {status}",
    "figure": RATE.figure,
    "how_often": lambda count: "once" if count == 1 else f"{count:,} times",
    "joined": lambda texts, separator=",": f"{separator} ".join(texts),
    "listed": lambda names: formatting.listed([*names]),
    "megabytes": formatting.megabytes,
    "ms": lambda us: f"{us / 1000:,.0f} ms",
    "number_of": formatting.number_of,
    "other_asked": lambda has, asked: "" if asked == has else f", not the {asked:,} asked for",
    "percent": percent,
    "place": place,
    "rate": formatting.rate,
    "sentences": " ".join,
    "thousandths": lambda figure, spec: format(figure / 1000, spec),
}
"""How templates format what Python's own formats do not; some families add to these."""


FEW = 5
"""Up to this many values of a server are listed individually."""
MOST_NAMES = 6
"""Up to this many servers are named."""


def places(where: Iterable[tuple[str, float]], suffix: str = RATE.suffix) -> str:
    """ "gevent at 18,000 and 20,000/s", "gevent and Trio at 8,400/s and Twisted at 4,000/s";
    `suffix`: as of `place`."""
    values: defaultdict[str, set[float]] = defaultdict(set)
    for name, x in where:
        values[name].add(x)
    sharing: defaultdict[tuple[float, ...], list[str]] = defaultdict(list)
    for name, xs in values.items():
        sharing[tuple(sorted(xs))].append(name)
    return formatting.listed(
        [f"{_names(names)} at {_values(xs, suffix)}" for xs, names in sharing.items()]
    )


def _names(names: Sequence[str]) -> str:
    """ "gevent, Trio, Twisted, Tornado, Eventlet and 37 others" """
    if len(names) > MOST_NAMES:
        named = names[: MOST_NAMES - 1]
        names = [*named, f"{len(names) - len(named):,} others"]
    return formatting.listed(names)


def _values(xs: Sequence[float], suffix: str) -> str:
    """`xs` ascend."""
    if len(xs) > FEW:
        return f"{len(xs):,} values from {RATE.figure(xs[0])} to {RATE.figure(xs[-1])}{suffix}"
    return f"{formatting.listed([*map(RATE.figure, xs)])}{suffix}"


@cache
def _parts(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """Each literal with the name, the format and the conversion of what follows it."""
    return list(Formatter().parse(template))


@cache
def _choice(spec: str) -> tuple[str, str, str] | None:
    """What "rate?users|rates" asks for, what to say then, and otherwise; None: it is no choice."""
    wanted, asked, said = spec.partition("?")
    if not asked:
        return None
    depth = 0
    for at, sign in enumerate(said):
        depth += (sign == "{") - (sign == "}")
        if sign == "|" and not depth:
            return wanted, said[:at], said[at + 1 :]
    return wanted, said, ""


def _is(value: Any, wanted: str) -> bool:
    if not wanted:
        return bool(value)
    if wanted == "known":
        return value is not None
    if isinstance(value, Sized) and not isinstance(value, str):
        value = len(value)
    return str(value) == wanted


class Said:
    """A message: a code with parameters, and the sentence that they render to."""

    code: str

    def text(self) -> str:
        """The sentence to show: what happened, where, what to do."""
        raise NotImplementedError

    def data(self) -> Mapping[str, Any]:
        """The parameters."""
        raise NotImplementedError

    def record(self) -> Record:
        """For a document."""
        return {"code": self.code, **self.data()}

    def note(self, t_us: int, *, server: str = "", machine: str = "") -> Note:
        """The document that records it."""
        text, data = self.text(), {**self.data()}
        return Note(
            t_us=t_us, topic=self.code, text=text, server=server, machine=machine, data=data
        )


def fill(template: str, value_of: Callable[[str], Any]) -> str:
    """A template, with the values of its names."""
    said = ""
    for literal, name, spec, conversion in _parts(template):
        said += literal
        if name is not None:
            value = value_of(name)
            said += _written(repr(value) if conversion else value, spec or "", value_of)
    return said


def _written(value: Any, spec: str, value_of: Callable[[str], Any]) -> str:
    if chosen := _choice(spec):
        wanted, then, otherwise = chosen
        return fill(then if _is(value, wanted) else otherwise, value_of)
    name, _, words = spec.partition(" ")
    if write := FORMATS.get(name):
        named = words.startswith("$")
        further = [value_of(each[1:]) for each in words.split()] if named else [words] * bool(words)
        return write(value, *further)
    return format(value, spec)


@dataclass(frozen=True)
class Stated(Said):
    """A message of a `Templates`."""

    code: str
    template: str
    parameters: Mapping[str, Any]

    def text(self) -> str:
        return fill(self.template, {"suffix": RATE.suffix, **self.parameters}.get)

    def data(self) -> Mapping[str, Any]:
        return self.parameters


class Templates(dict[str, tuple[tuple[str, ...], str]]):
    """A table of messages, by code: keys, and a template. In its text each begins with a line
    "code: key key", and its template is indented; a line that begins with # is a remark."""

    def __init__(self, text: str) -> None:
        for entry in re.split(r"\n+(?=\S)", text.strip()):
            if entry.startswith("#"):
                continue
            head, _, template = entry.partition("\n")
            code, _, keys = head.partition(":")
            self[code] = (*keys.split(),), " ".join(template.split()).replace(" |", "|")
            names_of(self[code][1])

    def stated(self, code: str, /, **parameters: Any) -> Stated:
        """A message. Raises TypeError unless it gets the parameters that its template names. Those
        that it does not always need may be left out, and are where they are None; those of a choice
        also where they are empty or a whole 0, unless it asks only whether they are known; and
        `suffix` where it is that of rates."""
        self.check(code, parameters)
        template = self[code][1]
        needed, _, choices = names_of(template)
        kept = needed | {*self[code][0]}
        given = {
            name: value
            for name, value in parameters.items()
            if name in kept
            or (value is not None and (value or isinstance(value, float) or name not in choices))
        }
        if given.get("suffix") == RATE.suffix:
            del given["suffix"]
        return Stated(code, template, given)

    def check(self, code: str, names: Collection[str]) -> None:
        needed, known, _ = names_of(self[code][1])
        if not needed <= {*names} <= known:
            raise TypeError(f"'{code}' needs {sorted(needed)}, not {sorted(names)}")

    def read(self, record: Record) -> Stated | None:
        """A recorded message. None: its code is not of this table, or its parameters do not fit."""
        code = record.get("code")
        if not isinstance(code, str) or code not in self:
            return None
        template = self[code][1]
        known = names_of(template)[1]
        found = Stated(code, template, {k: v for k, v in record.items() if k in known})
        with contextlib.suppress(
            ArithmeticError, AttributeError, LookupError, TypeError, ValueError
        ):
            if names_of(template)[0] <= record.keys() and found.text():
                return found
        return None


@cache
def names_of(template: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The names that a template always needs, all of its names, and those of its choices by what
    they are. A suffix is never needed, nor what a choice of nothing names. Raises TypeError for a
    format that does not exist."""
    needed: set[str] = set()
    known: set[str] = set()
    choices: set[str] = set()
    spared = {"suffix"}
    for _, name, spec, _ in _parts(template):
        if name is None:
            continue
        if chosen := _choice(spec or ""):
            known.add(name)
            if chosen[0] != "known":
                choices.add(name)
            if not any(chosen):
                spared.add(name)
            for part in chosen[1:]:
                known |= names_of(part)[1]
                choices |= names_of(part)[2]
        else:
            word = (spec or "").partition(" ")[0]
            if len(word) > 1 and word.isidentifier() and word not in FORMATS:
                raise TypeError(f"'{name}' is formatted by '{word}', which does not exist")
            used = {name, *re.findall(r"\$(\w+)", spec or "")}
            known |= used
            needed |= used
    return frozenset(needed - spared), frozenset(known), frozenset(choices)


def recorded(sentence: str) -> Stated:
    """A recorded sentence whose code is missing or unknown."""
    return Stated("", "{sentence}", {"sentence": sentence})
