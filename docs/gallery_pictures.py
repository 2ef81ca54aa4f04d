"""Save the displays of an example as pictures of its page; sphinx-gallery calls this."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

from partita.plotting import Display


def pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the text that shows every display or figure that is new since the last block."""
    names = block_vars["example_globals"]
    shown = names.setdefault("__shown__", set())
    paths = []
    values = list(names.values())
    values += [entry for value in values if isinstance(value, dict) for entry in value.values()]
    for content in values:
        figure = getattr(content, "figure_", None) if isinstance(content, Display) else content
        if isinstance(figure, Figure) and id(figure) not in shown:
            shown.add(id(figure))
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path, dpi=120)
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Any:
    return pictures
