"""Calls lost with their connection: load tools that count an error once for each connection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from workbench.documents import Errors


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
