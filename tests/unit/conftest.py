"""Properties are tested with the same examples every time, however long each takes."""

from hypothesis import settings

settings.load_profile("ci")
