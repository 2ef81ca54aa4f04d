"""Write files and folders that appear complete: under another name, flush to disk, rename."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_folder", "atomic_path", "explained", "write_atomically"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR}


def write_atomically(path: str | Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Replace the file at `path` by new content in one step.

    `path` holds either the old content or the new one, also if the process is killed or the
    machine stops. `content` is bytes, or a function that writes them to an open file. If the disk
    is full or the folder cannot be written to, the error says so and the old content remains.
    """
    with atomic_path(path) as partial, open(partial, "wb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a path in the same folder to write a file to; rename it to `path` if nothing fails."""
    path = Path(path)
    partial = _partial(path)
    with explained(path, "What was there before is untouched."):
        try:
            yield partial
            _flush_to_disk(partial)
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        _flush_to_disk(path.parent)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Yield a path in the same folder to make a folder at; rename it to `path` if nothing fails.

    `path` is absent or an empty folder.
    """
    path = Path(path)
    partial = _partial(path)
    shutil.rmtree(partial, ignore_errors=True)  # of a killed process that had the same number
    try:
        yield partial
        if path.is_dir():
            path.rmdir()  # some systems do not rename onto a folder
        os.rename(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _flush_to_disk(path.parent)


def _partial(path: Path) -> Path:
    """Return a hidden name beside `path` that no other thread uses."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.partial")


@contextmanager
def explained(path: Path, state: str) -> Iterator[None]:
    """Add to an error of the disk which file was written, and `state`: what remains of it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL | _REFUSED or error.filename2 is not None:
            raise
        if error.filename is not None and Path(error.filename).parent != path.parent:
            raise  # an error about another file, which it names
        advice = (
            "Free some space or choose another disk"
            if error.errno in _FULL
            else f"Check that the folder {str(path.parent)!r} exists and may be written to"
        )
        raise OSError(
            error.errno, f"Cannot write {str(path)!r}: {error.strerror}. {state} {advice}."
        ) from error


def _flush_to_disk(path: Path) -> None:
    """Force a file, or the entries of a folder, from the operating system's cache to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows does not open folders, and writes their entries itself
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
