"""Whole training runs of `Trainer` against the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.policy.trainer import Trainer
from tests.legacy import golden, replays, trainer_replay
from tests.slowness import slow_unless

if TYPE_CHECKING:
    from collections.abc import Callable


QUICK = {"trainer/dqn", "trainer/natural_ac_iqn"}
"""The others take long together."""


@pytest.mark.parametrize(
    "case",
    slow_unless(lambda case: replays.case_id(case) in QUICK, golden.cases("trainer")),
    ids=replays.case_id,
)
def test_training_run_is_as_recorded(case: dict[str, Any], tally: golden.Tally) -> None:
    trainer_replay.run(case, make_trainer, tally)


def make_trainer(
    case: dict[str, Any], make_agent: Callable[[], Any]
) -> tuple[Trainer, MarineNavEnv3]:
    train_env = MarineNavEnv3(**case["train_env"])
    eval_env = MarineNavEnv3(**case["eval_env"])
    trainer = Trainer(train_env, eval_env, case["eval_schedule"], make_agent(), **case["trainer"])
    return trainer, train_env
