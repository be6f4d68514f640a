"""Imports point one way: from what runs a program to what shows its profile, never back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "syncprobe"

FORBIDDEN = {
    # part: what it may not import, directly or inside a function
    "analysis": (
        "torch",
        "numpy",
        "syncprobe.recording",
        "syncprobe.targets",
        "syncprobe.rendering",
    ),
    "events.py": ("torch", "syncprobe.recording", "syncprobe.analysis"),
    "findings": ("torch", "syncprobe.recording", "syncprobe.targets", "syncprobe.rendering"),
    "importing": ("torch", "syncprobe.recording", "syncprobe.targets", "syncprobe.rendering"),
    "rendering": ("torch", "syncprobe.recording", "syncprobe.targets", "syncprobe.simgpu"),
    "storage.py": ("torch", "syncprobe.recording", "syncprobe.rendering", "pickle"),
    "simgpu": (
        "syncprobe.recording",
        "syncprobe.analysis",
        "syncprobe.targets",
        "syncprobe.rendering",
    ),
    "recording": ("syncprobe.targets", "syncprobe.rendering", "syncprobe.findings"),
}
EVERYWHERE = ("patches", "legacy_marinenav")
"""Named as ``module:attribute`` and resolved on use, so that syncprobe installs alone."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def offends(name: str, forbidden: str) -> bool:
    return name == forbidden or name.startswith(forbidden + ".")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_import_points_the_wrong_way(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0]
    forbidden = [*FORBIDDEN.get(part, ()), *EVERYWHERE]
    if path.name != "__main__.py" and part != "cli":
        forbidden.append("syncprobe.cli")
    found = [(name, wrong) for name in imports(path) for wrong in forbidden if offends(name, wrong)]
    assert not found, f"{path.relative_to(ROOT)} imports {found}"


def test_the_check_sees_an_import_that_points_the_wrong_way(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from syncprobe import recording\n")
    assert any(offends(name, "syncprobe.recording") for name in imports(file))
