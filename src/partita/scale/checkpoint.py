"""`Checkpoint`: saves the state of a long fit, so that an interrupted fit can continue."""

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
    """Saved state of one fit, from which the same call continues after an interruption.

    A state is written completely or not at all.

    Parameters
    ----------
    path : str or Path
        Folder of the state; it is created if it does not exist. Use one folder per fit: the state
        of another fit is refused.
    every : float, default=30.0
        Smallest number of seconds between two saved states.

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
        """Whether the last saved state is older than `every` seconds."""
        return monotonic() - self._saved >= self.every

    def load(self, fit: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of the saved state, None if there is none.

        `fit` identifies method, parameters and data. A state with another identity is refused.
        """
        self._saved = monotonic()
        with explained(self.path, "No state has been written."):
            self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / _FILE
        for partial in self.path.glob(f".{_FILE}.*.partial"):  # left by a process that was killed
            partial.unlink(missing_ok=True)
        if not file.exists():
            return None
        try:
            # opened here: NumPy does not close a file that it cannot read
            with open(file, "rb") as opened, np.load(opened, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            saved = json.loads(str(arrays.pop(_FIT)))
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{str(file)!r} is not the state of a fit, or it is damaged. Delete it to start "
                "from the beginning."
            ) from error
        current = json.loads(json.dumps(fit))
        if saved != current:
            differences = [
                f"{key}={saved.get(key)!r} there, {current.get(key)!r} here"
                for key in sorted(saved.keys() | current.keys())
                if saved.get(key) != current.get(key)
            ]
            raise ValueError(
                f"{str(file)!r} holds the state of another fit: {'; '.join(differences)}. Choose "
                "another folder, or delete the file to start from the beginning."
            )
        return arrays

    def save(self, fit: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the saved state."""
        named: dict[str, Any] = {_FIT: np.asarray(json.dumps(fit)), **arrays}
        write_atomically(self.path / _FILE, lambda file: np.savez(file, **named))
        self._saved = monotonic()

    def clear(self) -> None:
        """Delete the saved state, after the fit has ended."""
        (self.path / _FILE).unlink(missing_ok=True)


class Stages:
    """Result of the last finished stage of a fit, saved in a checkpoint if there is one.

    Attributes
    ----------
    state : mapping
        Arrays of the last finished stage, by name; empty at the beginning.
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
    def load(cls, target: str | Path | Checkpoint | None, fit: Mapping[str, Any]) -> Stages:
        """Return the saved state of the same fit, or an empty one."""
        checkpoint = as_checkpoint(target)
        return cls(checkpoint, fit, {} if checkpoint is None else checkpoint.load(fit) or {})

    def finish(self, **state: NDArray[Any]) -> None:
        """Replace the state by that of a finished stage; save it if the last saved one is old."""
        self.state = state
        if self._checkpoint is not None and self._checkpoint.is_due:
            self._checkpoint.save(self._fit, state)


def as_checkpoint(target: str | Path | Checkpoint | None) -> Checkpoint | None:
    """Return a checkpoint in a folder; return a checkpoint or None unchanged."""
    return Checkpoint(target) if isinstance(target, str | Path) else target
