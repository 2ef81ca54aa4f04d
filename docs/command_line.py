"""Write the reference of the command line, read from the program itself, into its page.

python docs/command_line.py            write
python docs/command_line.py --check    exit with 1 if the page is out of date
"""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Any

from typer.main import get_command

from partita.cli import app
from partita.cli._app import EXIT_CODES

PAGE = Path(__file__).resolve().parent / "command-line.md"
START, END = "<!-- reference:start -->", "<!-- reference:end -->"


def row(parameter: Any) -> str:
    """A line of the table of options: how it is written, its default, what it does."""
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


def filled(text: str) -> str:
    before, _, rest = text.partition(START)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the markers {START} and {END} are not both there")
    return f"{before}{START}\n{reference()}\n{END}{after}"


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    fresh = filled(text)
    if "--check" in sys.argv[1:]:
        if text != fresh:
            print(f"{PAGE.name} is out of date: run python docs/command_line.py", file=sys.stderr)
        return int(text != fresh)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
