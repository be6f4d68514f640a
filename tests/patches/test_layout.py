"""The patches stay sorted: blocks know no program, and no step leans on another."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncprobe.plan_steps import FIVE_STEPS
from tests.test_architecture import imports, is_from

PATCHES = Path(__file__).parents[2] / "patches"
PROGRAMS = ("marinenav", "uara", "packing", "vecenv")
STEPS = tuple(f"step{step.number}_{step.name}" for step in FIVE_STEPS)


def imported_by(folder: Path) -> dict[Path, set[str]]:
    found = {path: imports(path) for path in sorted(folder.rglob("*.py"))}
    assert found, f"there is nothing in {folder}"
    return found


def wrong(folder: Path, *forbidden: str) -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(PATCHES)), name)
        for path, names in imported_by(folder).items()
        for name in names
        if any(is_from(name, other) for other in forbidden)
    ]


def test_blocks_know_no_program() -> None:
    programs = [f"patches.{program}" for program in PROGRAMS]
    assert not wrong(PATCHES / "blocks", "legacy_marinenav", "syncprobe.workloads", *programs)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("step", STEPS)
def test_no_step_imports_another(step: str, program: str) -> None:
    others = [f"patches.{program}.{other}" for other in STEPS if other != step]
    assert not wrong(PATCHES / program / step, *others)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_steps_share_imports_no_step(program: str) -> None:
    shared = set((PATCHES / program).glob("*.py"))
    steps = [f"patches.{program}.{step}" for step in STEPS]
    found = wrong(PATCHES / program, *steps)
    assert not [name for name, _ in found if PATCHES / name in shared]
