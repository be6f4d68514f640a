"""Imports point one way: from what runs a program to what shows its profile, never back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "syncprobe"

ORDER = (
    ("_version", "bootstrap", "clock", "errors", "events"),
    ("conversion", "files", "interrupts", "plan_steps", "registry"),
    ("profiles",),
    ("config", "cuda"),
    ("findings", "simgpu"),
    ("importing", "recording"),
    ("measuring", "workloads"),
    ("targets",),
    ("equivalence",),
    ("comparison",),
    ("budgets", "fixing"),
    ("rendering",),
    ("notebook", "pytest_plugin"),
    ("api",),
    ("__init__",),
    ("cli",),
    ("__main__",),
)
"""Parts of the package; a part may import itself and what stands in a line above its own."""

RANKS = {part: rank for rank, parts in enumerate(ORDER) for part in parts}

WITHOUT = {
    "torch": ("events", "profiles", "findings", "importing", "rendering", "budgets"),
    "numpy": ("events", "profiles", "findings", "importing", "rendering", "budgets"),
    "pickle": tuple(RANKS),
}
"""What must work, and start quickly, with no torch in sight; profiles are data, so nothing unpickles."""

ELSEWHERE = ("patches", "legacy_marinenav")
"""Named as ``module:attribute`` and resolved on use, so that syncprobe installs alone."""

MOST_MODULES = 14


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def parts_imported(names: set[str]) -> set[str]:
    """The parts of the package that imported names belong to."""
    return {
        part if part in RANKS else "__init__"
        for name in names
        if name.split(".")[0] == "syncprobe"
        for part in [(name + ".").split(".")[1]]
    }


def is_from(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_every_part_has_its_place() -> None:
    assert {part_of(path) for path in modules()} == set(RANKS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_import_points_the_wrong_way(path: Path) -> None:
    part, names = part_of(path), imports(path)
    wrong = {other for other in parts_imported(names) - {part} if RANKS[other] >= RANKS[part]}
    assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"
    absent = [package for package, parts in WITHOUT.items() if part in parts]
    found = [name for name in names for each in (*absent, *ELSEWHERE) if is_from(name, each)]
    assert not found, f"{path.relative_to(ROOT)} imports {found}"


def test_the_check_sees_an_import_that_points_the_wrong_way(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from syncprobe import recording\n    import torch.nn\n")
    names = imports(file)
    assert parts_imported(names) == {"recording"}
    assert any(is_from(name, "torch") for name in names)


@pytest.mark.parametrize("package", ["syncprobe", "patches", "legacy_marinenav"])
def test_no_folder_holds_more_than_one_can_overlook(package: str) -> None:
    crowded = {
        str(folder.relative_to(ROOT)): count
        for folder in {path.parent for path in (ROOT / package).rglob("*.py")}
        if (count := sum(file.stem != "__init__" for file in folder.glob("*.py"))) > MOST_MODULES
    }
    assert not crowded
