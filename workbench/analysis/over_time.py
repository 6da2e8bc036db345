"""Sessions over time: the windows of points, and the samples of the server's machine.

A *block* is one series in one pass. Blocks are overlaid, each from its own start, so that servers
measured one after another can be compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.analysis.slices import Slice, Stretch, lasted_us, length_us
from workbench.analysis.windows import Thinner
from workbench.axis import RATE, Axis
from workbench.documents import (
    AnyDocument,
    HostSample,
    PointStart,
    PointStop,
    RunStart,
    Window,
)

_STEPS_S = (0.2, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_SLICES = 240
"""The most slices of the longest block; more would be closer together than the pixels of a
chart."""
_SAMPLE_HOLDS_US = 2_500_000
"""A sample describes the time since the previous one, about a second."""
_LEAST_SHARE = 0.5
"""A slice of which less was under load, because its point ended, has no rate worth drawing."""


@dataclass
class Block:
    server: str
    stretches: list[Stretch] = field(default_factory=list)
    samples: list[HostSample] = field(default_factory=list)
    version: int = 0
    """Incremented by every document."""

    def chosen(self, x: float | None) -> list[Stretch]:
        """Its points at a value of the axis, of several attempts the last; None: the whole block,
        without later attempts, which ran after other servers."""
        if x is not None:
            return [stretch for stretch in self.stretches if stretch.start.x == x][-1:]
        first = (stretch.start for stretch in self.stretches)
        later = {start.point for start in first if start.purpose == "sweep" and start.look > 1}
        return [stretch for stretch in self.stretches if stretch.start.point not in later]

    def span_s(self, x: float | None) -> float:
        """The length of these points together."""
        chosen = self.chosen(x)
        if not chosen or not (windows := chosen[-1].windows or chosen[0].windows):
            return 0.0
        return (windows[-1].t_us + windows[-1].length_us - chosen[0].start.t_us) / 1e6


class OverTime:
    """A consumer of a session's documents that collects everything over time."""

    def __init__(self) -> None:
        self.axis = RATE
        self.blocks: dict[tuple[str, int], Block] = {}
        """By series and pass."""
        self._running: tuple[Block, Stretch, Thinner] | None = None
        self._sampled: Block | None = None
        """Samples of a point's last second come after its end."""
        self._slices: dict[tuple[str, int, float | None, float], dict[tuple[int, ...], Slice]] = {}

    @classmethod
    def joined(
        cls, axis: Axis, sessions: Mapping[str, OverTime], wanted: Container[str]
    ) -> OverTime:
        """Return the `wanted` series of several sessions, by their tags: "A/gevent"."""
        found = cls()
        found.axis = axis
        found.blocks = {
            (key, number): block
            for tag, each in sessions.items()
            for (series, number), block in each.blocks.items()
            if (key := f"{tag}/{series}") in wanted
        }
        return found

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case RunStart():
                self.axis = document.axis or RATE
            case PointStart(judged=True):
                block = self._block(document)
                stretch = Stretch(document)
                block.stretches.append(stretch)
                self._running, self._sampled = (block, stretch, Thinner(document.seconds)), block
            case PointStart():
                self._running = self._sampled = None
            case Window() if self._running is not None:
                block, stretch, thinner = self._running
                if stretch.start.point == document.point:
                    # A long run must not fill the memory; a session is recorded likewise.
                    stretch.windows += thinner.take(document)
                    block.version += 1
            case HostSample() if self._sampled and self._sampled.server == document.server:
                self._sampled.samples.append(document)
                self._sampled.version += 1
            case PointStop() if self._running is not None:
                block, stretch, thinner = self._running
                stretch.windows += thinner.rest()
                stretch.stop = document
                block.version += 1
                self._running = None
            case _:
                pass

    def _block(self, start: PointStart) -> Block:
        key = start.series, start.pass_number
        return self.blocks.setdefault(key, Block(start.server))

    @property
    def passes(self) -> list[int]:
        return sorted({number for _, number in self.blocks})

    @property
    def values(self) -> list[float]:
        """Values of the axis that have points, ascending."""
        each = (stretch.start.x for block in self.blocks.values() for stretch in block.stretches)
        return sorted(set(each))

    def span_s(self, x: float | None) -> float:
        """The length of the longest block."""
        return max((block.span_s(x) for block in self.blocks.values()), default=0.0)

    def slices(self, series: str, pass_number: int, x: float | None, step_s: float) -> list[Slice]:
        """One series over time: its point at `x`, or its whole block. Empty: it has not run.

        Slices are `step_s` long, and never of two points. Where windows carry no histograms (older
        sessions) each slice is one window, because percentiles cannot be put together.
        """
        block = self.blocks.get((series, pass_number))
        chosen = block.chosen(x) if block else []
        if not block or not chosen:
            return []
        key = series, pass_number, x, step_s
        before = self._slices.get(key, {})
        kept: dict[tuple[int, ...], Slice] = {}
        for stretch in chosen:
            for windows in _grouped(stretch, step_s):
                if lasted_us(stretch, windows) < _LEAST_SHARE * length_us(windows):
                    continue
                samples = _of(block.samples, windows)
                ended = int(stretch.stop is not None)
                same = stretch.start.point, windows[0].index, len(windows), len(samples), ended
                kept[same] = before.get(same) or Slice(
                    chosen[0].start.t_us, stretch, windows, samples, self.axis
                )
        self._slices[key] = kept
        return list(kept.values())

    def step_s(self, x: float | None) -> float:
        """The length of the slices of a chart."""
        span_s = self.span_s(x)
        return next((step for step in _STEPS_S if span_s / step <= _MOST_SLICES), _STEPS_S[-1])


def _grouped(stretch: Stretch, step_s: float) -> list[list[Window]]:
    """The windows of each step from the start of a point; phases are kept separate."""
    if any(window.replies and not window.latency for window in stretch.windows):
        return [[window] for window in stretch.windows]
    groups: dict[tuple[int, str], list[Window]] = {}
    for window in stretch.windows:
        place = int((window.t_us - stretch.start.t_us) / 1e6 / step_s + 1e-6)
        groups.setdefault((place, window.phase), []).append(window)
    return list(groups.values())


def _of(samples: Sequence[HostSample], windows: Sequence[Window]) -> Sequence[HostSample]:
    """Samples within the time of the windows; otherwise the next one, which covers it too."""
    from_us, to_us = windows[0].t_us, windows[-1].t_us + windows[-1].length_us
    first, end = (bisect_right(samples, t_us, key=_t_us) for t_us in (from_us, to_us))
    if first < end:
        return samples[first:end]
    return [s for s in samples[end : end + 1] if s.t_us <= to_us + _SAMPLE_HOLDS_US]


def _t_us(sample: HostSample) -> int:
    return sample.t_us
