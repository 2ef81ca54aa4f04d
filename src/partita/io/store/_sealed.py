"""JSON with its kind, version and checksum."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from partita._json import json_default
from partita.exceptions import InvalidStoreError

__all__ = ["seal", "unseal"]


def seal(kind: str, version: int, content: dict[str, Any]) -> bytes:
    """Return one line of JSON: kind of file, version, checksum of the content, content."""
    body = json.dumps(content, default=json_default)
    head = f'{{"format": {json.dumps(kind)}, "version": {version}, "crc32": {_crc(body)}'
    return f'{head}, "content": {body}}}\n'.encode()


def unseal(data: bytes, kind: str, version: int, path: Path) -> dict[str, Any]:
    """Return the content that `seal` wrote; raise `InvalidStoreError` for anything else."""
    try:
        envelope = json.loads(data)
    except ValueError as error:
        raise InvalidStoreError(
            f"{path} is damaged or is not a {kind}: it does not read as JSON ({error})."
        ) from error
    if not isinstance(envelope, dict) or envelope.get("format") != kind:
        raise InvalidStoreError(f"{path} is not a {kind}.")
    if envelope.get("version") != version:
        raise InvalidStoreError(
            f"{path} is a {kind} of version {envelope.get('version')!r}, this partita reads "
            f"version {version}. Use a newer partita."
        )
    content = envelope.get("content")
    if not isinstance(content, dict) or envelope.get("crc32") != _crc(json.dumps(content)):
        raise InvalidStoreError(
            f"{path} is damaged: its content does not match its checksum. Restore it from a copy."
        )
    return content


def _crc(text: str) -> int:
    return zlib.crc32(text.encode())
