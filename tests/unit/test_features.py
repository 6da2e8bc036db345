"""The feature table: as published, and today with sources."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.errors import BadInput
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import PROJECTS, load_entry, load_facts
from workbench.servers.facts import NOT_FOUND, In2009, In2010, Today
from workbench.servers.features import COLUMNS, NOT_STATED, features, now, then

SHIPPED = Catalogue.load(extra_dirs=[])

FILE = """\
seen: "2026-11-22"
sources: {pypi: https://pypi.org/project/tornado/6.6.1/}
today: {wsgi: {value: "Yes", source: tornado.wsgi, at: pypi}}
not_found: [{facts: [blog], source: its README, at: pypi}]
"""


def table(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, str]]:
    assert main(["catalogue", "features", "--csv", *args]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_each_value_of_today_is_beside_that_of_2009_with_its_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = {row["feature"]: row for row in table(capsys, "gevent")}
    assert tuple(rows["WSGI"]) == COLUMNS
    pool = rows["Thread pool"]
    assert (pool["in_2009"], pool["today"], pool["source"]) == ("No", "Yes", "gevent.threadpool")
    assert pool["address"].startswith("https://pypi.org/project/gevent/")
    assert pool["seen"] == "2026-11-22"
    concurrence = {row["feature"]: row for row in table(capsys, "concurrence")}
    assert [name for name, row in concurrence.items() if row["inferred"]] == ["Production use"]


def test_the_contestants_of_2010_have_their_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["feature"]: row["in_2010"] for row in table(capsys, "gunicorn")}
    assert (rows["Version"], rows["HTTP/1.1"], rows["Flavour"]) == (
        "0.6.4",
        "No",
        "processor/thread",
    )
    assert sum(entry.in_2010 is not None for entry in SHIPPED) >= 14
    rows = {row["feature"]: row["today"] for row in table(capsys, "gunicorn")}
    assert (rows["Version"], rows["HTTP/1.1"], rows["Flavour"]) == ("27.0.1", "No", "Pre-fork")


TODAYS = [entry for entry in SHIPPED.contestants() if "@" not in entry.id]
"""Without versions of then, which are no projects of today."""


@pytest.mark.parametrize("entry", TODAYS, ids=lambda entry: entry.id)
def test_no_cell_of_the_table_is_empty_today(entry: ServerEntry) -> None:
    """Each says what is known or where it was sought, the address and the day."""
    for name in Today.__struct_fields__:
        fact = now(entry, name)
        assert fact and fact.at.startswith("http") and fact.seen, (entry.id, name)
    for name in In2010.__struct_fields__ if entry.in_2010 else ():
        assert now(entry, name), (entry.id, name)


def test_most_cells_have_a_value_and_not_only_a_reason() -> None:
    columns = In2009.__struct_fields__
    facts = [now(entry, name) for entry in SHIPPED if entry.in_2009 for name in columns]
    assert len(facts) == 240
    assert sum(fact is not None and fact.value == NOT_FOUND for fact in facts) <= 50
    entries = SHIPPED.contestants()
    facts = [now(entry, name) for entry in entries for name in Today.__struct_fields__]
    assert sum(fact is not None and fact.value == NOT_FOUND for fact in facts) < len(facts) / 6


def test_what_a_table_of_then_leaves_open_says_so() -> None:
    assert then(SHIPPED["paste"].in_2010, "version") == NOT_STATED
    assert then(SHIPPED["wsgiref"].in_2009, "version") == ""
    assert "version" not in {each.name for each in features(SHIPPED["node"])}


def test_entries_share_the_facts_of_their_project_and_may_have_their_own() -> None:
    facts = load_facts(PROJECTS / "twisted.yaml")
    assert {SHIPPED[id].today.wsgi for id in ("twisted", "twisted-web-wsgi")} == {facts.wsgi}
    assert SHIPPED["twisted-web"].today.tests != SHIPPED["twisted"].today.tests


@pytest.mark.parametrize("path", sorted(PROJECTS.iterdir()), ids=lambda path: path.stem)
def test_a_projects_facts_are_sourced_and_used(path: Path) -> None:
    today = load_facts(path)
    facts = [fact for name in today.__struct_fields__ if (fact := getattr(today, name))]
    assert facts and all(fact.at and fact.seen for fact in facts)
    used = {entry.project or entry.framework.lower() for entry in SHIPPED}
    assert path.stem in used


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("at: pypi", "at: docs"), r"today\.wsgi\.at: 'docs' is not among its sources; .* pypi"),
        (("https://", "htp:/"), r"sources\.pypi: .* is no address"),
        (("value: ", "worth: "), r"today\.wsgi: unknown key 'worth'"),
        (("[blog]", "[log]"), r"not_found: 'log' is no fact"),
        (("[blog]", "[wsgi]"), r"not_found: 'wsgi' is given under today, too"),
        (("2026-11-22", "22 November"), r"seen: "),
    ],
)
def test_a_faulty_file_is_described_in_one_sentence(
    change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "tornado.yaml"
    path.write_text(FILE)
    blog = load_facts(path).blog
    assert blog and (blog.value, blog.source) == (NOT_FOUND, "its README")
    faulty = tmp_path / "faulty.yaml"
    faulty.write_text(FILE.replace(*change))
    with pytest.raises(BadInput, match=said) as caught:
        load_facts(faulty)
    assert "faulty.yaml" in str(caught.value) and "\n" not in str(caught.value)


def test_an_entry_of_an_unknown_project_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "server.py").write_text("")
    (folder / "server.yaml").write_text(
        "name: Mine\nfamily: socket\nprotocols: [pong]\nproject: nothing\n"
        'command: ["{python}", server.py, "{port}"]\n'
    )
    with pytest.raises(BadInput, match=r"server\.yaml, project: there is no project 'nothing'"):
        load_entry(folder)
