"""The tasks of Locust's users in place of connections."""

from __future__ import annotations

from .generator.users import UserDriver

WorkloadDriver = UserDriver
