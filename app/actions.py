"""The registry of actions: their names, their keys, and the methods they call. The shortcuts, the
command palette and the help page are made from it. No Qt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """What a user can do with a key, with the command palette, or with both."""

    text: str
    keys: tuple[str, ...] = ()
    """As Qt writes them; the first is shown. Others, such as "1 … 9", are only for the help."""
    method: str = ""
    """Of the window or of the shown page; empty: the page handles the key."""
    page: str = ""
    """The page to show if the shown one has no such method."""
    icon: str = "arrow-right"

    @property
    def shown_keys(self) -> str:
        return "  ".join(_SIGN.sub(lambda sign: _SIGNS[sign[0]], key) for key in self.keys)

    @property
    def key(self) -> str:
        """Return its key for Qt; empty: it has none, or several for several things."""
        return self.keys[0] if self.keys and " " not in self.keys[0] else ""


_SIGNS = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓", "-": "−"}
_SIGN = re.compile("|".join(_SIGNS))


WINDOW = (
    Action("Find actions, servers, sessions", ("Ctrl+K",), "find", icon="search"),
    Action("Undo", ("Ctrl+Z",), "undo", icon="history"),
    Action("Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), "redo", icon="rotate-cw"),
    Action("Open a session…", ("Ctrl+O",), "open", icon="folder-open"),
    Action("Show or hide the log", ("Ctrl+L",), "show_log", icon="terminal"),
    Action("Reload servers, machines and sessions", ("F5",), "reload", icon="rotate-cw"),
    Action("Quit", ("Ctrl+Q", "Ctrl+W"), "close", icon="x"),
)
"""Actions of the window."""

PAGES = (
    Action("Run the plan or session shown", ("Ctrl+R",), "run_this", icon="play"),
    Action("Search this page", ("Ctrl+F",), "search", "Sessions", "search"),
    Action("Export…", ("Ctrl+E",), "export", icon="share-2"),
    Action("Share with spectators…", ("Ctrl+Shift+S",), "share", icon="monitor"),
    Action("Copy the chart", ("Ctrl+Shift+C",), "copy_chart", icon="copy"),
    Action("CPU profiles: where the time goes", ("Ctrl+P",), "show_profiles", icon="cpu"),
    Action("Stop what is in progress", ("Ctrl+.",), "press_stop", icon="square"),
    Action("Servers: code in the whole window", ("F12",), "fill_window", "Servers", "maximize"),
    Action("Present: charts on the full screen", ("F11",), "present", "Live", "maximize"),
)
"""Actions that each page carries out in its own way, if it can."""

RUN = (
    Action("Pause after this point, or resume", ("Space",), "pause_or_resume", "Live", "pause"),
    Action("Skip this server", ("S",), "skip", "Live", "skip-forward"),
    Action("Stop the run; again: abort", ("Ctrl+.",), "press_stop", "Live", "square"),
)
"""Actions on a run in progress; their keys are those of its page."""

REPLAY = (
    Action("Play or pause", ("Space",), icon="play"),
    Action("Previous point", ("Left",), icon="step-back"),
    Action("Next point", ("Right",), icon="step-forward"),
    Action("Previous server", ("Shift+Left",), icon="skip-back"),
    Action("Next server", ("Shift+Right",), icon="skip-forward"),
    Action("Slower", ("-",), icon="clock"),
    Action("Faster", ("+",), icon="fast-forward"),
    Action("Go to the start", ("Home",), icon="skip-back"),
    Action("Go to the end", ("End",), icon="skip-forward"),
)
CHARTS = (
    Action("Previous server", ("Up",)),
    Action("Next server", ("Down",)),
    Action("Previous or next point", ("Left / Right",)),
    Action("Show or hide a server", ("1 … 9",)),
    Action("Show all servers", ("0",), icon="eye"),
    Action("Zoom at the pointer; over a value axis, zoom that axis", ("Mouse wheel",)),
    Action("Select the part to show; in a zoom, pan", ("Mouse drag",)),
    Action("Select a part of a zoom (also by the right button)", ("Shift + drag",)),
    Action("Zoom in, at the selected point", ("Ctrl++",), icon="search"),
    Action("Zoom out", ("Ctrl+-",), icon="search"),
    Action("Pan", ("Ctrl+Left / Ctrl+Right",)),
    Action("End the zoom (also by a double click)", ("Ctrl+0",), icon="maximize"),
    Action("Rate axis: logarithmic or linear", ("X",), icon="scale"),
    Action("Replies: logarithmic or linear", ("R",), icon="scale"),
    Action("Response time: logarithmic or linear", ("L",), icon="scale"),
    Action("Errors: logarithmic or linear", ("E",), icon="scale"),
    Action("Over time, of the selected point if any; again: back", ("T",), icon="clock"),
    Action("Distribution, of the selected point if any; again: back", ("D",), icon="activity"),
    Action("Next percentile", ("P",), icon="gauge"),
    Action("Show a second percentile as a band", ("B",), icon="layers"),
    Action("Next metric in the bottom chart, if the session has any", ("M",), icon="layers"),
    Action("Values of all servers at one rate", ("V",), icon="list-checks"),
    Action("Note at the selected point, in a replay", ("N",), icon="pencil"),
    Action("Deselect the server (in a presentation: Backspace)", ("Esc",), icon="x"),
    Action("Show the side column in a narrow window", ("F9",), icon="panel-right"),
)

SHOWN_ON = {"Film": (*REPLAY, *CHARTS), "Live": CHARTS, "Compare": CHARTS}
"""The keys of pages that the palette offers while the page is shown."""
