"""With the patch on, the environment does again, bit for bit, what was recorded of the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.legacy import golden
from tests.legacy import test_environment_golden as recorded
from tests.patches.marinenav.test_vector_environment_twins import counted_fallbacks, vectorised

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def fallbacks() -> Iterator[list[str]]:
    with vectorised(), counted_fallbacks() as names:
        yield names


@pytest.mark.parametrize("case", recorded.by_id("env_rollout"))
def test_rollout(case: dict[str, Any], tally: golden.Tally, fallbacks: list[str]) -> None:
    recorded.test_rollout(case, tally)
    assert not fallbacks


@pytest.mark.parametrize("case", recorded.by_id("layouts"))
def test_layouts(case: dict[str, Any], tally: golden.Tally, fallbacks: list[str]) -> None:
    recorded.test_layouts(case, tally)
    assert not fallbacks


@pytest.mark.parametrize("case", recorded.by_id("substeps"))
def test_substeps_are_traced_by_the_legacy_code(
    case: dict[str, Any], tally: golden.Tally, fallbacks: list[str]
) -> None:
    """Whoever replaces a robot's `update_state` gets it called."""
    recorded.test_substeps(case, tally)
    assert set(fallbacks) == {"step"}


@pytest.mark.parametrize("case", recorded.by_id("roundtrip"))
def test_roundtrip(
    case: dict[str, Any], tally: golden.Tally, tmp_path: Path, fallbacks: list[str]
) -> None:
    recorded.test_roundtrip(case, tally, tmp_path)
    assert not fallbacks
