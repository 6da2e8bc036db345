"""What sessions say about machines: the latest of every link, and what clients offer together."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tests.recording import record_session
from tests.synthetic import NULL, session
from workbench.documents import MachineRecord, RunStart
from workbench.messages.machines import Link
from workbench.sessions.history import FleetHistories, FleetHistory
from workbench.sessions.library import shelf


def recorded(folder: Path, day: int, clients: list[str], trip_us: int, *, cut: int = 0) -> Path:
    """A run of that day on atlas."""
    start, *rest = session(1, 2, seconds=1.0)
    assert isinstance(start, RunStart)
    machines = [MachineRecord(name="atlas", roles=["target"])]
    machines += [MachineRecord(name=name, roles=["client"]) for name in clients]
    start = replace(start, machines=machines, started_utc=f"2026-11-{day}T10:00:00Z")
    start = replace(start, session=f"of day {day}")
    links = [
        Link(client=name, target="atlas", min_us=9, p50_us=trip_us, p99_us=900, bits_per_s=1e9)
        for name in clients
    ]
    path = record_session(folder / f"{day}.pong.yaml", [start, *(n.note(0) for n in links), *rest])
    if cut:
        path.write_bytes(path.read_bytes()[:cut])
    return path


def test_the_latest_result_of_every_link_and_set_of_clients_is_shown(tmp_path: Path) -> None:
    recorded(tmp_path, 10, ["bolt", "cedar"], 400)
    recorded(tmp_path, 12, ["bolt"], 200)
    found = FleetHistories().read(shelf(tmp_path))
    assert {name: result.link.p50_us for (name, _), result in found.links.items()} == {
        "bolt": 200,
        "cedar": 400,
    }
    assert [sorted(each.clients) for each in found.calibrations] == [["bolt"], ["bolt", "cedar"]]
    both = found.calibration("atlas", ["cedar", "bolt"])
    assert both is not None
    assert (both.per_s, both.unit) == (NULL.capacity_per_s, "connections/s")
    assert both.measured_utc.startswith("2026-11-10")
    assert found.calibration("dune", ["bolt"]) is None
    assert found.calibration("atlas", ["bolt", "cedar", "elm"]) is None


def test_a_session_is_read_again_when_it_has_changed_only(tmp_path: Path) -> None:
    path = recorded(tmp_path, 10, ["bolt"], 400)
    histories, first = FleetHistories(), shelf(tmp_path)
    assert histories.read(first).links["bolt", "atlas"].link.p50_us == 400
    path.unlink()
    assert histories.read(first).links["bolt", "atlas"].link.p50_us == 400
    recorded(tmp_path, 10, ["bolt"], 50_000)
    assert histories.read(shelf(tmp_path)).links["bolt", "atlas"].link.p50_us == 50_000


def test_damaged_files_are_left_out(tmp_path: Path) -> None:
    recorded(tmp_path, 10, ["bolt"], 400)
    recorded(tmp_path, 12, ["bolt"], 200, cut=900)
    (tmp_path / "notes.pong.yaml").write_text("my: notes\n")
    found = FleetHistories().read(shelf(tmp_path))
    assert found.links["bolt", "atlas"].link.p50_us == 400
    assert FleetHistories().read([]) == FleetHistory()
