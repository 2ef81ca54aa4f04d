"""List what is missing before a release; the release workflow runs this with the name of the tag.

python tests/release.py v1.2.3 [ADDRESS]

With the address of the repository, which the workflow knows, two files are written first: the
addresses of `[project.urls]`, and the links of the README, because PyPI shows it without its files.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNPUBLISHED = "not on PyPI yet"  # what the pages say until the first release
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?![a-z]+:|#)([^()\s]+)\)")  # to a file of the repository


def write_urls(address: str, root: Path = ROOT) -> None:
    """Write the addresses of a repository into `[project.urls]`, unless there are some."""
    file = root / "pyproject.toml"
    text = file.read_text(encoding="utf-8")
    if "urls" in tomllib.loads(text)["project"]:
        return
    pages = {
        "Repository": address,
        "Documentation": f"{address}/blob/main/docs/index.md",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    table = "".join(f'{name} = "{page}"\n' for name, page in pages.items())
    start = "[project.scripts]"
    file.write_text(text.replace(start, f"[project.urls]\n{table}\n{start}", 1), encoding="utf-8")


def write_links(address: str, tag: str, root: Path = ROOT) -> None:
    """Make links and pictures of the README lead to the files of a tag in a repository."""

    def absolute(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        form = "raw" if picture else "tree" if (root / target).is_dir() else "blob"
        return f"{picture}[{text}]({address}/{form}/{tag}/{target})"

    file = root / "README.md"
    file.write_text(LINK.sub(absolute, file.read_text(encoding="utf-8")), encoding="utf-8")


def obstacles(tag: str, root: Path = ROOT) -> list[str]:
    """Return one sentence for each reason not to release under this tag."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    fragments = [p for p in (root / "changelog.d").glob("*.md") if p.name != "README.md"]
    links = LINK.findall((root / "README.md").read_text(encoding="utf-8"))
    reasons = []
    if tag != f"v{version}":
        reasons.append(f"The tag is {tag}, the version in pyproject.toml is {version}.")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        reasons.append(f"CHANGELOG.md has no heading `## {version} (year-month-day)`.")
    if fragments:
        reasons.append(f"changelog.d has {len(fragments)} fragments: move them to CHANGELOG.md.")
    if "Repository" not in project.get("urls", {}):
        reasons.append("pyproject.toml has no address `Repository` in [project.urls].")
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    if says := [p.name for p in pages if UNPUBLISHED in p.read_text(encoding="utf-8")]:
        reasons.append(f"{', '.join(says)}: change what says that partita is {UNPUBLISHED}.")
    if links:
        reasons.append(f"README.md has {len(links)} links that PyPI cannot follow: pass ADDRESS.")
    return reasons


if __name__ == "__main__":
    if len(sys.argv) > 2:
        write_urls(sys.argv[2])
        write_links(sys.argv[2], sys.argv[1])
    if reasons := obstacles(sys.argv[1]):
        sys.exit("\n".join(reasons))
