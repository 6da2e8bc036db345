"""Results of a check, recorded in the entries and shown in the documentation."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tests import doc_tables
from workbench.servers import checking
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked
from workbench.servers.entry import Seen
from workbench.servers.entry_reading import load_entry

SHIPPED = Catalogue.load(extra_dirs=[])


def test_a_result_replaces_the_one_before(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED["tornado"].folder, tmp_path / "tornado")
    entry = load_entry(folder, shipped=True)
    assert not checking.record(Checked(entry, "failed", "It failed."))
    assert load_entry(folder, shipped=True) == entry
    today = checking.source(datetime.now(UTC))
    seen = Seen(bytes=45, processes=1, threads=1, cold_start_s=0.5, warm_start_s=0.4, source=today)
    checking.write(entry, seen)
    after = load_entry(folder, shipped=True)
    assert after.seen == seen
    assert msgspec.structs.replace(after, seen=entry.seen) == entry


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
