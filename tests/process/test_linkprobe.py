"""The link probe, as two programs on loopback, which loses nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROBE = Path(__file__).parents[2] / "workbench" / "remote" / "linkprobe.py"


def test_it_measures_round_trips_bandwidth_and_loss() -> None:
    command = [sys.executable, str(PROBE)]
    with subprocess.Popen(
        [*command, "serve", "127.0.0.1", "token"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as serving:
        assert serving.stdout and serving.stdin
        port = json.loads(serving.stdout.readline())["port"]
        asking = subprocess.run(
            [*command, "ask", "127.0.0.1", str(port), "token"], check=True, capture_output=True
        )
        serving.stdin.close()
    data = json.loads(asking.stdout)
    assert 50 <= len(data["trips_us"]) <= 400
    assert data["segments"] == 2 * len(data["trips_us"]) and data["resent"] == 0
    assert data["bytes"] > 0 < data["seconds"]
    assert data["put_bytes"] > 0 < data["put_seconds"]
