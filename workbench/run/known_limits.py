"""What the clients reached against the null server, kept for a day: where the next calibration of
the same clients, program and workload begins."""

from __future__ import annotations

import contextlib
import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from workbench import __version__, paths, stores
from workbench.plan.calibration import Ceiling, Known
from workbench.run.state import RunState

_FOR = timedelta(days=1)


class _Kept(msgspec.Struct, frozen=True):
    known: Known
    when_utc: datetime


def remember(key: str, found: Ceiling) -> None:
    """Keep a result, unless other programs disturbed it. One that cannot be kept is no error."""
    if found.disturbed or found.confirmed or not found.per_s:
        return
    kept = _Kept(Known(found.per_s, found.missed_per_s), datetime.now(UTC))
    with contextlib.suppress(OSError):
        stores.write(_path(key), msgspec.json.encode(kept))
        stores.tidy(_path(key).parent, _FOR.total_seconds())


def recall(key: str) -> Known | None:
    """Return what was found within a day; None: nothing was."""
    try:
        kept = msgspec.json.decode(_path(key).read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return kept.known if timedelta(0) <= datetime.now(UTC) - kept.when_utc < _FOR else None


def key_of(run: RunState, tool: str) -> str:
    """Return what a limit depends on: the clients, the load tool and the workload."""
    plan, stage = run.plan, run.stage
    machines = sorted(
        (each.name, sorted(each.roles), str(each.facts.get("kernel")), each.facts.get("cpu_count"))
        for each in stage.records()
    )
    load = plan.workload, plan.unit, plan.workers, plan.nofile, tool, stage.versions.get(tool, {})
    what = msgspec.json.encode((__version__, machines, load))
    return hashlib.sha256(what).hexdigest()[:24]


def _path(key: str) -> Path:
    return paths.cache_dir() / "limits" / f"{key}.json"
