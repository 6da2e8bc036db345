"""What a session and the documentation say about the PostgreSQL beneath applications."""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path

from tests.synthetic import session
from workbench.analysis.summary import summarise
from workbench.messages import notes
from workbench.results.render.terminal import print_summary
from workbench.results.setup import sentences
from workbench.run import scheduler
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import APPS
from workbench.terminal import Terminal

SET: str = runpy.run_path(str(APPS / scheduler.PROGRAM))["SETTINGS"]
DOCS = Path(__file__).parents[2] / "docs" / "sources.md"


def test_every_setting_of_every_application_with_a_database_is_stated() -> None:
    stated = {entry.id: scheduler.settings(entry) for entry in Catalogue.load(extra_dirs=[])}
    using = {id_: found for id_, found in stated.items() if found}
    lines = SET.strip().splitlines()
    assert {"flask", "django-orm", "aiohttp", "api-hour", "axum"} <= using.keys()
    assert "tornado" not in using
    for found in using.values():
        assert [f"{name} = {value}" for name, value in found.items()] == lines
        assert notes.Database(settings=found).text().endswith(f"{', '.join(lines)}.")


def test_a_summary_and_a_report_state_them_once_for_all_servers() -> None:
    start, *others = session(2, 4)
    note = notes.Database(settings={"jit": "off"})
    found = [note.note(0, server=each) for each in ("asyncio-streams", "asyncio-protocol")]
    documents = [start, *found, *others]
    sentence = f"All servers: {note.text()}"
    screen = io.StringIO()
    print_summary(summarise(documents), Terminal(file=screen, width=200))
    assert screen.getvalue().count(sentence) == 1
    assert sentences(start, summarise(documents)).count(sentence) == 1


def test_the_documentation_states_what_is_set() -> None:
    text = " ".join(DOCS.read_text("utf-8").split())
    (stated,) = re.findall(r"as for production \((.*?); `resources/apps/with_postgres.py`\)", text)
    found = {each.strip().replace(" MB", "MB").replace(" GB", "GB") for each in stated.split(",")}
    assert found <= {line.replace(" = ", " ") for line in SET.splitlines()}
