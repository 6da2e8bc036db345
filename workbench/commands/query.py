"""`pongbench query`: SQL over many sessions, by DuckDB."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench.analysis.summary import summarise
from workbench.commands.shared import add_flag
from workbench.documents import RunStart
from workbench.errors import BadInput
from workbench.results.render.data import of_session
from workbench.sessions.labels import Titles
from workbench.sessions.library import shelf
from workbench.sessions.skim import skim
from workbench.terminal import to_stderr, write, write_json

_IDS = {"session": "VARCHAR", "started": "TIMESTAMP", "series": "VARCHAR", "server": "VARCHAR"}
_TIMES = {f"{name}_ms": "DOUBLE" for name in ("mean", "p50", "p90", "p99", "p999")}
TABLES: dict[str, dict[str, str]] = {
    "sessions": {
        **{"session": "VARCHAR", "started": "TIMESTAMP", "file": "VARCHAR", "title": "VARCHAR"},
        **{"plan": "VARCHAR", "status": "VARCHAR", "unit": "VARCHAR", "axis": "VARCHAR"},
        **{"ceiling_per_s": "DOUBLE", "target": "VARCHAR", "kernel": "VARCHAR", "cpu": "VARCHAR"},
        **{"cores": "BIGINT", "pongbench": "VARCHAR"},
    },
    "servers": {
        **_IDS,
        **{"name": "VARCHAR", "version": "VARCHAR", "load_tool": "VARCHAR", "sustained": "DOUBLE"},
        **{"at_least": "BOOLEAN", **_TIMES, "cpu_pct": "DOUBLE", "cpu_us_per_call": "DOUBLE"},
        **{"rss_bytes": "BIGINT", "faulty": "VARCHAR"},
    },
    "points": {
        **_IDS,
        **{"point": "BIGINT", "pass_number": "BIGINT", "look": "BIGINT", "x": "DOUBLE"},
        **{"counts": "BOOLEAN", "complete": "BOOLEAN", "offered_per_s": "DOUBLE"},
        **{"replies_per_s": "DOUBLE", "errors_pct": "DOUBLE", **_TIMES},
        **{"cpu_us_per_call": "DOUBLE", "verdict": "VARCHAR"},
    },
}
"""Columns and their types. Times are from the scheduled instant, or from the send where a load tool
has no schedule; those of a server are at what it sustains."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sql", metavar="SQL", help=f"of the tables {', '.join(TABLES)}; see docs/notebook.md"
    )
    parser.add_argument(
        "session", nargs="*", type=Path, metavar="FILE", help="default: all sessions in your folder"
    )
    add_flag(parser, "--json", "print one JSON list, nothing else")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> None:
    """Print what SQL selects. Raises BadInput."""
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ImportError:
        raise BadInput(
            "`query` needs DuckDB, which is not installed: pip install 'pongbench[query]'."
        ) from None
    files = arguments.session or [each.path for each in shelf()]
    with duckdb.connect() as database:
        database.execute("SET autoinstall_known_extensions = false")
        _fill(database, files)
        try:
            found = database.sql(arguments.sql)
            if found is not None and arguments.json:
                rows = (zip(found.columns, row, strict=True) for row in found.fetchall())
                write_json([dict(row) for row in rows])
            elif found is not None:
                write(f"{found}\n".replace("\n\n", "\n"))
        except duckdb.Error as error:
            raise BadInput(f"This SQL cannot be run. {str(error).splitlines()[0]}") from None


def _fill(database: Any, files: Sequence[Path]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        parts = {name: Path(folder, f"{name}.json") for name in TABLES}
        opened = {name: path.open("wb") for name, path in parts.items()}
        for path in files:
            try:
                rows = list(_rows(path))
            except BadInput as error:
                to_stderr(f"{error} It is left out.")
                continue
            for table, row in rows:
                known = {key: row.get(key) for key in TABLES[table]}
                opened[table].write(msgspec.json.encode(known) + b"\n")
        for file in opened.values():
            file.close()
        for name, columns in TABLES.items():
            types = ", ".join(f"'{key}': '{kind}'" for key, kind in columns.items())
            database.execute(
                f"CREATE TABLE {name} AS SELECT * FROM"
                f" read_json($file, format = 'newline_delimited', columns = {{{types}}})",
                {"file": str(parts[name])},
            )


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a session, each with its table. Raises BadInput."""
    start, *others = skim(path)
    assert isinstance(start, RunStart)
    data = of_session(summarise([start, *others]))
    label = Titles(path.parent).read().get(start.session)
    target = next((each for each in start.machines if "target" in each.roles), None)
    facts = target.facts if target else {}
    both = {"session": start.session, "started": start.started_utc.removesuffix("Z")}
    yield (
        "sessions",
        {
            **both,
            **{key: data[key] for key in ("status", "unit", "ceiling_per_s")},
            "file": str(path.absolute()),
            "title": (label.title if label else "") or data["name"],
            "plan": data["name"],
            "axis": data["axis"]["key"],
            "target": target.name if target else None,
            "kernel": facts.get("kernel"),
            "cpu": facts.get("cpu_model"),
            "cores": facts.get("cpu_count"),
            "pongbench": start.pongbench,
        },
    )
    times = f"{data['clock']}_ms"
    for series, server in data["servers"].items():
        ids = {**both, "series": series, "server": server["server"]}
        at = {
            "sustained": server.get("peak_per_s", server["knee"]),
            "at_least": server.get("peak_is_floor", server["knee_is_floor"]),
            "cpu_pct": server["cpu_at_knee_pct"],
            "cpu_us_per_call": server["cpu_us_per_call_at_knee"],
        }
        yield "servers", {**server, **ids, **at, **_named(server[f"{data['clock']}_at_knee_ms"])}
        for point in server["points"]:
            yield "points", {**point, **ids, **_named(point[times])}


def _named(times: dict[str, float | None]) -> dict[str, float | None]:
    return {f"{name}_ms": value for name, value in times.items()}
