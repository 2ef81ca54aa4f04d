"""Check the built site: no request to another host, no dead link, a page for every public name.

python docs/check_site.py build/docs/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address a browser loads together with the page.
LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
NOT_LOADED = {"author", "canonical", "index", "next", "prev", "search", "license", "help"}


class Page(HTMLParser):
    """Addresses in a page: those that a browser loads, those that a reader can follow, anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)
        self.loaded += style_addresses("".join(re.findall(r"<style.*?</style>", text, re.DOTALL)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        address = values.get(LOADED.get(tag, ""), "")
        if address and not (tag == "link" and set(values.get("rel", "").split()) & NOT_LOADED):
            self.loaded.append(address)


def style_addresses(text: str) -> list[str]:
    """Return the addresses that a style sheet loads."""
    pattern = r"""(?:url\(|@import\s+)\s*["']?([^"')\s;]+)"""
    return [address for address in re.findall(pattern, text) if not address.startswith("data:")]


def is_foreign(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https", "ftp")


def pages_of(site: Path) -> list[Path]:
    """Return the pages; the theme keeps templates with the same ending in _static."""
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


def foreign_requests(site: Path) -> Iterator[str]:
    """Yield pages and style sheets that load something from another host."""
    for path in sorted(pages_of(site)):
        for address in Page(path.read_text(encoding="utf-8")).loaded:
            if is_foreign(address):
                yield f"{path.relative_to(site)} loads {address}"
    for path in sorted(site.rglob("*.css")):
        for address in style_addresses(path.read_text(encoding="utf-8")):
            if is_foreign(address):
                yield f"{path.relative_to(site)} loads {address}"


def dead_links(site: Path) -> Iterator[str]:
    """Yield links and files inside the site that do not exist."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in pages_of(site)}
    for path, page in sorted(pages.items()):
        for address in {*page.links, *page.loaded}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            name = path.relative_to(site.resolve())
            if not target.is_file():
                yield f"{name} leads to {address}, which does not exist"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{name} leads to {address}, which has no such anchor"


def missing_names(site: Path) -> Iterator[str]:
    """Yield public names without a page."""
    import site_pages

    for page in site_pages.reference_pages():
        built = site / page.replace(".rst", ".html")
        if not built.is_file():
            yield f"{page} was not built"


def problems(site: Path) -> list[str]:
    """Return one line per problem."""
    result = [*foreign_requests(site), *dead_links(site), *missing_names(site)]
    if not (site / "searchindex.js").is_file():
        result.append("there is no index for the search")
    return result


if __name__ == "__main__":
    if lines := problems(Path(sys.argv[1])):
        sys.exit("\n".join(lines))
