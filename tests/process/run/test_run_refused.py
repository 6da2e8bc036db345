"""What `pongbench run` refuses, in one sentence, before a session starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from a_run import STREAMS, Answer, Home, run, sentence, texts

from workbench.cli import main


def test_a_path_that_a_server_does_not_have_is_named_before_the_session_starts(
    home: Home, session: Path
) -> None:
    workload = {"protocol": "http/1.1", "path": "/gone"}
    answer = home.call("run", home.plan(["http-asyncio"], workload=workload), "-o", session)
    assert answer.code == 2
    assert "http-asyncio answers 404 to GET /gone; correct the request" in sentence(answer)
    assert not session.exists()
    wanted = home.plan(["http-asyncio"], workload={**workload, "expect_status": 404})
    assert texts(run(home, session, wanted), "gate")[0].startswith(
        "It answers 404 'Pong!' at /gone with 50 bytes on the wire. It keeps connections alive"
    )


def test_more_connections_than_the_target_has_descriptors_for_are_refused(
    home: Home, session: Path
) -> None:
    crowded = home.plan(
        [STREAMS], workload={"mode": "closed"}, concurrency=[3_000], nofile=65_000, workers=2
    )
    limited = ["sh", "-c", 'ulimit -n 2000; exec "$@"', "sh"]
    answer = home.call("run", crowded, "-o", session, under=limited)
    assert (answer.code, sentence(answer)) == (
        2,
        "pongbench: 3,000 concurrent connections need as many file descriptors; the target has"
        " 1,936. Raise nofile and the machine's hard limit, or lower concurrency.",
    )
    assert "The client and the target allow 2,000 file descriptors per process" in answer.stderr
    assert not session.exists()


Refused = Callable[..., str]


@pytest.fixture
def refused(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Refused:
    """Runs a command in this process, which is much faster; returns the sentence."""
    monkeypatch.setenv("PONGBENCH_HOME", str(home.folder))

    def refuse(*words: str | Path) -> str:
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        assert (code, said.out) == (2, ""), said.err
        return sentence(Answer(code, said.out, said.err))

    return refuse


def test_an_unknown_plan(home: Home, refused: Refused) -> None:
    assert "Did you mean 'demo'?" in refused("run", "dem")


def test_an_unknown_server(home: Home, refused: Refused, session: Path) -> None:
    plan = home.plan(["tornadoo"])
    assert "Did you mean 'tornado'?" in refused("run", plan, "-o", session)
    assert not session.exists()


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"rates": [0, 100]}, "rates"),
        ({"rates": [-5]}, "rates"),
        ({"rates": {"from": 200, "to": 100, "step": 10}}, "swap the two"),
        ({"rates": [1e12]}, "rates"),
        ({"rates": [100], "seconds": 0.2}, "100/s"),
        ({"rates": [100], "seconds": None, "connections": 20}, "100/s"),
    ],
)
def test_invalid_rates_and_points_are_refused(
    home: Home, refused: Refused, session: Path, keys: dict[str, object], place: str
) -> None:
    message = refused("run", home.plan([STREAMS], **keys), "-o", session)
    assert place in message
    assert not session.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
        b"[" * 100_000,
        b"servers: !!python/object/apply:os.system [id]\n",
        b"servers: [a\n",
        b"\x00\xff",
        b"",
    ],
    ids=["aliases", "depth", "tags", "malformed", "binary", "empty"],
)
def test_hostile_plans(home: Home, refused: Refused, content: bytes) -> None:
    plan = home.file(content)
    assert str(plan) in refused("run", plan)


def test_a_plan_of_a_gigabyte(home: Home, refused: Refused) -> None:
    plan = home.file(b"")
    os.truncate(plan, 1 << 30)
    assert "1,024.0 MiB" in refused("run", plan)


@pytest.mark.parametrize("command", ["summary", "replay"])
def test_a_file_that_is_no_session(home: Home, refused: Refused, command: str) -> None:
    for path in (home.file(b"kind: shopping\n"), home.folder / "nowhere"):
        assert str(path) in refused(command, path)


def test_a_session_is_never_overwritten(home: Home, refused: Refused, session: Path) -> None:
    session.write_text("precious")
    message = refused("run", home.plan([STREAMS]), "-o", session)
    assert "already exists" in message
    assert session.read_text() == "precious"


def test_a_read_only_path_is_reported(home: Home, refused: Refused) -> None:
    message = refused("run", home.plan([STREAMS]), "-o", "/proc/run.pong.yaml")
    assert "No session can be written to /proc/run.pong.yaml" in message
