"""A session's file, written as `pongbench report` does."""

from __future__ import annotations

from pathlib import Path

from app.export import report
from app.export.options import ReportOptions
from workbench.sessions import read_session


def write_report(session: Path, output: Path, options: ReportOptions | None = None) -> None:
    report.check_output(output)
    report.write_report(read_session(session), output, options or ReportOptions())
