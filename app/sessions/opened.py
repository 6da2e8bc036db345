"""Sessions opened from outside the user's folder, remembered for the Start page."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from app.settings import Settings
from workbench import paths
from workbench.sessions.library import Shelved, glance

_KEY = "opened"
_MOST = 12


def remember(settings: Settings, path: Path) -> None:
    """Note that this session was opened now; those in the user's folder are listed anyway."""
    path = path.absolute()
    if path.parent == paths.data_dir() / "sessions":
        return
    others = {str(other): utc for other, utc in opened(settings).items() if other != path}
    latest = sorted(others.items(), key=lambda item: item[1], reverse=True)[: _MOST - 1]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    settings.more[_KEY] = {str(path): now, **dict(latest)}


def opened(settings: Settings) -> dict[Path, str]:
    """Return the paths, each with the time in ISO 8601 at which it was opened last."""
    kept = settings.more.get(_KEY)
    if not isinstance(kept, dict):
        return {}
    return {Path(path): utc for path, utc in kept.items() if isinstance(utc, str)}


def read(opened_utc: dict[Path, str]) -> list[tuple[str, Shelved]]:
    """Return those that are still there, each with the time at which it was opened last."""
    found = ((utc, glance(path)) for path, utc in opened_utc.items())
    return [(utc, session) for utc, session in found if session is not None]
