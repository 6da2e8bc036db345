"""Results of the gate are kept until the server changes."""

import shutil
from pathlib import Path

import pytest

from workbench.servers.catalogue import Catalogue
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import GateResult, recall, remember
from workbench.workloads.registry import able

CHEROOT = Catalogue.load(extra_dirs=[])["cheroot"]


pytestmark = pytest.mark.usefixtures("home")


def found() -> GateResult:
    return GateResult(server="cheroot", passed=True, sentences=[], protocols=["http/1.0"])


def test_a_result_is_kept() -> None:
    assert recall(CHEROOT) is None
    remember(CHEROOT, found(), "cheroot 11.1.2")
    known = recall(CHEROOT)
    assert known is not None
    assert (known.gate, known.version) == (found(), "cheroot 11.1.2")


def test_a_changed_server_counts_as_untested(tmp_path: Path) -> None:
    entry = load_entry(Path(shutil.copytree(CHEROOT.folder, tmp_path / "cheroot")))
    remember(entry, found())
    assert recall(entry) is not None
    with (entry.folder / "server.py").open("a") as script:
        script.write("# faster\n")
    assert recall(entry) is None


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "file"))
    remember(CHEROOT, found())
    assert recall(CHEROOT) is None


def test_a_result_names_the_workloads_it_applies_to() -> None:
    result = GateResult(
        server="x",
        passed=True,
        sentences=[],
        protocols=["http/1.0", "http/1.1"],
        keep_alive=True,
        pipelining=1,
    )
    assert able(result) == ["HTTP/1.0", "HTTP/1.1, several calls on a connection"]
