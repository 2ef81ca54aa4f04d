"""Write the snapshot of the public interface.

python tests/public_api.py            write tests/public_api.txt
python tests/public_api.py --check    exit with 1 and show the difference

One line per public name with its signature, the public methods and properties of classes, and the
commands and options of the command line.
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from typer.main import get_command

sys.path.insert(0, str(Path(__file__).resolve().parent))
from public_names import exported, signature

SNAPSHOT = Path(__file__).with_name("public_api.txt")


def shown(content: Any) -> str:
    """Return the signature without annotations."""
    found = signature(content)
    if found is None:
        return ""
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in found.parameters.items()
        if not name.startswith("_") and name != "self"
    ]
    return str(inspect.Signature(plain))


def members(cls: type) -> Iterator[str]:
    """Yield the public methods and properties that a class adds to its public bases.

    The fields of a dataclass stand in its signature.
    """
    public = {id(content) for _, content in exported()}
    inherited = {name for base in cls.__mro__[1:] if id(base) in public for name in dir(base)}
    own_fields = {field.name for field in fields(cls)} if is_dataclass(cls) else set()
    for name in sorted(dir(cls)):
        if name.startswith("_") or name in inherited or name in own_fields:
            continue
        member = inspect.getattr_static(cls, name, None)
        if isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            function = inspect.unwrap(getattr(cls, name))
            if function.__module__.split(".")[0] == "partita":
                yield f"    .{name}{shown(getattr(cls, name))}"
        elif isinstance(member, property | cached_property):
            yield f"    .{name}"


def command_line() -> Iterator[str]:
    """Yield every command with its arguments and options."""
    from partita.cli import app

    group: Any = get_command(app)
    for name, command in sorted(group.commands.items()):
        yield f"$ partita {name}" + ("  (hidden)" if command.hidden else "")
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.name]
            if parameter.name != "help":
                yield f"    {' '.join(names + list(parameter.secondary_opts))}"


def snapshot() -> str:
    """Return the whole interface as text."""
    lines = []
    for name, content in exported():
        callable_or_class = inspect.isclass(content) or inspect.isroutine(content)
        lines.append(name + (shown(content) if callable_or_class else ""))
        if inspect.isclass(content):
            lines.extend(members(content))
    return "\n".join([*lines, "", *command_line()]) + "\n"


def difference() -> str:
    """Return what differs from the stored snapshot, as a unified diff."""
    stored = SNAPSHOT.read_text(encoding="utf-8") if SNAPSHOT.exists() else ""
    lines = difflib.unified_diff(
        stored.splitlines(), snapshot().splitlines(), "stored", "now", lineterm="", n=1
    )
    return "\n".join(lines)


def main() -> int:
    if "--check" in sys.argv[1:]:
        print(difference())  # noqa: T201
        return int(bool(difference()))
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
