"""The result of the last check of a machine, and its state in a word. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from workbench.machines.checking import Step

HERE = "localhost"
JUST_NOW = "just now"
FRESH = timedelta(hours=24)
"""Older results are shown without their colour."""
KEPT = "machines"
"""The key of the records in the settings."""

_PROBLEMS = {
    "new key": ("unknown key", "warn"),
    "key changed": ("key changed", "bad"),
    "busy": ("in use", "warn"),
    "unreachable": ("unreachable", "bad"),
    "failed": ("not usable", "bad"),
}
"""By kind: its word and its tone."""


@dataclass(frozen=True)
class State:
    """A short text with its tone, for lights, chips and lists."""

    word: str
    tone: str


CHECKING = State("checking…", "focus")
DAMAGED = State("invalid profile", "bad")


@dataclass
class Record:
    """One check, as plain data that is kept between starts. It contains no secret."""

    at: str = ""
    """ISO 8601 in local time; empty: never checked."""
    kind: str = ""
    """ready, remarks, new key, key changed, busy, unreachable, stopped, or empty."""
    words: str = ""
    """The user of a machine that is busy."""
    steps: list[list[str]] = field(default_factory=list)
    """[name, state, sentence], in order."""
    found: dict[str, Any] = field(default_factory=dict)
    """As `checking.Step.found`, of all steps."""
    read: str = ""
    """When the facts were read, as `at`; a failed check keeps those of the previous one."""

    def add(self, step: Step) -> None:
        """Add a step, or what is known of it now."""
        places = [place for place, each in enumerate(self.steps) if each[0] == step.name]
        at = places[0] if places else len(self.steps)
        self.steps[at : at + 1] = [[step.name, step.state, step.text]]
        if "facts" in step.found:
            self.read = stamp(now())
        self.found |= step.found
        if step.error is not None:
            self.kind, self.words = _kind(step), getattr(step.error, "holder", "")

    def again(self) -> Record:
        """Return a record for the next check; facts stay visible meanwhile."""
        found = {key: kept for key, kept in self.found.items() if key != "alive"}
        return Record(at=self.at, found=found, read=self.read)

    def with_facts(self, later: Record) -> Record:
        """Return this record with the other's facts if those were read later."""
        if not later.facts or (self.facts and self.read > later.read):
            return self
        found = later.found | self.found | {"facts": later.facts}
        return replace(self, found=found, read=later.read)

    def finish(self, at: datetime) -> None:
        self.at = stamp(at)
        if not self.kind:
            warned = any(state == "warning" for _, state, _ in self.steps)
            self.kind = "remarks" if warned else "ready"

    @property
    def passed(self) -> bool:
        return self.kind in ("ready", "remarks")

    @property
    def tone(self) -> str:
        """How serious its problem is, at whatever age: bad or warn; empty: there is none."""
        return _PROBLEMS.get(self.kind, ("", ""))[1]

    @property
    def old(self) -> bool:
        """Whether the machine may have changed since."""
        return bool(self.at) and not is_fresh(self.at)

    @property
    def hindrance(self) -> str:
        """Why nothing can be removed from the machine, in one sentence; empty: it can."""
        if self.kind == "busy":
            by = f" by {self.words}" if self.words else ""
            return f"In use{by}. Check again once it is free."
        if self.steps and self.steps[-1][:2] == ["Log in", "failed"]:
            return "The last check could not log in. Check again first."
        return ""

    @property
    def facts(self) -> Mapping[str, Any]:
        found = self.found.get("facts")
        return found if isinstance(found, dict) else {}

    @property
    def state(self) -> State:
        """The result with its age; an old one has no tone, for it may no longer be true."""
        when = since(self.at)
        if self.passed:
            return State(f"ready {when}", "ok" if is_fresh(self.at) else "")
        word, tone = _PROBLEMS.get(self.kind, ("not checked", ""))
        if self.kind == "busy" and self.words:
            word = f"in use by {self.words}"
        if self.kind in _PROBLEMS and when not in ("", JUST_NOW):
            word = f"{word}, {when}"
        # A key waits for the user however long ago it was seen.
        lasting = self.kind in ("new key", "key changed")
        return State(word, tone if lasting or is_fresh(self.at) else "")


def _kind(step: Step) -> str:
    from workbench.machines.hostkeys import ChangedHostKey, UnknownHostKey  # noqa: PLC0415
    from workbench.machines.runner_client import MachineBusy  # noqa: PLC0415

    kinds = {UnknownHostKey: "new key", ChangedHostKey: "key changed", MachineBusy: "busy"}
    # A refused log-in means that the machine is reachable.
    unheard = step.name == "Log in" and step.error.code != "login-refused"
    return kinds.get(type(step.error), "unreachable" if unheard else "failed")


def since(at: str) -> str:
    """Return "just now", "7 min ago", "5 h ago", "12 days ago", and a date after 60 days."""
    then = _time(at)
    if then is None:
        return ""
    age = now() - then
    minutes = int(age.total_seconds() // 60)
    if minutes < 0:
        return f"on {then.day} {then:%b}, {then:%H:%M}"  # the clock was set back
    if minutes < 1:
        return JUST_NOW
    if age.days > 60:
        return f"on {then.day} {then:%b %Y}"
    hours = minutes // 60
    ages = f"{minutes} min" if not hours else f"{hours} h" if hours < 48 else f"{age.days} days"
    return f"{ages} ago"


def is_fresh(at: str) -> bool:
    """Whether a result is recent enough to rely on."""
    then = _time(at)
    return then is not None and now() - then < FRESH


def now() -> datetime:
    return datetime.now().astimezone()


def stamp(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def _time(at: str) -> datetime | None:
    try:
        return datetime.fromisoformat(at).astimezone()
    except ValueError:
        return None


class Records:
    """The records of all machines, by name, in the settings."""

    def __init__(self, more: dict[str, Any]) -> None:
        self._more = more

    def get(self, name: str) -> Record:
        """Return a machine's record; an empty one if it was never checked."""
        kept = self._all().get(name)
        if kept is None:
            return Record()
        try:
            return msgspec.convert(kept, Record)
        except msgspec.ValidationError:
            return Record()

    def put(self, name: str, record: Record) -> None:
        self._more[KEPT] = {**self._all(), name: asdict(record)}

    def drop(self, name: str) -> None:
        self._more[KEPT] = {key: kept for key, kept in self._all().items() if key != name}

    def _all(self) -> dict[str, Any]:
        kept = self._more.get(KEPT)
        return kept if isinstance(kept, dict) else {}
