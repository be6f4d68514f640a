"""The recorded training runs and evaluations replay under the patches, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import patches
from tests.legacy import golden, replays, test_torchrl_golden, trainer_replay
from tests.legacy import test_trainer_evaluation_golden as evaluation_golden
from tests.legacy import test_trainer_golden as trainer_golden
from tests.slowness import is_in_share, slow_unless

# Levels without step 5 are held to legacy by shorter runs: they pay for the legacy environment.
LEVELS = [
    *(pytest.param(steps, marks=pytest.mark.slow) for steps in ("5", "1,5", "1-2,5", "1-3,5")),
    "all",
]


@pytest.mark.parametrize("steps", LEVELS)
@pytest.mark.parametrize(
    "case",
    slow_unless(lambda case: is_in_share(replays.case_id(case), one_in=3), golden.cases("trainer")),
    ids=replays.case_id,
)
def test_trainer_replays(case: dict[str, Any], steps: str, tally: golden.Tally) -> None:
    with patches.applied(steps, mode="exact"):
        trainer_replay.run(case, trainer_golden.make_trainer, tally)


@pytest.mark.parametrize("steps", LEVELS)
@pytest.mark.parametrize("case", golden.cases("torchrl_trainer"), ids=replays.case_id)
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning")
def test_torchrl_trainer_replays(case: dict[str, Any], steps: str, tally: golden.Tally) -> None:
    with patches.applied(steps, mode="exact"):
        trainer_replay.run(
            case, test_torchrl_golden.make_trainer, tally, test_torchrl_golden.observe
        )


@pytest.mark.parametrize("steps", LEVELS[::4])
@pytest.mark.parametrize("case", golden.cases("evaluation"), ids=replays.case_id)
def test_evaluation_replays(
    case: dict[str, Any], steps: str, tally: golden.Tally, tmp_path: Path
) -> None:
    with patches.applied(steps, mode="exact"):
        evaluation_golden.test_evaluation_of_untrained_agents_is_as_recorded(case, tally, tmp_path)


@pytest.mark.parametrize("case", golden.cases("evaluation_scripted"), ids=replays.case_id)
def test_scripted_evaluation_replays(
    case: dict[str, Any], tally: golden.Tally, tmp_path: Path
) -> None:
    """An agent that is none of ours is asked as legacy asks it."""
    with patches.applied("all", mode="exact"):
        evaluation_golden.test_evaluation_of_scripted_actions_is_as_recorded(case, tally, tmp_path)
