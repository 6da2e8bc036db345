"""Properties are tried with the same examples every time, however long each takes."""

from hypothesis import settings

settings.load_profile("ci")
