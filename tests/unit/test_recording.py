"""Results of a check are written into entries, and make the table of the documentation."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import doc_tables
from workbench.cli import main
from workbench.servers import checking
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import GateResult

FILE = """\
name: Mine
family: socket
command: ["{python}", server.py, "{port}"]
protocols: [http/1.1]
"""


def checked(folder: Path, status: Any = "passed") -> Checked:
    gate = GateResult(
        server=folder.name,
        passed=status == "passed",
        sentences=[],
        keep_alive=True,
        pipelining=3,
        bytes_on_wire=45,
        processes=2,
        threads=1_003,
        rss_bytes=33_400_000,
    )
    deployment: Any = SimpleNamespace(version="tornado 6.6.1", ready_s=0.5512)
    return Checked(load_entry(folder), status, "", deployment, gate, 0.25)


@pytest.mark.parametrize("before", ["", "seen: {memory_mb: 9, source: an earlier check}\n"])
def test_what_was_seen_replaces_what_an_entry_said(before: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("")
    (tmp_path / "server.yaml").write_text(f"{FILE}{before}unequal: [It has a pool.]\n")
    assert checking.record(checked(tmp_path))
    entry = load_entry(tmp_path)
    seen = entry.seen
    assert seen and entry.unequal == ["It has a pool."]
    assert (seen.version, seen.bytes, seen.memory_mb) == ("6.6.1", 45, 33)
    assert (seen.cold_start_s, seen.warm_start_s) == (0.55, 0.25)
    assert seen.source.startswith("catalogue check on ")
    row = f"| `{tmp_path.name}` | – | 45 | yes | 3 of 3 | 2 | 1,003 | 33 | 0.55 | 0.25 |"
    assert row in doc_tables.seen_of_servers([entry]).splitlines()


def test_a_server_that_failed_keeps_what_its_entry_said(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("")
    (tmp_path / "server.yaml").write_text(FILE)
    assert not checking.record(checked(tmp_path, "failed"))
    assert (tmp_path / "server.yaml").read_text() == FILE


def test_the_table_has_a_row_for_each_server_that_was_checked() -> None:
    shipped = (doc_tables.ROOT / "docs/servers.md").read_text()
    made = doc_tables.written("docs/servers.md", shipped)
    assert doc_tables.written("docs/servers.md", made) == made
    entries = Catalogue.load(extra_dirs=[]).contestants()
    assert all((f"| `{entry.id}` |" in made) == bool(entry.seen) for entry in entries)


def test_results_of_another_machine_are_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    folder = tmp_path / "config" / "profiles"
    folder.mkdir(parents=True)
    (folder / "box.yaml").write_text("name: box\nconnector: ssh\naddress: 192.0.2.1\n")
    assert main(["catalogue", "check", "--record", "--on", "box", "tornado"]) == 2
    assert "--record keeps results of this computer only; leave out --on" in capsys.readouterr().err
