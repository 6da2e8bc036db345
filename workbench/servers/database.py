"""The settings of the PostgreSQL beneath an application server."""

from __future__ import annotations

import ast

from workbench.servers.entry import APPS, ServerEntry

PROGRAM = "with_postgres.py"
"""Of `APPS`: it starts one for each application."""


def settings(entry: ServerEntry) -> dict[str, str]:
    """Return what `PROGRAM` sets, by name, as PostgreSQL reads it; empty: the entry does not use
    it."""
    if APPS / PROGRAM not in entry.shared_paths:
        return {}
    module = ast.parse((APPS / PROGRAM).read_text("utf-8"))
    text: str = next(
        ast.literal_eval(each.value)
        for each in module.body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "SETTINGS"
    )
    return dict(line.split(" = ", 1) for line in text.strip().splitlines())
