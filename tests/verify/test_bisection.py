"""A commit that made a service slower, planted among twelve: found by `versions --bisect`, or said
to be undecided, and never another one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.errors import ExitCode

TRIES = int(os.environ.get("PONGBENCH_BISECTIONS", "10"))
COMMITS = 12
LOOPS = 40_000
"""Of each call: most of its cost, so that a share of them is about that share of the cost."""
SERVER = """\
import http.server
import os


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        for _ in range({loops}):
            pass
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *about):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

pytestmark = pytest.mark.timeout(14_400)


def planted(folder: Path, more: float, at: int) -> str:
    """Make a repository of commits with tags, and return the hash of the slow one."""

    def git(*words: str) -> str:
        who = ["-c", "user.name=Me", "-c", "user.email=me@example.org"]
        argv = ["git", "-C", str(folder), *who, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    folder.mkdir()
    git("init", "-q")
    (folder / "Procfile").write_text("web: python server.py\n")
    for number in range(1, COMMITS + 1):
        loops = round(LOOPS * (1 + more * (number >= at)))
        (folder / "server.py").write_text(f"{SERVER.format(loops=loops)}# {number}\n")
        git("add", ".")
        git("commit", "-qm", f"Commit {number}")
        git("tag", f"c{number}")
    return git("rev-parse", f"c{at}")


@pytest.mark.parametrize(("more", "least"), [(0.25, 0.9), (0.1, 0.0)])
def test_a_planted_commit_is_found_and_never_a_wrong_one(
    more: float, least: float, home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = 0
    for number in range(TRIES):
        folder = tmp_path / f"shop-{number}"
        slow = planted(folder, more, 2 + (5 * number) % (COMMITS - 1))
        code = main(["versions", str(folder), "--bisect", "c1", f"c{COMMITS}"])
        last = capfd.readouterr().out.splitlines()[-1]
        if code == ExitCode.DONE:
            found += 1
            assert last.startswith(slow[:10]), f"try {number}: {last}"
        else:
            assert code == ExitCode.UNDECIDED
    assert found >= least * TRIES
