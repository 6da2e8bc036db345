"""Session files with given documents."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.documents import AnyDocument
from workbench.sessions import Recorder


def record_session(path: Path, documents: Iterable[AnyDocument]) -> Path:
    recorder = Recorder(path)
    for document in documents:
        recorder(document)
    recorder.close()
    return path
