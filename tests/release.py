"""List what is missing before a release; the release workflow runs this with the name of the tag.

python tests/release.py v1.2.3 [ADDRESS]

With the address of the repository, which the workflow knows, `[project.urls]` is written first.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


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


def obstacles(tag: str, root: Path = ROOT) -> list[str]:
    """Return one sentence for each reason not to release under this tag."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    fragments = [p for p in (root / "changelog.d").glob("*.md") if p.name != "README.md"]
    reasons = []
    if tag != f"v{version}":
        reasons.append(f"The tag is {tag}, the version in pyproject.toml is {version}.")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        reasons.append(f"CHANGELOG.md has no heading `## {version} (year-month-day)`.")
    if fragments:
        reasons.append(f"changelog.d has {len(fragments)} fragments: move them to CHANGELOG.md.")
    if "Repository" not in project.get("urls", {}):
        reasons.append("pyproject.toml has no address `Repository` in [project.urls].")
    return reasons


if __name__ == "__main__":
    if len(sys.argv) > 2:
        write_urls(sys.argv[2])
    if reasons := obstacles(sys.argv[1]):
        sys.exit("\n".join(reasons))
