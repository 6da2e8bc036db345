"""The registry of actions, from which shortcuts, palette and help are made. No Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """What a user can do with a key, or by the command palette."""

    text: str
    keys: tuple[str, ...] = ()
    """As Qt writes them; the first is shown. Others, such as "1 … 9", are only for the help."""
    method: str = ""
    """Of the window or of the shown page; empty: the page handles the key."""
    page: str = ""
    """The page to show if the shown one has no such method."""

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
    Action("Find actions, servers, sessions", ("Ctrl+K",), "find"),
    Action("Undo", ("Ctrl+Z",), "undo"),
    Action("Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), "redo"),
    Action("Open a session…", ("Ctrl+O",), "open"),
    Action("Show or hide the log", ("Ctrl+L",), "show_log"),
    Action("Reload servers, machines and sessions", ("F5",), "reload"),
    Action("Quit", ("Ctrl+Q", "Ctrl+W"), "close"),
)
"""Actions of the window."""

PAGES = (
    Action("Run the plan or session shown", ("Ctrl+R",), "run_this"),
    Action("Search this page", ("Ctrl+F",), "search", "Sessions"),
    Action("Export…", ("Ctrl+E",), "export"),
    Action("Share with spectators…", ("Ctrl+Shift+S",), "share"),
    Action("Copy the chart", ("Ctrl+Shift+C",), "copy_chart"),
    Action("CPU profiles: where the time goes", ("Ctrl+P",), "show_profiles"),
    Action("Stop what is in progress", ("Ctrl+.",), "press_stop"),
    Action("Present: charts on the full screen", ("F11",), "present", "Live"),
)
"""Actions that each page carries out in its own way, if it can."""

RUN = (
    Action("Pause after this point, or resume", ("Space",), "pause_or_resume", "Live"),
    Action("Skip this server", ("S",), "skip", "Live"),
    Action("Stop the run; again: abort", ("Ctrl+.",), "press_stop", "Live"),
)
"""Actions on a run in progress; their keys are those of its page."""

REPLAY = (
    Action("Play or pause", ("Space",)),
    Action("Previous point", ("Left",)),
    Action("Next point", ("Right",)),
    Action("Previous server", ("Shift+Left",)),
    Action("Next server", ("Shift+Right",)),
    Action("Slower", ("-",)),
    Action("Faster", ("+",)),
    Action("Go to the start", ("Home",)),
    Action("Go to the end", ("End",)),
)
CHARTS = (
    Action("Previous server", ("Up",)),
    Action("Next server", ("Down",)),
    Action("Previous or next point", ("Left / Right",)),
    Action("Show or hide a server", ("1 … 9",)),
    Action("Show all servers", ("0",)),
    Action("Zoom at the pointer; over a value axis, zoom that axis", ("Mouse wheel",)),
    Action("Select the part to show; in a zoom, pan", ("Mouse drag",)),
    Action("Select a part of a zoom (also by the right button)", ("Shift + drag",)),
    Action("Zoom in, at the selected point", ("Ctrl++",)),
    Action("Zoom out", ("Ctrl+-",)),
    Action("Pan", ("Ctrl+Left / Ctrl+Right",)),
    Action("End the zoom (also by a double click)", ("Ctrl+0",)),
    Action("Rate axis: logarithmic or linear", ("X",)),
    Action("Replies: logarithmic or linear", ("R",)),
    Action("Response time: logarithmic or linear", ("L",)),
    Action("Errors: logarithmic or linear", ("E",)),
    Action("Servers as bars, at the selected point if any; again: back", ("G",)),
    Action("Over time, of the selected point if any; again: back", ("T",)),
    Action("Distribution, of the selected point if any; again: back", ("D",)),
    Action("Next percentile", ("P",)),
    Action("Show a second percentile as a band", ("B",)),
    Action("Draw lines beside one another where servers answer all", ("O",)),
    Action("Next metric in the bottom chart, if the session has any", ("M",)),
    Action("Values of all servers at one rate", ("V",)),
    Action("Note at the selected point, in a replay", ("N",)),
    Action("Deselect the server (in a presentation: Backspace)", ("Esc",)),
    Action("Show the side column in a narrow window", ("F9",)),
)

SHOWN_ON = {"Film": (*REPLAY, *CHARTS), "Live": CHARTS, "Compare": CHARTS}
"""The keys of pages that the palette offers while the page is shown."""
