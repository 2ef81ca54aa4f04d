"""Write the generated tables into README.md, CONTRIBUTING.md and the pages of docs/.

python docs/write_pages.py            write
python docs/write_pages.py --check    exit with 1 and name the pages that are out of date

A generated table stands between the markers `<!-- name:start -->` and `<!-- name:end -->`. The
pages of docs/papers are generated as a whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import api_tables
import command_line
import generators_table
import layers_table
import methods_table
import papers_pages
import scoreboard_tables
import speed_table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.compare._page import comparison  # noqa: E402

TABLES: list[tuple[str, str, Callable[[], str]]] = [
    ("README.md", "methods", methods_table.short_table),
    ("README.md", "speed", speed_table.short_table),
    ("CONTRIBUTING.md", "layers", layers_table.table),
    ("docs/api.md", "names", api_tables.tables),
    ("docs/choosing-k.md", "together", scoreboard_tables.together_table),
    ("docs/choosing-k.md", "rules", scoreboard_tables.rules_table),
    ("docs/choosing-k.md", "feature-rules", scoreboard_tables.feature_rules_table),
    ("docs/choosing-k.md", "shape-rules", scoreboard_tables.shape_rules_table),
    ("docs/choosing-k.md", "shape-noise", scoreboard_tables.shape_noise_table),
    ("docs/choosing-k.md", "default-rules", scoreboard_tables.default_rules_table),
    ("docs/choosing-k.md", "default-noise", scoreboard_tables.default_noise_table),
    ("docs/choosing-k.md", "text-rules", scoreboard_tables.text_rules_table),
    ("docs/choosing-k.md", "real-texts", scoreboard_tables.real_texts_table),
    ("docs/choosing-k.md", "text-noise", scoreboard_tables.text_noise_table),
    ("docs/choosing-k.md", "partition-rules", scoreboard_tables.partition_rules_table),
    ("docs/choosing-k.md", "set-rules", scoreboard_tables.set_rules_table),
    ("docs/choosing-k.md", "label-noise", scoreboard_tables.label_noise_table),
    ("docs/choosing-k.md", "feature-noise", scoreboard_tables.feature_noise_table),
    ("docs/choosing-k.md", "thin-noise", scoreboard_tables.thin_noise_table),
    ("docs/choosing-k.md", "shuffled", scoreboard_tables.shuffled_noise_table),
    ("docs/command-line.md", "reference", command_line.reference),
    ("docs/confidence.md", "calibration", scoreboard_tables.calibration_table),
    ("docs/confidence.md", "calibration-words", scoreboard_tables.calibration_words),
    ("docs/generators.md", "generators", generators_table.means_table),
    ("docs/generators.md", "sets", generators_table.sets_table),
    ("docs/generators.md", "scaling", generators_table.scaling_table),
    ("docs/generators.md", "texts", generators_table.texts_table),
    ("docs/methods.md", "methods", methods_table.full_table),
    ("docs/other-libraries.md", "comparison", comparison),
    ("docs/promises.md", "noise", scoreboard_tables.noise_words),
    ("docs/scale.md", "weibo", speed_table.weibo_table),
    ("docs/speed.md", "speed", speed_table.full_table),
    ("docs/speed.md", "first-fit", speed_table.first_fit_table),
    ("docs/speed.md", "compilation", speed_table.compilation_table),
    ("docs/speed.md", "texts", speed_table.texts_table),
    ("docs/which-method.md", "which", methods_table.choice_table),
    ("docs/which-method.md", "words", scoreboard_tables.words),
    ("docs/which-method.md", "kinds", scoreboard_tables.kinds_table),
    ("docs/which-method.md", "features", scoreboard_tables.features_table),
    ("docs/which-method.md", "large", scoreboard_tables.large_table),
    ("docs/which-method.md", "pools", scoreboard_tables.pools_table),
    ("docs/which-method.md", "against-lwgp", scoreboard_tables.against_lwgp_words),
    ("docs/generators.md", "shapes", scoreboard_tables.shapes_table),
    ("docs/which-method.md", "scanned", scoreboard_tables.scanned_table),
    ("docs/which-method.md", "scanned-words", scoreboard_tables.scanned_words),
]


def pages() -> dict[Path, str]:
    """Return the text of every page with fresh tables."""
    texts: dict[Path, str] = {}
    for page, name, table in TABLES:
        path = ROOT / page
        text = texts.get(path) or path.read_text(encoding="utf-8")
        texts[path] = replace_table(text, name, table())
    return texts | papers_pages.pages()


def read(path: Path) -> str:
    """Return the text of a page, empty if a generated page does not exist yet."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def replace_table(text: str, name: str, table: str) -> str:
    """Return the text with `table` between the markers of `name`."""
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, start_marker, rest = text.partition(start)
    _, end_marker, after = rest.partition(end)
    if not (start_marker and end_marker):
        raise ValueError(f"The page needs the markers {start} and {end}.")
    return f"{before}{start}\n{table}\n{end}{after}"


def main() -> int:
    stale = {path: text for path, text in pages().items() if read(path) != text}
    for path, text in stale.items():
        if "--check" in sys.argv[1:]:
            print(f"{path.relative_to(ROOT)} is out of date: run python docs/write_pages.py")
        else:
            path.write_text(text, encoding="utf-8")
    return int(bool(stale) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
