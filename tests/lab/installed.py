"""What colleagues install, against hosts that have Python and sshd and nothing else: run by
`make package`, which builds it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

from lab.conftest import eventually_nothing, profile_of, trusted
from lab.hosts import Lab
from workbench.documents import PointStop, RunStop
from workbench.sessions import read_session

PROGRAM = Path(__file__).parents[2] / "dist" / "pongbench" / "pongbench"
PLAN = """\
name: from the bundle
servers: [gevent-pywsgi, cherrypy]
rates: [90, 180]
seconds: 2
workload: {protocol: http/1.0, timeout_s: 30}
calibrate: false
warm_up: null
"""


def test_the_bundle_deploys_over_ssh_sweeps_and_leaves_hosts_as_they_were(
    lab: Lab, tmp_path: Path
) -> None:
    target, client = lab.hosts[:2]
    before = [host.snapshot() for host in (target, client)]
    for host in (target, client):
        asyncio.run(trusted(profile_of(host)))
    (tmp_path / "plan.yaml").write_text(PLAN)
    session = tmp_path / "out.pong.yaml"
    # Nothing of this checkout, of its Python or of this machine's programs.
    around = {name: os.environ[name] for name in ("HOME", "PONGBENCH_HOME")}
    done = subprocess.run(
        [
            *(PROGRAM, "run", "plan.yaml", "--target", target.name, "--client", client.name),
            *("-o", session),
        ],
        cwd=tmp_path,
        env={**around, "PATH": "/nowhere", "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    documents = read_session(session).documents
    points = [d for d in documents if isinstance(d, PointStop)]
    assert {point.server for point in points} == {"gevent-pywsgi", "cherrypy"}
    assert all(point.complete and point.conserved for point in points)
    assert sum(point.counts.succeeded for point in points) > 1000
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert stop.status == "done"
    left = [
        eventually_nothing(host, attempt)
        for host, attempt in zip((target, client), before, strict=True)
    ]
    assert left == [[], []]
