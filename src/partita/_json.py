"""Convert values that `json` cannot write."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["json_default"]


def json_default(value: Any) -> Any:
    """Return a NumPy scalar as a Python number, and any other value as text."""
    return value.item() if isinstance(value, np.generic) else str(value)
