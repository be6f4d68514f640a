"""The TorchRL environment and the policy wrapper apart from the recording."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from tensordict import TensorDict

from legacy_marinenav.marinenav_env.envs.torchrl_gpu import MarineNavTorchRLEnv
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from legacy_marinenav.torchrl_gpu import PolicyWrapper, TorchRLTrainer
from tests.legacy import replays
from tests.legacy.test_trainer_behaviour import EVAL_SCHEDULE

pytestmark = pytest.mark.filterwarnings(
    "ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning"
)


def schedule(num_robots: int, num_obstacles: int = 2) -> dict[str, list[Any]]:
    return {
        "timesteps": [0],
        "num_robots": [num_robots],
        "num_cores": [0],
        "num_obstacles": [num_obstacles],
        "min_start_goal_dis": [25],
    }


def make_environment(num_robots: int = 3, **options: Any) -> MarineNavTorchRLEnv:
    return MarineNavTorchRLEnv(seed=3, schedule=schedule(num_robots), device="cpu", **options)


def test_tensordicts_are_flat_and_follow_the_number_of_robots() -> None:
    environment = make_environment(4)
    assert environment.num_robots == 6
    observation = environment.reset()
    assert environment.num_robots == len(environment.robots) == 4
    assert environment.observation_spec["self_state"].shape == (4, 7)
    assert environment.action_spec.shape == (4, 2)
    assert sorted(observation.keys()) == ["objects_mask", "objects_state", "self_state"]
    assert observation["objects_state"].shape == (4, 5, 5)
    assert observation.batch_size == torch.Size([])
    assert observation.device is None

    observation["action"] = torch.zeros(4, 2)
    result = environment.step(observation)
    assert result["reward"].shape == result["done"].shape == (4, 1)
    assert (result["reward"].dtype, result["done"].dtype) == (torch.float32, torch.bool)
    assert environment.reward_spec.is_in(result["reward"])


def test_deactivated_robots_are_zeros_and_stay_where_they_are() -> None:
    environment = make_environment()
    observation = environment.reset()
    robot = environment.robots[1]
    robot.deactivated = robot.collision = True
    position = robot.x, robot.y
    observation["action"] = torch.ones(3, 2)
    result = environment.step(observation)
    assert not result["self_state"][1].any()
    assert not result["objects_mask"][1].any()
    assert (robot.x, robot.y) == position
    assert result["done"].flatten().tolist()[1]


@pytest.mark.parametrize("action", [0, 7, 24])
def test_actions_of_width_one_are_indices(action: int) -> None:
    stepped = []
    for form in ("tensordict", "simulator"):
        environment = make_environment()
        observation = environment.reset()
        if form == "tensordict":
            observation["action"] = torch.full((3, 1), float(action))
            environment.step(observation)
        else:
            environment._env.step([action] * 3, False)
        stepped.append(
            [
                (robot.x, robot.y, robot.left_thrust, robot.right_thrust)
                for robot in environment.robots
            ]
        )
    assert stepped[0] == stepped[1]


def test_seeding_draws_the_same_map_again() -> None:
    environment = make_environment()
    starts = []
    for _ in range(2):
        environment.set_seed(11)
        environment.reset()
        starts.append(environment.robots[0].start.tolist())
    assert starts[0] == starts[1]


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_wrapper_sets_one_action_per_row_in_the_same_tensordict(agent_type: str) -> None:
    wrapper = PolicyWrapper(replays.make_agent(agent_type), epsilon=0.5)
    assert (wrapper.training_mode, wrapper.action_dim) == (True, 2 if wrapper.is_continuous else 1)
    observation = make_environment().reset()
    for is_training in (True, False):
        wrapper.set_training_mode(is_training)
        wrapper.set_epsilon(0.1)
        assert wrapper(observation) is observation
        assert observation["action"].shape == (3, wrapper.action_dim)
        assert observation["action"].dtype == torch.float32


def test_wrapper_passes_on_observed_objects_only() -> None:
    agent = replays.make_agent("DQN")
    asked: list[Any] = []
    agent.act_dqn = lambda state: asked.append(state) or 5
    wrapper = PolicyWrapper(agent)
    wrapper.set_training_mode(False)
    objects = torch.arange(25.0).reshape(1, 5, 5)
    mask = torch.tensor([[1.0, 1.0, 0.0, 0.0, 0.0]])
    observation = TensorDict(
        {"self_state": torch.ones(1, 7), "objects_state": objects, "objects_mask": mask},
        batch_size=[],
    )
    assert wrapper(observation)["action"].tolist() == [[5.0]]
    assert asked == [([1.0] * 7, [[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]])]


def test_copies_per_step_of_six_greedy_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """69 reads and 24 tensor constructions, as the inventory of the hot path has it."""
    environment = MarineNavTorchRLEnv(seed=0, schedule=schedule(6, num_obstacles=8), device="cpu")
    evaluation = MarineNavTorchRLEnv(seed=1, is_eval_env=True, device="cpu")
    agent = replays.make_agent("AC-IQN")
    trainer = TorchRLTrainer(environment, evaluation, EVAL_SCHEDULE, agent, device="cpu")
    observation = environment.reset()
    assert observation["objects_mask"].any(dim=1).all(), "the count is for robots that see objects"

    calls: Counter[str] = Counter()
    for owner, name in ((torch, "tensor"), (torch.Tensor, "cpu")):
        original = getattr(owner, name)

        def counting(
            *args: Any, _name: str = name, _original: Any = original, **kwargs: Any
        ) -> Any:
            calls[_name] += 1
            return _original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)
    outcome = trainer._step_training(observation, eps=-1.0)
    transitions = [outcome.transition(i) for i in range(6)]
    assert calls == {"cpu": 69, "tensor": 24}
    _, action, reward, _, done = transitions[0]
    assert (action.dtype, type(reward), type(done)) == (np.float32, np.float32, np.bool_)


@pytest.mark.parametrize("agent_type", ["IQN", "DQN", "Rainbow"])
def test_discrete_actions_are_stored_as_python_integers(agent_type: str) -> None:
    agent = replays.make_agent(agent_type)
    evaluation = MarineNavTorchRLEnv(seed=1, is_eval_env=True, device="cpu")
    trainer = TorchRLTrainer(make_environment(), evaluation, EVAL_SCHEDULE, agent, device="cpu")
    outcome = trainer._step_training(trainer.train_env.reset(), eps=0.5)
    assert type(outcome.transition(0)[1]) is int
