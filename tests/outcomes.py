"""What one rate does to one made-up server: its windows, host samples and end."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.histograms import Times, lognormal
from workbench.analysis.histogram import all_packed, coarse, packed
from workbench.documents import (
    Counts,
    Errors,
    Histograms,
    HostSample,
    PointStop,
    Purpose,
    Verdict,
    Window,
)
from workbench.messages.base import Said
from workbench.messages.reasons import reason

LATE = reason("clients-late", late_share=0.25, p99_us=9_000, relief="machine")
"""Of every point that is not to be trusted."""


@dataclass(frozen=True)
class Contestant:
    """How a made-up server behaves."""

    id: str
    name: str
    version: str
    capacity_per_s: float
    """Answers per second it can give at most."""
    service_us: float
    """Median service time when idle."""
    rss_bytes: int


_SUCCESS = 0.99


class Outcome:
    """What one rate does to one server."""

    def __init__(
        self,
        server: Contestant,
        rate: float,
        scheduled: int,
        rng: random.Random,
        untrusted: bool,
        *,
        times: Times = lognormal,
    ) -> None:
        self.server, self.rate, self._times = server, rate, times
        capacity = server.capacity_per_s
        self.load = rate / capacity if capacity else float("inf")
        over = self.load > 1
        if not capacity:
            share = 0.0
        elif over:
            share = max(0.3 / self.load, (1 - 0.25 * (self.load - 1)) / self.load)
            share = min(share * rng.uniform(0.96, 1.0), 0.985)
        else:
            share = 1.0 if self.load < 0.9 else 1 - rng.uniform(0, 0.004)
        succeeded = min(scheduled, round(scheduled * share))
        lost = scheduled - succeeded
        refused = lost if not capacity else 0
        reset = 0 if refused else round(lost * rng.uniform(0.2, 0.4))
        own = round((lost - refused - reset) * 0.6) if untrusted else 0
        timo = lost - refused - reset - own
        classes = {
            "client-timo": timo,
            "connrefused": refused,
            "connreset": reset,
            "fd-unavail": own,
        }
        self.counts = Counts(
            scheduled=scheduled,
            unsent=0,
            sent=scheduled,
            late=scheduled // 4 if untrusted else 0,
            established=scheduled - refused,
            succeeded=succeeded,
            errors={name: n for name, n in classes.items() if n},
        )
        jitter = rng.uniform(0.92, 1.08)
        queue = 1 / (1 - min(self.load, 0.97))
        self.service_us = server.service_us * min(queue, 12) * jitter
        self.latency_us = (
            min(server.service_us * queue * 120 * (self.load - 0.9), 2.4e6) * jitter
            if over
            else self.service_us * 1.02
        )
        self.spread = 1.1 if over else 0.35 + 0.6 * min(self.load, 1)
        self.lateness_us = 9_000.0 if untrusted else 40.0
        self.untrusted = untrusted

    def window(self, t_us: int, point: int, index: int, share: Counts) -> Window:
        latency_us, latency = self._times(self.latency_us, self.spread, share.succeeded)
        service_us, service = self._times(self.service_us, self.spread, share.succeeded)
        return Window(
            t_us=t_us,
            point=point,
            index=index,
            due=share.scheduled,
            sent=share.sent,
            late=share.late,
            established=share.established,
            replies=share.succeeded,
            errors=share.errors,
            in_flight=round(self.rate * self.latency_us / 1e6),
            latency_us=latency_us,
            service_us=service_us,
            latency=packed(coarse(latency), coarse=True),
            service=packed(coarse(service), coarse=True),
        )

    def sample(self, t_us: int) -> HostSample:
        overflows = round(self.counts.scheduled - self.counts.succeeded)
        return HostSample(
            t_us=t_us,
            machine="localhost",
            server=self.server.id,
            cpu_pct=min(100.0, round(100 * self.load, 1)),
            rss_bytes=self._rss(),
            pss_bytes=self._rss() * 9 // 10,
            processes=1,
            threads=1,
            descriptors=12 + round(self.rate / 50),
            accept_queue=512 if self.load > 1 else 3,
            backlog=512,
            host_cpu_pct=round(min(96.0, 25 + 50 * min(self.load, 1)), 1),
            memory_available_bytes=11 << 30,
            counters={"ListenOverflows": overflows} if overflows else {},
            gauges={"TIME_WAIT": round(self.rate)},
        )

    def stop(
        self,
        t_us: int,
        point: int,
        *,
        purpose: Purpose,
        number: int,
        look: int,
        complete: bool,
        seconds: float,
    ) -> PointStop:
        counts = self.counts
        times = {
            "latency": self._times(self.latency_us, self.spread, counts.succeeded),
            "service": self._times(self.service_us, self.spread, counts.succeeded),
            "connect": self._times(90.0, 0.3, counts.succeeded),
            "first_byte": self._times(self.service_us * 0.8, self.spread, counts.succeeded),
            "lateness": self._times(self.lateness_us, 0.5, counts.sent),
        }
        verdict, found = self._verdict(complete)
        return PointStop(
            t_us=t_us,
            point=point,
            server=self.server.id,
            rate_per_s=self.rate,
            purpose=purpose,
            pass_number=number,
            look=look,
            complete=complete,
            seconds=seconds,
            counts=counts,
            offered_per_s=round(counts.scheduled / seconds, 1),
            replies_per_s=round(counts.succeeded / seconds, 1),
            errors_pct=round(100 * (1 - counts.succeeded / max(1, counts.scheduled)), 3),
            latency_us=times["latency"][0],
            service_us=times["service"][0],
            connect_us=times["connect"][0],
            first_byte_us=times["first_byte"][0],
            lateness_us=times["lateness"][0],
            histograms=all_packed(
                Histograms(**{name: histogram for name, (_, histogram) in times.items()})
            ),
            client_cpu_pct=97.0 if self.untrusted else round(min(90.0, self.rate / 150), 1),
            server_cpu_pct=min(100.0, round(100 * self.load, 1)),
            server_rss_bytes=self._rss(),
            verdict=verdict,
            reasons=[reason.text() for reason in found],
            findings=[reason.record() for reason in found],
            evidence={"lateness_p99_us": float(times["lateness"][0].p99)}
            if times["lateness"][0]
            else {},
        )

    def _rss(self) -> int:
        return self.server.rss_bytes + round(self.rate) * 1500

    def _verdict(self, complete: bool) -> tuple[Verdict, list[Said]]:
        if not complete:
            return "inconclusive", [reason("interrupted")]
        counts = self.counts
        if self.untrusted:
            return "client-limited", [LATE]
        lost = counts.scheduled - counts.succeeded
        if counts.succeeded < _SUCCESS * counts.scheduled:
            failed = reason(
                "calls-failed", failed=lost, calls=counts.scheduled, errors=dict(counts.errors)
            )
            return "server-limited", [failed]
        return "ok", []


def shares(counts: Counts, windows: int) -> list[Counts]:
    """The counts of a point split over its windows; their sums are the point's."""

    def part(total: int, index: int) -> int:
        return total * (index + 1) // windows - total * index // windows

    return [
        Counts(
            scheduled=part(counts.scheduled, i),
            unsent=0,
            sent=part(counts.sent, i),
            late=part(counts.late, i),
            established=part(counts.established, i),
            succeeded=part(counts.succeeded, i),
            errors=_parts(counts.errors, i, part),
        )
        for i in range(windows)
    ]


def _parts(errors: Errors, index: int, part: Callable[[int, int], int]) -> Errors:
    split = {name: part(total, index) for name, total in errors.items()}
    return {name: n for name, n in split.items() if n}
