"""The feature table: as published, and today with sources."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.errors import BadInput
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry_reading import load_entry
from workbench.servers.features import COLUMNS, features
from workbench.servers.projects import PROJECTS, load_facts

SHIPPED = Catalogue.load(extra_dirs=[])

FILE = """\
seen: "2026-11-22"
sources: {pypi: https://pypi.org/project/tornado/6.6.1/}
today: {wsgi: {value: "Yes", source: tornado.wsgi, at: pypi}}
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


def test_the_contestants_of_2010_have_their_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["feature"]: row["in_2010"] for row in table(capsys, "gunicorn")}
    assert (rows["Version"], rows["HTTP/1.1"], rows["Flavour"]) == ("0.6.4", "No", "process/thread")
    assert sum(entry.in_2010 is not None for entry in SHIPPED) >= 14


def test_what_is_unknown_stays_empty() -> None:
    known = {each.name: each for each in features(SHIPPED["cogen"])}
    assert known["documentation"].in_2009 == "Yes"
    assert known["documentation"].today is None
    assert "coverage" not in known


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
        (("value: ", "worth: "), r"today\.wsgi: there is no key 'worth'"),
        (("2026-11-22", "22 November"), r"seen: "),
    ],
)
def test_a_faulty_file_is_described_in_one_sentence(
    change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "tornado.yaml"
    path.write_text(FILE)
    assert load_facts(path).wsgi
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
