"""Connections that are held open for a whole point: how long making them took, what became of them,
and what each costs the server while it is idle."""

from __future__ import annotations

from workbench.documents import Metric
from workbench.metrics.base import Measured


class ConnectAll:
    """From the point's start until the last connection that was made in the ramp was established,
    in seconds, as paced by the plan. None: some were not established."""

    record = Metric(key="connect_all_s", label="Time to connect all", unit="s", better="less")

    def of(self, measured: Measured) -> float | None:
        figures = measured.report.figures
        if figures.get("connected", 0) < measured.held:
            return None
        return round(figures["connected_us"] / 1e6, 3)


class Survivors:
    """Connections made in the ramp that answered the ping at the end, in percent of the planned."""

    record = Metric(key="survivors_pct", label="Survivors", unit="%", better="more")

    def of(self, measured: Measured) -> float | None:
        return round(100 * measured.report.figures.get("survivors", 0) / measured.held, 4)


class Reconnects:
    """Lost connections that were made again before the end, and of HTTP those that the server
    closed. None: connections are not made again."""

    record = Metric(key="reconnects", label="Reconnects", better="less")

    def of(self, measured: Measured) -> float | None:
        reconnects = measured.report.figures.get("reconnects", 0 if measured.held else None)
        return None if reconnects is None else float(reconnects)


class KeptAlive:
    """Calls answered on a connection that had answered one before, as `ab` counts its keep-alive
    requests. Known where connections are made again."""

    record = Metric(key="kept_alive_calls", label="Kept-alive calls", better="more")

    def of(self, measured: Measured) -> float | None:
        counts = measured.report.counts
        again = "reconnects" in measured.report.figures
        if measured.held or not again or counts.established is None:
            return None
        return float(max(0, counts.succeeded - counts.established))


class CpuPerConnection:
    """CPU time of the server's process tree per second and open connection, in microseconds, in the
    measured part; that of the messages is included."""

    record = Metric(
        key="cpu_us_per_connection_s", label="CPU per connection", unit="µs/s", better="less"
    )

    def of(self, measured: Measured) -> float | None:
        inside = [window for window in measured.windows if window.phase == "measure"]
        if not inside:
            return None
        from_us, to_us = inside[0].t_us, inside[-1].t_us + inside[-1].length_us
        readings = [r for r in measured.usage.readings if from_us <= r.t_us <= to_us]
        seconds = (readings[-1].t_us - readings[0].t_us) / 1e6 if readings else 0.0
        open_at_once = sum(window.in_flight for window in inside) / len(inside)
        if not (seconds and open_at_once):
            return None
        cpu_us = readings[-1].cpu_us - readings[0].cpu_us
        return round(cpu_us / seconds / open_at_once, 3)
