"""What JSON can hold of NumPy's values."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["json_default"]


def json_default(value: Any) -> Any:
    """Convert a value that `json` does not know: a NumPy scalar to a number, others to text."""
    return value.item() if isinstance(value, np.generic) else str(value)
