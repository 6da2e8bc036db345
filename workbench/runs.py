"""What a run is made of, whoever starts it: the terminal or the window."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path

from workbench import paths
from workbench.documents import AnyDocument
from workbench.engine import Engine
from workbench.plans import Plan
from workbench.servers.catalogue import NULL_SERVER, Catalogue

HERE = "localhost"


def engine_for(plan: Plan, emit: Callable[[AnyDocument], None]) -> Engine:
    """For this machine. Raises BadInput when the catalogue lacks a server of the plan."""
    catalogue = Catalogue.load()
    entries = [catalogue[server] for server in plan.servers]
    null = catalogue[NULL_SERVER] if plan.calibrate else None
    return Engine(plan, entries, emit, null=null, machine=HERE)


def session_path(plan: Plan) -> Path:
    """Where a session of this plan, begun now, belongs."""
    now = datetime.datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^a-z0-9]+", "-", plan.name.lower()).strip("-")[:40]
    return paths.data_dir() / "sessions" / f"{now}-{name}.pong.yaml"
