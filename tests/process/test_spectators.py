"""Spectators follow a run on a read-only page."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import yaml

from app.__main__ import main
from tests import synthetic
from tests.recording import record_session
from workbench import paths

WITHIN_S = 20.0


class Page:
    """The page that a process serves of a session's file."""

    def __init__(self, session: Path) -> None:
        words = ["share", str(session), "--json", "--while-open"]
        self.process = subprocess.Popen(
            [*paths.program(), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self._opened: list[http.client.HTTPConnection] = []
        self.link = urlsplit(json.loads(self.process.stdout.readline())["link"])

    def get(self, path: str = "", **headers: str) -> http.client.HTTPResponse:
        """Ask for a path below the link, or for one of its own that begins with a slash."""
        return self.ask("GET", path if path[:1] == "/" else self.link.path + path, headers)

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.link.netloc, timeout=WITHIN_S)
        self._opened.append(connection)
        connection.request(method, path, None, headers or {})
        return connection.getresponse()

    def data(self) -> Any:
        return json.loads(gzip.decompress(self.get("data").read()))

    def end(self) -> tuple[int, str]:
        """Close what holds it open. Returns (exit status, what it complained of)."""
        for connection in self._opened:
            connection.close()
        _, complaint = self.process.communicate(timeout=WITHIN_S)
        return self.process.returncode, complaint


@pytest.fixture
def lines(tmp_path: Path) -> list[bytes]:
    """A session of two servers with four points each, line by line."""
    whole = record_session(tmp_path / "whole.pong.yaml", synthetic.session(2, 4))
    return whole.read_bytes().splitlines(keepends=True)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Not written yet."""
    return tmp_path / "run.pong.yaml"


@pytest.fixture
def page(session: Path) -> Iterator[Page]:
    page = Page(session)
    yield page
    assert page.end() == (0, "")


def news(response: http.client.HTTPResponse) -> Any:
    """Read the next of what the page is told."""
    while not (line := response.readline()).startswith(b"data: "):
        assert line
    return json.loads(line[6:])


def test_a_page_follows_a_run_to_its_end(page: Page, session: Path, lines: list[bytes]) -> None:
    told = page.get("events")
    first = news(told)
    half = 3 * len(lines) // 4
    with session.open("wb") as file:
        file.writelines(lines[:half])
        file.flush()
        while not (news(told)["version"] > first["version"] and page.data()["headline"]):
            pass
        assert page.data()["headline"].startswith("So far: ")
        file.writelines(lines[half:])
    while (data := page.data())["headline"].startswith("So far: "):
        assert news(told)
    assert news(page.get("events"))["state"] == ""
    assert [len(server["key"]) > 0 for server in data["servers"]] == [True, True]
    assert [len(each["p99"]["x"]) for each in lines_of(data)] == [4, 4]


def test_a_session_edited_by_hand_is_shown_whole(page: Page, session: Path) -> None:
    documents = synthetic.session(2, 4)
    text = yaml.safe_dump_all(msgspec.to_builtins(documents), sort_keys=False, explicit_start=True)
    edited = session.with_suffix(".edited")
    edited.write_text(f"# pongbench session\n{text}")
    edited.rename(session)
    told = page.get("events")
    while not page.data()["headline"]:
        news(told)
    assert [len(each["p99"]["x"]) for each in lines_of(page.data())] == [4, 4]


def lines_of(data: Any) -> Any:
    return data["sheets"][0]["charts"][0]["lines"].values()


def test_only_the_whole_link_shows_anything(page: Page, session: Path, lines: list[bytes]) -> None:
    session.write_bytes(b"".join(lines))
    response = page.get()
    text = response.read().decode()
    assert response.status == 200 and "<canvas" not in text
    assert str(session) not in text and str(session.parent) not in text
    assert "connect-src 'self'" in text and response.headers["Referrer-Policy"] == "no-referrer"
    assert [page.get(path).status for path in ("/", "/wrong/", "/wrong/data")] == [404] * 3
    assert page.get(Host="a.example").status == 404, "a page of another site cannot read it"
    assert page.ask("POST", page.link.path).status == 405


@pytest.mark.parametrize(
    "words", [["--address", "192.0.2.1"], ["--port", "99999"], ["--address", "nowhere.invalid"]]
)
def test_a_place_that_cannot_be_is_answered_in_a_sentence(
    session: Path, lines: list[bytes], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    session.write_bytes(b"".join(lines))
    assert main(["share", str(session), *words]) == 2
    assert "--address" in capsys.readouterr().err


def test_what_is_no_session_is_not_shared(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["share", str(session)]) == 2
    session.write_text("name: a plan\n")
    assert main(["share", str(session)]) == 2
    told = capsys.readouterr()
    assert "is not a session" in told.err and "http" not in told.out
