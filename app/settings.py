"""The settings that are kept between two starts of the window."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from workbench import paths, stores
from workbench.errors import PongbenchError, why

SIZES = (100, 125, 150, 200)
"""Of text and controls, in percent of what the desktop asks for."""
_FACTOR = "QT_SCALE_FACTOR"


def use_size(percent: int) -> None:
    """Scale the window, before there is an application; a factor of the environment is kept."""
    if percent in SIZES and percent != 100 and _FACTOR not in os.environ:
        os.environ[_FACTOR] = str(percent / 100)


@dataclass
class Settings:
    """The settings. The owner of a field changes it in place; the window writes it."""

    colours: str = "system"
    """system, dark or light."""
    size: int = 100
    """One of `SIZES`."""
    page: str = "Start"
    """The last page shown."""
    geometry: str = ""
    """The window's geometry, in Qt's format, base64."""
    servers: list[str] = field(default_factory=list)
    """Ids ticked last."""
    view: str = "sweep"
    """sweep, time or distribution."""
    percentile: str = "p99"
    clock: str = "latency"
    log_scale: bool = True
    """Of the response time."""
    more: dict[str, Any] = field(default_factory=dict)
    """A page's own settings, by its name; any JSON."""


class SettingsFile:
    """The settings on disk. Several windows may share the file: each writes only the fields it
    changed, the last change of a field counts, and the file is replaced as a whole.
    """

    def __init__(self) -> None:
        self.path = paths.config_dir() / "settings.json"
        self.complaint = ""
        """One sentence if `load` could not read the file."""
        self._known = _flat(Settings())

    def load(self) -> Settings:
        """Return the stored settings, or defaults. A damaged file is moved aside, never deleted."""
        settings, read = Settings(), {}
        try:
            read = _read(self.path)
        except OSError as error:
            self.complaint = f"The settings in {self.path} cannot be read: {why(error)}."
        except (ValueError, RecursionError):
            self.complaint = f"The settings in {self.path} are damaged; defaults are used."
            self.complaint += self._put_aside()
        for each in fields(Settings):
            value = read.get(each.name)
            if type(value) is type(getattr(settings, each.name)):
                setattr(settings, each.name, value)
        self._known = _flat(settings)
        return settings

    def changes(self, settings: Settings) -> dict[str, str]:
        """Return the fields changed since the last read or call, for `write`. Values are JSON."""
        now = _flat(settings)
        changed = {name: text for name, text in now.items() if self._known.get(name) != text}
        self._known = now
        return changed

    def write(self, changes: dict[str, str]) -> None:
        """Write changes into the file. Reads and writes; raises PongbenchError."""
        if not changes:
            return
        try:
            with stores.locked(self.path):
                self._replace(changes)
        except OSError as error:
            raise PongbenchError(
                f"Settings cannot be saved in {self.path.parent}: {why(error)}. They are lost "
                "when this window closes."
            ) from error

    def _replace(self, changes: dict[str, str]) -> None:
        try:
            there = _read(self.path)
        except (ValueError, RecursionError):
            there = {}
        more = there.get("more")
        there["more"] = more = more if isinstance(more, dict) else {}
        for name, text in changes.items():
            first, _, rest = name.partition("/")
            (more if rest else there)[rest or first] = json.loads(text)
        stores.write(self.path, json.dumps(there, indent=2) + "\n")

    def _put_aside(self) -> str:
        aside = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(aside)
        except OSError:
            return ""
        return f" The old file is kept as {aside.name}."


def _flat(settings: Settings) -> dict[str, str]:
    """Return the settings field by field, `more` by its keys, as JSON."""
    flat = asdict(settings)
    flat |= {f"more/{key}": value for key, value in flat.pop("more").items()}
    return {name: json.dumps(value, sort_keys=True) for name, value in flat.items()}


def _read(path: Path) -> dict[str, Any]:
    """Raises OSError, and ValueError or RecursionError for what is damaged."""
    try:
        read = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(read, dict):
        raise ValueError("not a list of settings")
    return read
