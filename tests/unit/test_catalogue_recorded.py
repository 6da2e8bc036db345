"""Results of a check, recorded in the entries and shown in the documentation."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests import doc_tables, seen_servers
from workbench.servers import checking
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked
from workbench.servers.entry import Seen
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import GateResult

FILE = """\
name: Mine
family: socket
command: ["{python}", server.py, "{port}"]
protocols: [http/1.1]
"""
SHIPPED = Catalogue.load(extra_dirs=[])


def test_a_result_replaces_the_one_before(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED["tornado"].folder, tmp_path / "tornado")
    entry = load_entry(folder, shipped=True)
    assert seen_servers.seen_of(Checked(entry, "failed", "It failed.")) is None
    today = seen_servers.source()
    seen = Seen(bytes=45, processes=1, threads=1, cold_start_s=0.5, warm_start_s=0.4, source=today)
    seen_servers.write(entry, seen)
    after = load_entry(folder, shipped=True)
    assert after.seen == seen
    assert msgspec.structs.replace(after, seen=entry.seen) == entry


@pytest.mark.parametrize("before", ["", "seen: {memory_mb: 9, source: an earlier check}\n"])
def test_what_was_seen_replaces_what_an_entry_said(before: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("")
    (tmp_path / "server.yaml").write_text(f"{FILE}{before}unequal: [It has a pool.]\n")
    gate = GateResult(
        server="mine",
        passed=True,
        sentences=[],
        keep_alive=True,
        pipelining=3,
        bytes_on_wire=45,
        processes=2,
        threads=1_003,
        rss_bytes=33_400_000,
    )
    deployment: Any = SimpleNamespace(version="tornado 6.6.1", ready_s=0.5512)
    mine = load_entry(tmp_path)
    found = seen_servers.seen_of(Checked(mine, "passed", "", deployment, gate), 0.25)
    assert found
    seen_servers.write(mine, found)
    entry = load_entry(tmp_path)
    assert entry.seen and entry.unequal == ["It has a pool."]
    assert (entry.seen.version, entry.seen.memory_mb) == ("6.6.1", 33)
    row = f"| `{tmp_path.name}` | – | 45 | yes | 3 of 3 | 2 | 1,003 | 33 | 0.55 | 0.25 |"
    assert row in doc_tables.seen_of_servers([entry]).splitlines()


def test_the_table_has_a_row_for_each_server_that_was_checked() -> None:
    shipped = (doc_tables.ROOT / "docs/servers.md").read_text()
    made = doc_tables.written("docs/servers.md", shipped)
    assert doc_tables.written("docs/servers.md", made) == made
    entries = Catalogue.load(extra_dirs=[]).contestants()
    assert all((f"| `{entry.id}` |" in made) == bool(entry.seen) for entry in entries)


def test_the_table_distinguishes_what_does_not_apply_from_what_was_not_measured() -> None:
    def cells(id: str, **changes: object) -> list[str]:
        found = SHIPPED[id].seen
        assert found
        seen = msgspec.structs.replace(found, **changes)
        entry = msgspec.structs.replace(SHIPPED[id], seen=seen)
        (row,) = doc_tables.seen_of_servers([entry]).splitlines()[2:]
        return [cell.strip() for cell in row.split("|")[1:-1]]

    assert cells("zeromq-req-rep", bytes=0)[2:5] == ["–", "–", "–"]
    assert cells("asyncio-streams", bytes=45)[1:5] == ["–", "45", "–", "–"]
    assert cells("go", bytes=0, keep_alive=True, pipelining=3)[2:5] == ["", "yes", "3 of 3"]
    assert cells("wsgiref", keep_alive=False)[3:5] == ["no", "–"]
    assert cells("tornado", warm_start_s=None)[-1] == ""


def test_the_version_of_a_compiler_is_not_taken_for_the_servers() -> None:
    assert checking.version_of(SHIPPED["tornado"], "tornado 6.6.1") == "6.6.1"
    assert checking.version_of(SHIPPED["uwsgi-nginx"], "uwsgi 2.0.31") == "2.0.31"
    assert checking.version_of(SHIPPED["go"], "go 1.26.8") == "go 1.26.8"
    assert checking.version_of(SHIPPED["axum"], "axum 0.8.9") == "0.8.9"
    assert checking.version_of(SHIPPED["asyncio-streams"], "standard library") == ""
