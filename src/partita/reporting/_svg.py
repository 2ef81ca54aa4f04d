"""Convert a matplotlib figure to SVG for a page, with real text and the colors of the page."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

from partita.plotting.style import ACCENT, INK, MUTED, QUIET

__all__ = ["inline_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_THEME = {INK: "var(--ink)", MUTED: "var(--muted)", QUIET: "var(--quiet)", ACCENT: "var(--accent)"}
_DPI = 144  # resolution of heat maps


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
        Description of the figure for screen readers.
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
    root.set("role", "img")
    root.set("aria-label", text)
    root.set("style", f"max-width: {float(width[0]) if width else 400:.0f}pt")
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
        figure.savefig(buffer, format="svg", dpi=_DPI, metadata=no_metadata)
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
