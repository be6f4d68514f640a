"""Parts of the pages that are made from the code.

As a hook of mkdocs it fills in the texts of all findings. Run as a program it brings the tree in
``architecture.md`` up to date; ``tests/test_docs.py`` fails while that is due.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.findings import FAMILIES, all_rules, explain

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
ARCHITECTURE: Final = ROOT / "docs" / "architecture.md"
PACKAGES: Final = ("syncprobe", "patches", "legacy_marinenav")
FINDINGS: Final = "<!-- findings -->"
TREE: Final = re.compile(r"(?<=<!-- tree: begin -->\n).*(?=<!-- tree: end -->)", re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the texts of all rules where a page asks for them."""
    return markdown.replace(FINDINGS, "\n\n".join(_rules()))


def with_tree(page: str) -> str:
    """The page with the tree as it is now: a line per file, in its own words."""
    return TREE.sub(lambda _: "\n".join(_tree()) + "\n", page)


def _rules() -> Iterator[str]:
    family = ""
    for rule in all_rules():
        if rule.id[2] != family:
            family = rule.id[2]
            yield f"## SP{family}xx: {FAMILIES[family]}"
        # The page has one title, and families have theirs.
        yield explain(rule.id).markdown.replace("\n## ", "\n#### ").replace("# ", "### ", 1)


def _tree() -> Iterator[str]:
    for package in PACKAGES:
        folders = sorted({path.parent for path in (ROOT / package).rglob("*.py")})
        for folder in folders:
            yield f"\n### `{folder.relative_to(ROOT)}/`\n"
            yield f"{_first_line(folder / '__init__.py')}\n"
            yield from (
                f"- `{path.name}`: {_first_line(path)}"
                for path in sorted(folder.glob("*.py"))
                if path.name != "__init__.py"
            )


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]


if __name__ == "__main__":
    ARCHITECTURE.write_text(with_tree(ARCHITECTURE.read_text(encoding="utf-8")), encoding="utf-8")
