"""Whole training runs of the TorchRL pipeline, and its unused current field, against the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from legacy_marinenav.marinenav_env.envs.torchrl_gpu import (
    MarineNavTorchRLEnv,
    compute_vortex_velocity,
)
from legacy_marinenav.torchrl_gpu import TorchRLTrainer
from tests.legacy import golden, replays, trainer_replay
from tests.slowness import slow_unless

if TYPE_CHECKING:
    from collections.abc import Callable

# Actions travel as lists of arrays, which torch converts slowly and says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning"
)

OBSERVATION_KEYS = ("self_state", "objects_state", "objects_mask")


@pytest.mark.parametrize(
    "case",
    slow_unless(
        lambda case: replays.case_id(case) == "torchrl/AC-IQN", golden.cases("torchrl_trainer")
    ),
    ids=replays.case_id,
)
def test_training_run_is_as_recorded(case: dict[str, Any], tally: golden.Tally) -> None:
    trainer_replay.run(case, make_trainer, tally, observe)


def make_trainer(case: dict[str, Any], make_agent: Callable[[], Any]) -> tuple[TorchRLTrainer, Any]:
    train_env = MarineNavTorchRLEnv(**case["train_env"])
    eval_env = MarineNavTorchRLEnv(**case["eval_env"])
    trainer = TorchRLTrainer(
        train_env, eval_env, case["eval_schedule"], make_agent(), **case["trainer"]
    )
    return trainer, train_env._env


def observe(trainer: TorchRLTrainer) -> Callable[[], dict[str, Any]]:
    """Note the tensordicts that the environment is stepped with."""
    original = trainer.train_env.step
    observations: list[Any] = []
    policy_actions: list[np.ndarray] = []

    def step(tensordict: Any) -> Any:
        policy_actions.append(tensordict["action"].numpy())
        observations.append([tensordict[key].numpy() for key in OBSERVATION_KEYS])
        return original(tensordict)

    trainer.train_env.step = step

    def collected() -> dict[str, Any]:
        first = zip(*observations[:3], strict=True)
        noted = {
            f"first3_{key}": np.stack(rows)
            for key, rows in zip(OBSERVATION_KEYS, first, strict=True)
        }
        return {"policy_actions": np.stack(policy_actions), **noted}

    return collected


def test_vectorised_field_is_as_recorded(tally: golden.Tally) -> None:
    (case,) = golden.cases("torchrl_field")
    with golden.open_arrays(case, tally) as recorded:
        names = ("pos", "cores_xy", "clockwise", "Gamma")
        tensors = [torch.from_numpy(recorded.given(name)) for name in names]
        velocity = compute_vortex_velocity(*tensors, float(recorded.given("core_r")), "cpu")
        recorded.check("velocity", velocity, golden.NETWORK)
