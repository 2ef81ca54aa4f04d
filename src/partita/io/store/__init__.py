"""Label stores: codes in a folder on disk, in chunks of rows with checksums."""

from __future__ import annotations

from partita.io.store._columns import remove_columns
from partita.io.store._creation import require_new_folder
from partita.io.store._label_store import LabelStore
from partita.io.store._label_writer import LabelWriter

__all__ = ["LabelStore", "LabelWriter", "remove_columns", "require_new_folder"]
