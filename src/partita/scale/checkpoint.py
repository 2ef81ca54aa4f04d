"""`Checkpoint`: the state of a long fit in a folder, so that it can go on after it was killed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import explained, write_atomically

__all__ = ["Checkpoint"]

_FILE = "state.npz"
_FIT = "fit"


class Checkpoint:
    """The state of one fit, written whole or not at all.

    Parameters
    ----------
    path : folder
        Made if it is not there. It belongs to one fit: another one's state is refused.
    every : float
        Seconds between two states, at least.

    Examples
    --------
    >>> import tempfile
    >>> from partita import SEC, Checkpoint
    >>> folder = tempfile.mkdtemp()
    >>> labels = [[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]]
    >>> SEC(2, random_state=0, checkpoint=Checkpoint(folder, every=60)).fit_predict(labels)
    array([0, 0, 1, 1])
    """

    def __init__(self, path: str | Path, *, every: float = 30.0) -> None:
        self.path = Path(path)
        self.every = every
        self._saved = monotonic()

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, every={self.every:g})"

    @property
    def is_due(self) -> bool:
        """Whether the last state is old enough for a new one."""
        return monotonic() - self._saved >= self.every

    def load(self, fit: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
        """The arrays of the last state, None if there is none.

        `fit` says what is being fitted to what; a state of anything else is refused.
        """
        self._saved = monotonic()
        with explained(self.path, "No state has been written."):
            self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / _FILE
        for partial in self.path.glob(f".{_FILE}.*.partial"):  # of a process killed while it wrote
            partial.unlink(missing_ok=True)
        if not file.exists():
            return None
        try:
            # opened here: NumPy does not close a file that it cannot read
            with open(file, "rb") as opened, np.load(opened, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            known = json.loads(str(arrays.pop(_FIT)))
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{str(file)!r} is not the state of a fit, or it is damaged. Delete it to start "
                "from the beginning."
            ) from error
        wanted = json.loads(json.dumps(fit))
        if known != wanted:
            differing = [
                f"{key}={known.get(key)!r} there, {wanted.get(key)!r} here"
                for key in sorted(known.keys() | wanted.keys())
                if known.get(key) != wanted.get(key)
            ]
            raise ValueError(
                f"{str(file)!r} holds the state of another fit: {'; '.join(differing)}. Choose "
                "another folder, or delete the file to start from the beginning."
            )
        return arrays

    def save(self, fit: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the last state by this one."""
        named: dict[str, Any] = {_FIT: np.asarray(json.dumps(fit)), **arrays}
        write_atomically(self.path / _FILE, lambda file: np.savez(file, **named))
        self._saved = monotonic()

    def clear(self) -> None:
        """Drop the state: the fit is done."""
        (self.path / _FILE).unlink(missing_ok=True)


class Stages:
    """What a fit that goes by stages has come to: in memory, and in a checkpoint if there is one.

    Each stage replaces the one before.
    """

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        fit: Mapping[str, Any],
        state: Mapping[str, NDArray[Any]],
    ) -> None:
        self.state = state
        self._checkpoint = checkpoint
        self._fit = fit

    @classmethod
    def of(cls, given: str | Path | Checkpoint | None, fit: Mapping[str, Any]) -> Stages:
        """Begin, or go on from where an earlier call of the same fit was."""
        checkpoint = as_checkpoint(given)
        return cls(checkpoint, fit, {} if checkpoint is None else checkpoint.load(fit) or {})

    def keep(self, **state: NDArray[Any]) -> None:
        self.state = state
        if self._checkpoint is not None and self._checkpoint.is_due:
            self._checkpoint.save(self._fit, state)


def as_checkpoint(given: str | Path | Checkpoint | None) -> Checkpoint | None:
    """A folder as a checkpoint; a checkpoint or None as it is."""
    return Checkpoint(given) if isinstance(given, str | Path) else given
