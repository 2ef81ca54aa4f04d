"""A lock on a store: one writer, or several that have agreed to share it."""

from __future__ import annotations

import errno
import importlib
import os
import weakref
from pathlib import Path

from partita.exceptions import InvalidStoreError

__all__ = ["WriterLock"]

_FILE = "writer.lock"
_HELD = {errno.EACCES, errno.EAGAIN}
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class WriterLock:
    """Hold a store for writing until `release`, or until the process ends.

    The operating system holds the lock, so a killed process leaves none behind. Systems and disks
    without file locks go without: there a writer still notices that the store is complete.

    Parameters
    ----------
    folder : Path
        The store.
    shared : bool
        Whether other writers that share the store may hold it at the same time.
    """

    def __init__(self, folder: Path, *, shared: bool) -> None:
        self._folder = folder
        descriptor = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT, 0o666)
        self.release = weakref.finalize(self, os.close, descriptor)
        self._descriptor = descriptor
        try:
            self._acquire(shared=shared)
        except BaseException:
            self.release()
            raise

    def exclude_others(self) -> None:
        """Make a shared lock exclusive."""
        self._acquire(shared=False)

    def remove(self) -> None:
        """Release the lock of a complete store and remove its file."""
        (self._folder / _FILE).unlink(missing_ok=True)
        self.release()

    def _acquire(self, *, shared: bool) -> None:
        if os.name == "nt":
            return
        fcntl = importlib.import_module("fcntl")
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return
            if error.errno not in _HELD:
                raise
            raise InvalidStoreError(
                f"Another writer of the store {self._folder} is open, in this process or in "
                "another. Close it, or wait until its process ends. Writers of different columns "
                "or chunks may share a store: open each by `LabelStore.resume(path, shared=True)`."
            ) from error
