"""Audits of conditions: the same for every server and recorded, and undisturbed."""

from __future__ import annotations

from collections import Counter, defaultdict

from workbench.analysis.audits.base import Audit, SessionData, codes, numbers
from workbench.analysis.verdicts import OTHERS_PCT
from workbench.formatting import cores as listed_cores
from workbench.messages.audits import finding
from workbench.messages.notes import SOUND, lost_share

_OTHERS = "others_cpu_pct"
_STOLEN = "stolen_cpu_pct"


def backlog(data: SessionData) -> Audit:
    """The same backlog, as read back from the kernel."""
    return _same(data, "backlog", "backlog", "asked")


def descriptors(data: SessionData) -> Audit:
    """The same descriptor limit, as read back from the kernel."""
    return _same(data, "limit", "nofile", "asked_nofile")


def _same(data: SessionData, what: str, in_force: str, wanted: str) -> Audit:
    """`in_force`, `wanted`: parameters of the notes that say so."""
    found = data.of_servers("backlog" if what == "backlog" else "resources")
    values = {id_: {each.get(in_force, 0) for each in of} for id_, of in found.items()}
    if not any(max(of) for of in values.values()):
        lacks = "backlog" if what == "backlog" else "resources"
        return Audit("not-known", finding("not-recorded", what=lacks))
    asked = max(each.get(wanted, 0) for of in found.values() for each in of)
    # What was asked for, if any server has it; otherwise the most common.
    each = Counter(value for of in values.values() for value in of)
    reference = asked if asked in each else each.most_common(1)[0][0]
    other = {id_: of for id_, of in values.items() if of != {reference}}
    message = finding(
        "same-backlog" if what == "backlog" else "same-descriptors",
        servers=len(found),
        differing={data.names[id_]: _span(sorted(of)) for id_, of in other.items()},
        **{what: reference},
        asked=asked,
    )
    return Audit("failed" if other else "passed", message, servers=tuple(other))


def processes(data: SessionData) -> Audit:
    found = data.of_servers("resources")
    if not found:
        return Audit("not-known", finding("not-recorded", what="resources"))
    values = {id_: [each["processes"] for each in reported] for id_, reported in found.items()}
    unsteady = {id_: of for id_, of in values.items() if len(set(of)) > 1}
    message = finding(
        "same-processes",
        servers=len(found),
        differing={data.names[id_]: _span(of) for id_, of in unsteady.items()},
        several={data.names[id_]: of[0] for id_, of in values.items() if of[0] > 1},
    )
    return Audit("failed" if unsteady else "passed", message, servers=tuple(unsteady))


def cores(data: SessionData) -> Audit:
    """The same cores, as the kernel allows them, and none of the clients'."""
    shared = next((noted.message.data() for noted in data.notes("shared-cores")), None)
    found = data.of_servers("resources")
    if shared:
        message = finding("same-cores", servers=len(found), shared=shared["cores"])
        return Audit("failed", message)
    values = {
        id_: {tuple(each.get("cores", ())) for each in reported} for id_, reported in found.items()
    }
    if not any(any(of) for of in values.values()):
        return Audit("not-known", finding("not-recorded", what="resources"))
    reference = Counter(each for of in values.values() for each in of).most_common(1)[0][0]
    other = {id_: of for id_, of in values.items() if of != {reference}}
    confined = not any(record.running for record in data.start.servers)
    message = finding(
        "same-cores",
        servers=len(found),
        differing={
            data.names[id_]: " and ".join(listed_cores(each) for each in sorted(of))
            for id_, of in other.items()
        },
        cores=list(reference),
        # A server that ran already may use any core, also those of the clients.
        own=confined and bool(set(data.machines("target")) & set(data.machines("client"))),
    )
    return Audit("failed" if other else "passed", message, servers=tuple(other))


def versions(data: SessionData) -> Audit:
    records = data.start.servers
    bare = {r.id: r.name for r in records if not (r.files and (r.version or r.runtime))}
    message = finding(
        "same-versions",
        servers=len(records),
        differing=dict.fromkeys(bare.values(), ""),
        runtimes=list(dict.fromkeys(r.runtime for r in records if r.runtime)),
    )
    return Audit("not-known" if bare else "passed", message)


def set_up(data: SessionData) -> Audit:
    """Nothing that the catalogue says could not be made equal."""
    found = [noted for noted in data.notes("unequal") if noted.server in data.names]
    said: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for noted in found:
        said[str(noted.message.data()["said"])][data.names[noted.server]] = None
    message = finding(
        "same-set-up", servers=len(data.names), said={s: list(of) for s, of in said.items()}
    )
    servers = tuple(dict.fromkeys(noted.server for noted in found))
    return Audit("failed" if found else "passed", message, servers=servers)


def _span(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def quiet_host(data: SessionData) -> Audit:
    """No background load beyond the limit that verdicts use."""
    others = data.notes("shared-machine", "another-run")
    shared = list(dict.fromkeys(noted.machine for noted in others))
    measured = [point for point in data.points if _OTHERS in point.evidence]
    disturbed = [point for point in measured if point.evidence[_OTHERS] >= OTHERS_PCT]
    if not measured and not shared:
        return Audit("not-known", finding("not-recorded", what="background"))
    message = finding(
        "quiet-host",
        **data.places(disturbed, of=measured),
        most_pct=max((point.evidence[_OTHERS] for point in measured), default=0.0),
        limit_pct=OTHERS_PCT,
        stolen_pct=max((point.evidence.get(_STOLEN, 0.0) for point in disturbed), default=0.0),
        others=shared,
    )
    if shared:
        return Audit("failed", message)
    return Audit("failed" if disturbed else "passed", message, numbers(disturbed))


def link(data: SessionData) -> Audit:
    if data.loopback:
        return Audit("does-not-apply", finding("no-link"))
    links = [noted.message.data() for noted in data.notes("link")]
    slow, unchecked = (
        [str(noted.message.data().get("client", "")) for noted in data.notes(topic)]
        for topic in ("slow-link", "link-unchecked")
    )
    message = finding(
        "link-audit",
        links=len(links),
        lossy={e["client"]: lost_share(e) for e in links if lost_share(e) > SOUND},
        both_ways=all(each.get("to_target_bits_per_s") for each in links),
        slow=slow,
    )
    if "lossy" in message.parameters or slow:
        return Audit("failed", message)
    if unchecked:
        return Audit("not-known", finding("link-not-checked", clients=unchecked))
    if not links:
        return Audit("not-known", finding("not-recorded", what="link"))
    return Audit("passed", message)


def recording(data: SessionData) -> Audit:
    """The run completed, and every window and sample arrived."""
    gaps = [point for point in data.points if "windows-lost" in codes(point)]
    lost = min((noted.t_us for noted in data.notes("sampler-lost")), default=None)
    unwatched = [point for point in data.points if lost is not None and point.t_us >= lost]
    missing = unwatched or gaps
    end = data.stop.status if data.stop else "interrupted"
    message = finding(
        "recording", **data.places(missing), end=end * (end != "done"), unwatched=bool(unwatched)
    )
    if missing or (data.stop and end != "done"):
        return Audit("failed", message, numbers(missing))
    if data.stop is None:
        return Audit("failed", message) if data.over else Audit("not-known", finding("under-way"))
    return Audit("passed", message)
