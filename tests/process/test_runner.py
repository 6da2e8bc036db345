"""The runner by itself, spoken to over its pipes as any connector would."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle import eventually, files_below, processes_with

from workbench.machines.runner_client import RUNNER


class Pipes:
    """A runner on two pipes; every program it starts bears `mark`."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.mark = secrets.token_hex(12)
        self.nonce = secrets.token_hex(8)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def say(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def configure(self, *, lease_s: float = 600.0, max_s: float = 600.0) -> None:
        self.say(
            nonce=self.nonce,
            cache=str(self.cache),
            run="one",
            holder="a test",
            lease_s=lease_s,
            max_s=max_s,
        )
        while self.line() != self.nonce.encode():
            pass
        assert self.event()["ev"] == "ready"

    def start(self, program: str) -> None:
        argv = [sys.executable, "-c", program, self.mark]
        self.say(op="start", id="7", argv=argv, env={}, cwd="", nofile=0, cpus=[])
        assert self.event()["ev"] == "started"

    def line(self) -> bytes:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line.endswith(b"\n")
        return line[:-1]

    def event(self) -> dict[str, Any]:
        key, _, payload = self.line().partition(b" ")
        assert key == b"-"
        event: dict[str, Any] = json.loads(payload)
        return event

    def until(self, name: str) -> tuple[list[bytes], list[dict[str, Any]]]:
        """(lines of the program, events) up to the event `name`."""
        lines, events = [], []
        while not events or events[-1]["ev"] != name:
            key, _, payload = self.line().partition(b" ")
            if key == b"-":
                events.append(json.loads(payload))
            else:
                lines.append(payload)
        return lines, events

    def gone(self) -> bool:
        return bool(
            eventually(
                lambda: (
                    not processes_with(self.mark)
                    and not files_below(self.cache)
                    and self.process.poll() is not None
                )
            )
        )


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Pipes]:
    pipes = Pipes(tmp_path / "cache")
    yield pipes
    pipes.process.stdin.close()  # type: ignore[union-attr]
    pipes.process.stdout.close()  # type: ignore[union-attr]
    pipes.process.wait()


def test_nothing_is_made_before_the_configuration_is_complete(runner: Pipes) -> None:
    runner.process.stdin.write(b'{"nonce": "x", "cache": ')  # type: ignore[union-attr]
    runner.process.stdin.close()  # type: ignore[union-attr]
    assert runner.process.wait() == 1
    assert not runner.cache.exists()


def test_the_run_directory_is_private(runner: Pipes) -> None:
    runner.configure()
    assert (runner.cache / "runs" / "one").stat().st_mode & 0o777 == 0o700


def test_no_heartbeat_for_longer_than_the_lease_ends_the_run(runner: Pipes) -> None:
    runner.configure(lease_s=0.3)
    assert runner.event()["code"] == "lease-expired"
    assert runner.gone()


def test_heartbeats_renew_the_lease(runner: Pipes) -> None:
    runner.configure(lease_s=5)
    runner.start("import time; time.sleep(6); print('still here', flush=True); time.sleep(600)")
    received: list[bytes] = []
    while not received:
        runner.say(op="ping", n="1")
        received, _ = runner.until("pong")
        eventually(lambda: not processes_with(runner.mark), within_s=0.4)
    assert received == [b"still here"]


def test_a_run_has_a_maximum_duration(runner: Pipes) -> None:
    runner.configure(max_s=0.3)
    assert runner.event()["why"] == "the time limit of a run is over"
    assert runner.gone()


def test_a_closed_output_ends_the_run(runner: Pipes) -> None:
    runner.configure()
    runner.start("import time; time.sleep(600)")
    runner.process.stdout.close()  # type: ignore[union-attr]
    assert runner.gone()


def test_an_invalid_command_ends_the_run_and_is_named(runner: Pipes) -> None:
    runner.configure()
    runner.start("import time; time.sleep(600)")
    runner.process.stdin.write(b"nonsense\n")  # type: ignore[union-attr]
    runner.process.stdin.flush()  # type: ignore[union-attr]
    assert "JSONDecodeError" in runner.until("end")[1][-1]["why"]
    assert runner.gone()


def test_lines_arrive_unchanged(runner: Pipes) -> None:
    runner.configure()
    runner.start(
        "import os\n"
        "os.write(1, b'one\\n\\n  two  \\n')\n"
        "os.write(2, b'th')\n"
        "os.write(1, b'ree\\n\\xff\\xfe\\x00\\r\\nno newline')"
    )
    lines, events = runner.until("exit")
    assert lines == [b"one", b"", b"  two  ", b"three", b"\xff\xfe\x00\r", b"no newline"]
    assert [event["ev"] for event in events] == ["eof", "exit"]


def test_an_endless_line_is_cut(runner: Pipes) -> None:
    runner.configure()
    runner.start("import os; os.write(1, b'before\\n'); print('x' * 30_000_000); print('after')")
    lines, _ = runner.until("exit")
    assert [len(line) for line in lines] == [6, 1 << 20, 5]


def test_a_slow_reader_blocks_nobody_and_learns_what_was_lost(runner: Pipes) -> None:
    runner.configure()
    runner.start("[print(f'{n:099}') for n in range(400_000)]")
    # Its output is 40 MB; what does not fit is dropped, so that it can end.
    eventually(lambda: not processes_with(runner.mark))
    assert not processes_with(runner.mark)
    lines, events = runner.until("exit")
    dropped = sum(event["lines"] for event in events if event["ev"] == "dropped")
    assert len(lines) < 120_000
    assert len(lines) + dropped == 400_000
