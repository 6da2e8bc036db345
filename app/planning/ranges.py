"""Values from one to another in the form."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.converting import convert
from workbench.plan.model import Range

SPACINGS = [("linear", "equal steps"), ("geometric", "equal ratios")]


def listed(values: Any) -> Any:
    """Return a range as a list, if it is valid; anything else is returned unchanged."""
    if not isinstance(values, dict):
        return values
    try:
        return convert(values, Range).values(0)
    except msgspec.ValidationError:
        return []
