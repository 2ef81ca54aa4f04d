"""Convert a matplotlib figure to SVG for a page, with real text and the colors of the page."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

from partita.plotting import Display, EmbeddingDisplay, ScanDisplay
from partita.plotting.style import ACCENT, INK, MUTED, QUIET
from partita.reporting._figures import FigureEntry, to_display

__all__ = ["drawings", "inline_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_THEME = {INK: "var(--ink)", MUTED: "var(--muted)", QUIET: "var(--quiet)", ACCENT: "var(--accent)"}
_DPI = 144  # resolution of heat maps
_WIDTH = 3.8  # inches of a drawing: text of 8 points has 10 pixels on a phone of 390
_LARGEST = 1.7  # factor by which a wide page may enlarge a drawing


def drawings(figure: FigureEntry) -> list[str]:
    """Return the SVG elements of a figure: one, or one per panel.

    They are narrow, so that a phone need not make their text small. The card on the page has the
    title, so that the drawing has none.
    """
    elements = []
    for i, display in enumerate(_panels(to_display(figure))):
        display.width = _WIDTH
        display.plot()
        if not isinstance(display, ScanDisplay | EmbeddingDisplay):
            display.ax_.set_title("", loc="left")
        prefix = figure["key"] if i == 0 else f"{figure['key']}-{i}"
        elements.append(inline_svg(display.figure_, prefix, figure["text"] if i == 0 else ""))
    return elements


def _panels(display: Display) -> list[Display]:
    """Divide a display with several axes, so that the page can arrange them."""
    if isinstance(display, EmbeddingDisplay):
        return [EmbeddingDisplay(**vars(display) | {"by": [by]}) for by in display.by]
    if not isinstance(display, ScanDisplay):
        return [display]
    d = display
    panels: list[Display] = [
        ScanDisplay(d.k, {name: curve}, d.null_mean, d.null_std, d.best_k)
        for name, curve in d.curves.items()
    ]
    if d.cdf is not None:
        panels.append(ScanDisplay(d.k, {}, d.null_mean, d.null_std, d.best_k, d.cdf))
    return panels


def inline_svg(figure: Any, prefix: str, text: str) -> str:
    """Return a figure as an SVG element.

    Comments, metadata and style sheets are removed. Ids get a prefix, so that a page can hold
    several figures. The four colors of the library become variables of the page, so that they
    follow its theme.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure; its background becomes transparent.
    prefix : str
        Prefix of the ids.
    text : str
        Description of the figure for screen readers; empty if another drawing has it.
    """
    root = ElementTree.fromstring(_render(figure))
    for parent in list(root.iter()):
        for child in [c for c in parent if _tag(c) in ("metadata", "style")]:
            parent.remove(child)
    for element in root.iter():
        _rewrite_attributes(element, prefix)
    width = re.match(r"[\d.]+", root.get("width", "400"))
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    if text:
        root.set("role", "img")
        root.set("aria-label", text)
    else:
        root.set("aria-hidden", "true")
    largest = _LARGEST * (float(width[0]) if width else 400.0)
    root.set("style", f"max-width: {largest:.0f}px")
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _render(figure: Any) -> bytes:
    import matplotlib

    figure.set_facecolor("none")
    for ax in figure.axes:
        ax.set_facecolor("none")
    buffer = io.BytesIO()
    no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "partita"}):
        # "tight" cuts the empty space that images with a fixed shape leave
        figure.savefig(
            buffer,
            format="svg",
            dpi=_DPI,
            metadata=no_metadata,
            bbox_inches="tight",
            pad_inches=0.02,
        )
    return buffer.getvalue()


def _rewrite_attributes(element: ElementTree.Element, prefix: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{prefix}-{element.get('id')}")
    link = element.get(f"{{{_XLINK}}}href", "")
    if link.startswith("#"):
        element.set(f"{{{_XLINK}}}href", f"#{prefix}-{link[1:]}")
    clip = element.get("clip-path")
    if clip:
        element.set("clip-path", clip.replace("url(#", f"url(#{prefix}-"))
    style = element.get("style")
    if style:
        for color, variable in _THEME.items():
            style = style.replace(color, variable)
        element.set("style", style)


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
