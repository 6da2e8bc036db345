"""What a run shows, as dashboards read it."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from app.__main__ import main
from tests import synthetic
from workbench.commands.openmetrics import Exporter, exported
from workbench.documents import AnyDocument, HostSample, PointStart, PointStop, RunStop, Window

ASKS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def scraped(link: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample, by its name and labels."""
    with urllib.request.urlopen(urllib.request.Request(link, headers=ASKS)) as answer:
        text = answer.read().decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_dashboard_sees_the_running_point_and_all_calls_so_far() -> None:
    documents: list[AnyDocument] = synthetic.session(2, 4)
    cut = next(
        n
        for n, d in enumerate(documents)
        if n > len(documents) // 2 and isinstance(d, Window) and d.latency_us and d.replies
    )
    exporter = Exporter()
    with exported(exporter, "127.0.0.1") as link:
        assert not scraped(link)
        for document in documents[: cut + 1]:
            exporter(document)
        seen = scraped(link)
        for document in documents[cut + 1 :]:
            exporter(document)
        after = scraped(link)

    point = next(d for d in reversed(documents[:cut]) if isinstance(d, PointStart))
    of = {("server", point.server), ("load_tool", point.load_tool)}

    def figure(name: str, *more: tuple[str, str]) -> float:
        return seen["pongbench_" + name, frozenset(of | set(more))]

    window = documents[cut]
    assert isinstance(window, Window)
    server = frozenset({("server", point.server)})
    assert figure("offered", ("purpose", point.purpose)) == point.x
    assert seen["pongbench_replies_per_second", server] == window.replies * 5
    assert (
        0
        < figure("latency_seconds", ("quantile", "0.5"))
        <= figure("latency_seconds", ("quantile", "0.99"))
    )
    sample = next(
        d
        for d in reversed(documents[:cut])
        if isinstance(d, HostSample) and d.server == point.server
    )
    assert seen["pongbench_server_cpu_cores", server] == pytest.approx(sample.cpu_pct / 100)
    assert isinstance(documents[-1], RunStop)
    for stop in (d for d in documents if isinstance(d, PointStop)):
        mine = {("server", stop.server), ("load_tool", stop.load_tool)}
        stops = [d for d in documents if isinstance(d, PointStop) and d.server == stop.server]
        total = after["pongbench_calls_total", frozenset(mine | {("is", "succeeded")})]
        assert total == sum(each.counts.succeeded for each in stops)


def test_a_taken_port_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ["run", "quick", "--metrics", where, "-o", str(tmp_path / "s.yaml"), "--brief"]
        assert main(words) == 2
    assert where in capsys.readouterr().err
    assert not (tmp_path / "s.yaml").exists()
