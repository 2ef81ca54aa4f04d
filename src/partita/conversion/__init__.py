"""Labels from one kind of file to another, in blocks: memory does not grow with the samples."""

from __future__ import annotations

from partita.conversion.convert import Conversion, convert_labels

__all__ = ["Conversion", "convert_labels"]
