"""An export from the window: the choice of a file, whose ending is the format, and its writing."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.charts.trio import Trio
from app.context import Desk
from app.export.report import check_output
from app.export.sources import KINDS, Charts, Recorded, flash
from workbench.errors import BadInput

_SETTING = "Export"
_NOTED = "HTML report with my notes (*.html)"


def ask(parent: QWidget, desk: Desk, source: Recorded | Charts) -> QFileDialog:
    """Open the choice of a file over a page, in the folder of the last export."""
    kept = desk.settings.more.get(_SETTING)
    folder = kept.get("folder") if isinstance(kept, dict) else None
    start = Path(folder if isinstance(folder, str) and folder else Path.home())
    filters = {f"{KINDS[kind]} (*{kind})": kind for kind in source.kinds}
    if source.notes:
        filters[_NOTED] = ".html"
    # With its ending, or Qt would take what follows a full stop in a title for one.
    name = f"{_file_name(source.title)}{source.kinds[0]}"
    dialog = QFileDialog(parent, "Export", str(start / name))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(filters))
    dialog.setDefaultSuffix(source.kinds[0][1:])
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters[chosen][1:]))

    def take(chosen: str) -> None:
        output, filter_ = Path(chosen), dialog.selectedNameFilter()
        if not re.fullmatch(r"\.[A-Za-z]+", output.suffix):
            output = output.with_name(output.name + filters[filter_])
            if output.exists():
                desk.notice.emit(f"{output} exists. Choose it in the list to replace it.", "bad")
                return
        if export(desk, source, output, notes=filter_ == _NOTED):
            flash(parent, f"Writing {output.name}")

    dialog.fileSelected.connect(take)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def export(desk: Desk, source: Recorded | Charts, output: Path, *, notes: bool = False) -> bool:
    """Write a file; a notice above the page tells how that ended. Returns whether it has begun."""
    desk.settings.more[_SETTING] = {"folder": str(output.parent)}
    if desk.busy and (isinstance(source, Recorded) or output.suffix.lower() in (".html", ".csv")):
        busy = "A run is in progress. Export when it is over, as drawing takes CPU."
        desk.notice.emit(busy, "warn")
        return False
    try:
        check_output(output, source.kinds)
        work = source.write(output, desk.theme.name, notes=notes)
    except BadInput as error:
        desk.notice.emit(str(error), "bad")
        return False

    def written(remark: str) -> None:
        said = f"Saved: {output}. {remark}".strip()
        desk.notice.emit(said, "warn" if remark else "ok")

    desk.bridge.submit(work, written, lambda sentence: desk.notice.emit(sentence, "bad"))
    return True


def shown_session(desk: Desk, path: Path, trio: Trio) -> Recorded:
    known = next((session for session in desk.shelf if session.path == path), None)
    start = trio.model.start
    planned = start.plan.get("name", "") if start else ""
    title = known.title if known else planned or path.name
    notes = known.label.notes if known else ""
    return Recorded(path, title, notes, trio.view, trio.own_showing, trio.look)


def _file_name(title: str) -> str:
    """Return a file name for a title: "ping-pong-2009" for "Ping-pong, 2009"."""
    return re.sub(r"[^\w.-]+", "-", title.casefold()).strip("-.")[:80] or "session"
