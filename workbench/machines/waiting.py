"""What a server's threads waited for, and for which services, over several samples."""

from __future__ import annotations

from collections import Counter, defaultdict

from workbench.analysis.causes import Upstream
from workbench.machines.samples import Tree


class Waiting:
    """Aggregates samples."""

    def __init__(self) -> None:
        self._samples = self._looks = self._opened = 0
        self._kinds: Counter[str] = Counter()
        self._asked: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, tree: Tree, opened: int) -> None:
        """`opened`: descriptors beyond those of the idle server."""
        if not tree.waits:
            return
        self._samples += 1
        self._opened += opened
        self._kinds.update(tree.waits)
        if tree.upstreams is None:
            return
        self._looks += 1
        for address, (connections, waiting) in tree.upstreams.items():
            asked = self._asked[address]
            asked.update(connections=connections, waiting=waiting, present=waiting > 0)

    def waits(self) -> dict[str, float]:
        """See `Usage.waits`."""
        return {kind: count / self._samples for kind, count in self._kinds.items()}

    def opened(self) -> float:
        """See `Usage.opened`."""
        return self._opened / self._samples if self._samples else 0.0

    def upstreams(self) -> tuple[Upstream, ...]:
        """See `Usage.upstreams`."""
        found = [
            Upstream(
                address,
                asked["connections"] / self._looks,
                asked["waiting"] / asked["connections"],
                asked["present"] / self._looks,
            )
            for address, asked in self._asked.items()
            if asked["connections"]
        ]
        return tuple(sorted(found, key=lambda each: -each.connections * each.share))
