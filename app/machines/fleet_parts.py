"""Which machine does what in a run, and what is known of the links between them. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.machines.cards import clock
from app.machines.records import HERE, Record, State, is_fresh, since
from workbench import formatting
from workbench.machines.profiles import Profile
from workbench.sessions.history import Calibration, FleetHistory, LinkResult

_MOST_NAMES = 5


@dataclass(frozen=True)
class Member:
    """A machine in the picture."""

    name: str
    title: str
    roles: str
    state: State
    clock: str = ""
    """The error of its clock against this computer's; empty: this computer, or not measured."""
    via: str = ""
    """Its jump hosts."""
    example: bool = False
    """No machine yet, but an example to begin from."""

    @property
    def usable(self) -> bool:
        """Whether nothing is known that keeps it out of a run."""
        return self.state.tone not in ("bad", "warn")


@dataclass(frozen=True)
class Wire:
    """The link over which a client loads the target."""

    client: str
    figures: str = ""
    """Round trip and rate; empty: not measured."""
    when: str = ""
    """Its age."""
    fresh: bool = False
    spoken: str = ""
    """All of it, for a screen reader and a tool tip."""


@dataclass(frozen=True)
class Fleet:
    """One target, its clients, and this computer, which controls them."""

    target: Member
    clients: Sequence[Member]
    wires: Mapping[str, Wire]
    """By client; of one that cannot be used, only what was measured."""
    control: Member | None
    """This computer, unless it is the target or a client itself."""

    @property
    def alone(self) -> bool:
        """Whether no link is involved: the target is the only client."""
        return self.target in self.clients


@dataclass(frozen=True)
class Findings:
    """What is known of machines, by their names."""

    record: Callable[[str], Record]
    """The last check."""
    state: Callable[[str], State]
    history: FleetHistory


def targets(profiles: Sequence[Profile]) -> list[str]:
    """Return the machines that may run servers; other machines than this computer first."""
    names = [profile.name for profile in profiles if "target" in profile.roles]
    return sorted(names, key=lambda name: name == HERE) or [HERE]


def fleet(
    profiles: Sequence[Profile],
    examples: Sequence[Profile],
    target: str,
    findings: Findings,
) -> Fleet:
    """Return everybody's part. `target`: one of `targets`; the clients are all other machines with
    that role, or this computer where there is none. Examples stand where a role is not taken.
    """
    by_name = {profile.name: profile for profile in profiles}

    def member(name: str, roles: str) -> Member:
        here = name == HERE
        known = clock(findings.record(name).found.get("clock_us"))
        title = "This computer" if here else name
        profile = by_name.get(name)
        return Member(
            name,
            title,
            roles,
            findings.state(name),
            clock=f"clock {known}" if known and not here else "",
            via=profile.jump if profile else "",
        )

    others = [
        profile.name
        for profile in profiles
        if "client" in profile.roles and profile.name not in (HERE, target)
    ]
    free = [example for example in examples if example.name not in by_name]
    ghosts = [_example(example) for example in free if "client" in example.roles]
    end = member(target, "target and client" if not others and target == HERE else "target")
    clients = [member(name, "client") for name in others]
    if not clients and target != HERE:
        clients = [member(HERE, "client")]
    elif not clients:
        clients = [end]
    named = {each.name for each in (end, *clients)}
    found = [_wire(each, end, findings.history.links) for each in clients if each is not end]
    usable = {each.name for each in clients if each.usable}
    wires = {wire.client: wire for wire in found if wire.figures or wire.client in usable}
    control = member(HERE, "controls the run") if HERE not in named else None
    return Fleet(end, [*clients, *(ghosts if not others else [])], wires, control)


def example_target(examples: Sequence[Profile], profiles: Sequence[Profile]) -> Member | None:
    """Return the example of a target, where no other machine may run servers."""
    if targets(profiles) != [HERE]:
        return None
    taken = {profile.name for profile in profiles}
    found = (e for e in examples if "target" in e.roles and e.name not in taken)
    return next(map(_example, found), None)


def _example(profile: Profile) -> Member:
    (role,) = profile.roles
    state = State("from an example", "")
    return Member(profile.name, f"Add a {role}", role, state, example=True)


def _wire(client: Member, target: Member, links: Mapping[tuple[str, str], LinkResult]) -> Wire:
    ends = f"{client.title} to {target.title}"
    found = links.get((client.name, target.name))
    if found is None:
        return Wire(client.name, spoken=f"{ends}: not measured.")
    link, when = found.link, since(found.measured_utc)
    trip, rate = formatting.duration(link.p50_us), formatting.bits(link.bits_per_s)
    if link.to_target_bits_per_s:
        rate = f"{rate} from the target, {formatting.bits(link.to_target_bits_per_s)} to it"
    spoken = (
        f"{ends}: round trip {trip} (p99 {formatting.duration(link.p99_us)}), {rate}, "
        f"measured before a run {when}."
    )
    rates = formatting.both_ways(link.bits_per_s, link.to_target_bits_per_s)
    return Wire(client.name, f"{trip} · {rates}", when, is_fresh(found.measured_utc), spoken)


@dataclass(frozen=True)
class Offer:
    """What the clients offer together, in words."""

    figure: str
    text: str
    fresh: bool = False


def offer(fleet: Fleet, history: FleetHistory) -> Offer:
    """Describe the last calibration of these machines, or of others with the same target."""
    names = [member.name for member in fleet.clients if not member.example]
    found = history.calibration(fleet.target.name, names)
    missing = ""
    if found is None:
        found = next((c for c in history.calibrations if c.target == fleet.target.name), None)
        missing = f" Not measured with {'all ' if len(names) > 1 else ''}{_listed(names)}."
    if found is None:
        return Offer("Not measured", "Runs with calibration measure it.")
    who = _listed(sorted(found.clients))
    together = " together" if len(found.clients) > 1 else ""
    text = f"{who}{together} against the null server on {_named(fleet.target.name)}"
    text = f"{text[:1].upper() if who == _named(HERE) else text[:1]}{text[1:]}"
    plan = f", plan “{found.plan}”" if found.plan else ""
    text = f"{text}{plan}, {since(found.measured_utc)}.{missing}"
    return Offer(_rate(found), text, not missing and is_fresh(found.measured_utc))


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} clients"
    return formatting.listed([_named(name) for name in names])


def _rate(found: Calibration) -> str:
    if not found.per_s:
        return f"no rate of {found.unit}"
    least = "≥ " if found.is_floor else ""
    return f"{least}{found.per_s:,.0f} {found.unit}"


def _named(name: str) -> str:
    return "this computer" if name == HERE else name
