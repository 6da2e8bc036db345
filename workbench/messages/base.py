"""A message: a code with typed parameters, and the sentence they render to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.converting import convert

M = TypeVar("M", bound="Message")

Record: TypeAlias = dict[str, Any]
"""A message as recorded in a session: its parameters, and its code under "code"."""


def _code(name: str) -> str:
    """ "CallsFailed" is "calls-failed"."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")


class Message(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="code", tag=_code
):
    """One class per code. Its fields are the parameters: numbers and names, never prose."""

    apart: ClassVar[tuple[str, ...]] = ()
    """Numbers that identify a message, as names do, so they never become a `Span`."""

    same: ClassVar[tuple[str, ...]] = ()
    """Texts that may differ between messages of one kind; the first is shown for all."""

    @property
    def code(self) -> str:
        """The class's code; recorded, so it never changes."""
        return str(self.__struct_config__.tag)

    def text(self) -> str:
        """The sentence to show: what happened, where, what to do."""
        raise NotImplementedError

    def record(self) -> Record:
        """For a document."""
        record: Record = msgspec.to_builtins(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in record.items()}

    def data(self) -> dict[str, Any]:
        """The parameters without the code."""
        return {name: value for name, value in self.record().items() if name != "code"}


class Recorded(Message, frozen=True, kw_only=True, tag=""):
    """A recorded sentence whose code is missing or unknown."""

    sentence: str

    def text(self) -> str:
        return self.sentence


def kinds(base: type[M]) -> dict[str, type[M]]:
    """All messages of a kind that render a sentence, by code."""
    found = {str(base.__struct_config__.tag): base} if "text" in vars(base) else {}
    for kind in base.__subclasses__():
        found |= kinds(kind)
    return found


def read(
    known: Mapping[str, type[Message]], code: object, data: Mapping[str, Any], sentence: str
) -> Message:
    """A recorded message; `Recorded` if its code is unknown or its data do not fit."""
    kind = known.get(code) if isinstance(code, str) else None
    if kind is not None:
        with contextlib.suppress(msgspec.ValidationError, ArithmeticError, ValueError):
            message = convert({**data, "code": code}, kind)
            # Figures of the right types may still fail to render.
            message.text()
            return message
    return Recorded(sentence=sentence)


@dataclass(frozen=True)
class Span:
    """One figure of several messages, in their order; rendered as the range from lowest to
    highest."""

    values: tuple[float, ...]

    def __format__(self, spec: str) -> str:
        return each(self, lambda value: format(value, spec))

    def over(self, other: Figure) -> Span:
        """Divided element by element; division by 0 gives 0."""
        others = other.values if isinstance(other, Span) else (other,) * len(self.values)
        pairs = zip(self.values, others, strict=True)
        return Span(tuple(a / b if b else 0.0 for a, b in pairs))


Figure: TypeAlias = float | Span
"""A parameter while it is rendered."""


def each(figure: Figure, write: Callable[[float], str]) -> str:
    """The formatted figure; of a `Span` the lowest "to" the highest."""
    if not isinstance(figure, Span):
        return write(figure)
    low, high = write(min(figure.values)), write(max(figure.values))
    return low if low == high else f"{low} to {high}"


def share(part: Figure, whole: Figure) -> Figure:
    """part / whole; 0 if the whole is 0."""
    if isinstance(part, Span):
        return part.over(whole)
    if isinstance(whole, Span):
        return Span((part,) * len(whole.values)).over(whole)
    return part / whole if whole else 0.0


def place(x: Figure, suffix: str) -> str:
    """A position on the plan's axis with its suffix (`axis.Axis.suffix`): "4,700/s", "10 to 50
    concurrent"."""
    return formatting.counted(each(x, RATE.figure), suffix)


def most(figure: Figure) -> float:
    """Sort key of a figure."""
    return max(figure.values) if isinstance(figure, Span) else figure


def kind(message: Message) -> Hashable:
    """The kind of a message. Messages of one kind differ only in figures, so `merged_text` can
    merge them."""
    return message.code, *(
        (name, value if name in message.apart else _without_figures(value))
        for name, value in msgspec.structs.asdict(message).items()
        if name not in message.same
    )


def merged_text(messages: Sequence[Message]) -> str:
    """One sentence for messages of one kind."""
    first, *others = messages
    if all(other == first for other in others):
        return first.text()
    every = [msgspec.structs.asdict(message) for message in messages]
    spanned = {
        name: _span([of[name] for of in every]) for name in every[0] if name not in first.same
    }
    return msgspec.structs.replace(first, **spanned).text()


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _without_figures(value: Any) -> Hashable:
    if _is_figure(value):
        return "figure"
    if isinstance(value, Mapping):
        return frozenset((key, _without_figures(inner)) for key, inner in value.items())
    return tuple(value) if isinstance(value, list) else value


def _span(values: list[Any]) -> Any:
    first = values[0]
    if all(value == first for value in values):
        return first
    if isinstance(first, Mapping):
        return {key: _span([value[key] for value in values]) for key in first}
    return Span(tuple(values))
