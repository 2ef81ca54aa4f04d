"""The reference of the command line, read from the program. `write_pages.py` writes it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from typer.main import get_command

from partita.cli import app
from partita.cli._app import EXIT_CODES


def row(parameter: Any) -> str:
    """Return a row of the table of options: name, default and description."""
    if parameter.param_type_name == "argument":
        name = (parameter.metavar or parameter.name.upper()).strip("[]")
    else:
        name = ", ".join(f"`{option}`" for option in reversed(parameter.opts))
    default = getattr(parameter.default, "value", parameter.default)
    unset = default is None or default is False
    shown = "required" if parameter.required else "" if unset else f"`{default}`"
    text = (parameter.help or "").replace("|", "\\|")
    if isinstance(parameter.default, Enum):
        text += f" One of {', '.join(f'`{choice.value}`' for choice in type(parameter.default))}."
    return f"| {name} | {shown} | {text} |"


def reference() -> str:
    """Return the exit codes and the options of every command."""
    lines = ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    group: Any = get_command(app)
    for name, command in group.commands.items():
        if command.hidden:
            continue
        lines += ["", f"## partita {name}", "", " ".join((command.help or "").split()), ""]
        lines += ["| option | default | |", "|---|---|---|"]
        lines += [row(p) for p in command.params if p.name != "help"]
    return "\n".join(lines)
