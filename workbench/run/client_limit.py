"""The client limit of a run, called "ceiling" in documents: the one place that changes it."""

from __future__ import annotations


class ClientLimit:
    """The rate that the clients are known to reach. It applies to the clients with which it was
    measured, so it is void while any of them is lost."""

    def __init__(self) -> None:
        self._per_s: float | None = None
        self._of_all: float | None = None
        """The limit of all clients together, kept while some of them are lost."""
        self._background_load_pct = 0.0

    @property
    def per_s(self) -> float | None:
        """On the plan's axis; 0: the clients reached no rate; None: unknown."""
        return self._per_s

    @property
    def background_load_pct(self) -> float:
        """Percent of a core that other programs took during calibration."""
        return self._background_load_pct

    def calibrated(self, per_s: float, background_load_pct: float) -> None:
        """Take the result of a calibration."""
        self._per_s = per_s
        self._background_load_pct = background_load_pct

    def sustained(self, rate_per_s: float) -> float | None:
        """Raise the limit to a rate that a server sustained, for the clients reached it, too.

        Returns the limit before that; None: it was not raised."""
        before = self._per_s
        if before is None or rate_per_s <= before:
            return None
        self._per_s = rate_per_s
        return before

    def suspend(self) -> None:
        """The first client was lost."""
        self._of_all = self._per_s
        self._per_s = None

    def void(self) -> None:
        """The clients changed again, and some are still lost."""
        self._per_s = None

    def restore(self) -> None:
        """All clients are back. A limit measured in between was that of fewer clients."""
        self._per_s = self._of_all

    @property
    def known_of_all(self) -> bool:
        """Whether a limit of all clients was known when the first was lost."""
        return bool(self._of_all)
