"""Published listings of servers and their improved ones."""

from pathlib import Path

import msgspec
import pytest

from workbench.servers import sources
from workbench.servers.catalogue import Catalogue, as_improved, as_published
from workbench.servers.entry import Unavailable

SHIPPED = Catalogue.load(extra_dirs=[]).contestants()


def test_each_server_is_replaced_by_its_other_listing_where_that_can_run() -> None:
    chosen = ["twisted", "gevent", "circuits", "circuits-select", "cogen"]
    published = ["twisted-published", "gevent-published", "circuits-select", "cogen-published"]
    assert as_published(chosen, SHIPPED) == published
    assert as_improved(published, SHIPPED) == ["twisted", "gevent", "circuits", "cogen"]
    without = [
        msgspec.structs.replace(each, unavailable=Unavailable(reason="It has no source."))
        if each.id == "cogen-published"
        else each
        for each in SHIPPED
    ]
    assert as_published(["cogen"], without) == ["cogen"]


def test_a_listing_whose_source_is_not_at_hand_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    assert as_published(["pyev", "magnum-py"], SHIPPED) == ["pyev", "magnum-py"]
    original = next(entry for entry in SHIPPED if entry.id == "magnum-py-original")
    assert original.source_at
    sources.place(original.source_at).mkdir(parents=True)
    assert as_published(["pyev", "magnum-py"], SHIPPED) == ["pyev", "magnum-py-original"]
