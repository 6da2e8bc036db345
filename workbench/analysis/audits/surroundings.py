"""Audits of the environment: other programs, the network, the recording."""

from __future__ import annotations

from workbench.analysis.audits.base import Outcome, SessionData, codes, numbers
from workbench.analysis.verdicts import OTHERS_PCT
from workbench.messages import audits as messages
from workbench.messages import notes
from workbench.messages.audits import Finding, NotRecorded

_OTHERS = "others_cpu_pct"
_STOLEN = "stolen_cpu_pct"


def quiet_host(data: SessionData) -> Outcome:
    """No background load beyond the limit that verdicts use."""
    others = (*data.notes(notes.SharedMachine), *data.notes(notes.AnotherRun))
    shared = list(dict.fromkeys(noted.machine for noted in others))
    measured = [point for point in data.points if _OTHERS in point.evidence]
    disturbed = [point for point in measured if point.evidence[_OTHERS] >= OTHERS_PCT]
    if not measured and not shared:
        return Outcome("not-known", NotRecorded(what="background"))
    message = messages.QuietHost(
        most_pct=max((point.evidence[_OTHERS] for point in measured), default=0.0),
        limit_pct=OTHERS_PCT,
        stolen_pct=max((point.evidence.get(_STOLEN, 0.0) for point in disturbed), default=0.0),
        others=shared,
        **data.places(disturbed, of=measured),
    )
    if shared:
        return Outcome("failed", message)
    return Outcome("failed" if disturbed else "passed", message, numbers(disturbed))


def link(data: SessionData) -> Outcome:
    if data.loopback:
        return Outcome("does-not-apply", messages.NoLink())
    found = [noted.message for noted in data.notes(notes.Link)]
    links = [each for each in found if isinstance(each, notes.Link)]
    slow = [noted.message for noted in data.notes(notes.SlowLink)]
    failed = [noted.message for noted in data.notes(notes.LinkUnchecked)]
    unchecked = [each.client for each in failed if isinstance(each, notes.LinkUnchecked)]
    message = messages.LinkAudit(
        links=len(links),
        lossy={each.client: each.lost_share for each in links if each.is_lossy},
        both_ways=all(each.to_target_bits_per_s for each in links),
        slow=[each.client for each in slow if isinstance(each, notes.SlowLink)],
    )
    if message.lossy or message.slow:
        return Outcome("failed", message)
    if unchecked:
        return Outcome("not-known", messages.LinkNotChecked(clients=unchecked))
    if not links:
        return Outcome("not-known", NotRecorded(what="link"))
    return Outcome("passed", message)


def recording(data: SessionData) -> Outcome:
    """The run completed, and every window and sample arrived."""
    gaps = [point for point in data.points if "windows-lost" in codes(point)]
    lost = min((noted.t_us for noted in data.notes(notes.SamplerLost)), default=None)
    unwatched = [point for point in data.points if lost is not None and point.t_us >= lost]
    missing = unwatched or gaps
    end = data.stop.status if data.stop else "interrupted"
    message = messages.Recording(end=end, unwatched=bool(unwatched), **data.places(missing))
    if missing or (data.stop and end != "done"):
        return Outcome("failed", message, numbers(missing))
    if data.stop is None:
        return Outcome("failed" if data.over else "not-known", _open_end(data, message))
    return Outcome("passed", message)


def _open_end(data: SessionData, message: messages.Recording) -> Finding:
    return message if data.over else messages.UnderWay()
