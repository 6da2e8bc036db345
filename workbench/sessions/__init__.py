"""Sessions: the record of a run, written and read.

A session file is a YAML stream that any YAML reader understands::

    # pongbench session
    ---
    kind: run_start
    v: 1
    ...                                  (readable block style)
    --- {"kind":"point_start","t_us":312004,"point":1,...}
    --- {"kind":"windows","t_us":312100,"point":1,"index":[0,1,2,3],...}

The first document is the `RunStart`, then comes one document a line, or several windows or samples
(`columns`). A line counts once its newline is on disk, the block document with the next `---`.
Wherever a file was cut, all documents before that are complete.
"""

from workbench.sessions.reading import NewerSession, Session, completed, is_session, read_session
from workbench.sessions.recorder import Recorder
from workbench.sessions.source import SessionSource

__all__ = [
    "NewerSession",
    "Recorder",
    "Session",
    "SessionSource",
    "completed",
    "is_session",
    "read_session",
]
