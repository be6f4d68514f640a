"""The training loop of both pipelines apart from the recording."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.marinenav_env.envs.torchrl_gpu import MarineNavTorchRLEnv
from legacy_marinenav.policy import training_loop
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from legacy_marinenav.policy.evaluation import Averages
from legacy_marinenav.policy.evaluation_file import load_evaluations, save_evaluations
from legacy_marinenav.policy.trainer import Trainer
from legacy_marinenav.torchrl_gpu import TorchRLTrainer
from tests.legacy import golden, replays
from tests.slowness import is_in_share, slow_unless

if TYPE_CHECKING:
    from pathlib import Path

# Actions of the TorchRL pipeline travel as lists of arrays, which torch converts slowly and says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning"
)

CHANGING_SCHEDULE = {
    "timesteps": [0, 5, 12],
    "num_robots": [2, 4, 3],
    "num_cores": [0, 1, 0],
    "num_obstacles": [1, 0, 0],
    "min_start_goal_dis": [30, 30, 30],
}
EVAL_SCHEDULE = {
    "num_episodes": [1, 1],
    "num_robots": [2, 1],
    "num_cores": [0, 0],
    "num_obstacles": [0, 1],
    "min_start_goal_dis": [30, 30],
}
PIPELINES = ("trainer", "torchrl")


@pytest.fixture
def short_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """End episodes after seven steps."""
    monkeypatch.setattr(training_loop, "MAX_EPISODE_LENGTH", 6)


def make_trainer(
    pipeline: str, agent: Any, schedule: Any = CHANGING_SCHEDULE, **options: Any
) -> Any:
    if pipeline == "trainer":
        train_env = MarineNavEnv3(seed=1, schedule=schedule)
        return Trainer(
            train_env, MarineNavEnv3(seed=2, is_eval_env=True), EVAL_SCHEDULE, agent, **options
        )
    train_env = MarineNavTorchRLEnv(seed=1, schedule=schedule, device="cpu")
    eval_env = MarineNavTorchRLEnv(seed=2, is_eval_env=True, device="cpu")
    return TorchRLTrainer(train_env, eval_env, EVAL_SCHEDULE, agent, device="cpu", **options)


@pytest.mark.usefixtures("short_episodes")
@pytest.mark.parametrize(
    ("agent_type", "pipeline"),
    slow_unless(
        lambda agent_type, pipeline: is_in_share(agent_type + pipeline, one_in=3),
        itertools.product(AGENT_KINDS, PIPELINES),
    ),
)
def test_every_agent_learns_while_the_number_of_robots_changes(
    agent_type: str, pipeline: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = replays.make_agent(agent_type, BATCH_SIZE=8, BUFFER_SIZE=512)
    trainer = make_trainer(pipeline, agent, learning_starts=24, target_update_interval=8)
    before = replays.summarize(agent, agent.policy_local)
    replays.seed_all({"python": 1, "numpy": 2, "torch": 3})
    trainer.learn(total_timesteps=32, eval_freq=1000, eval_log_path=tmp_path)

    assert trainer.current_timestep == 33
    assert replays.summarize(agent, agent.policy_local) != before
    printed = capsys.readouterr().out
    assert [line.split()[-1] for line in printed.splitlines() if "num of robots" in line][:3] == [
        "2",
        "4",
        "3",
    ]
    assert "======== RL Episode Info ========" in printed
    assert "Robot 3 ep reward: " in printed
    results = load_evaluations(tmp_path / "evaluations.npz")
    assert results["timesteps"] == [24]
    assert [len(episode) for episode in results["actions"][0]] == [2, 1]
    assert [len(robot) for robot in results["actions"][0][0]] == [7, 7]
    replays.make_agent(agent_type, BUFFER_SIZE=64).load_model(tmp_path)


@pytest.mark.parametrize("case", golden.cases("note")[0]["runs"], ids=lambda run: run["agent_type"])
@pytest.mark.usefixtures("short_episodes")
def test_combinations_that_used_to_fail_run(case: dict[str, Any], tmp_path: Path) -> None:
    schedule = {key: [0] for key in CHANGING_SCHEDULE} | {"num_robots": [case["num_robots"]]}
    schedule["min_start_goal_dis"] = [30]
    agent = replays.make_agent(case["agent_type"], BATCH_SIZE=8, BUFFER_SIZE=512)
    trainer = make_trainer("torchrl", agent, schedule, learning_starts=12)
    replays.seed_all({"python": 1, "numpy": 2, "torch": 3})
    trainer.learn(16, 1000, tmp_path)
    assert trainer.train_env.num_robots == case["num_robots"]


@pytest.mark.usefixtures("short_episodes")
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_agent_that_does_not_train_comes_to_an_end(pipeline: str, tmp_path: Path) -> None:
    agent = replays.make_agent("DQN")
    agent.training = False
    trainer = make_trainer(pipeline, agent, learning_starts=5)
    trainer.learn(20, 10, tmp_path)
    assert trainer.current_timestep == 21
    assert agent.memory.size() == 0
    assert not list(tmp_path.iterdir())


def test_learning_follows_its_calendar(tmp_path: Path, short_episodes: None) -> None:
    agent = replays.make_agent("DQN", BATCH_SIZE=4)
    trainer = make_trainer(
        "trainer", agent, UPDATE_EVERY=3, learning_starts=10, target_update_interval=5
    )
    noted: dict[str, list[int]] = {"train": [], "soft_update": [], "evaluation": []}
    for owner, name in ((agent, "train"), (agent, "soft_update"), (trainer, "evaluation")):
        setattr(owner, name, lambda name=name: noted[name].append(trainer.current_timestep))
    trainer.save_evaluation = lambda _directory: None
    trainer.learn(24, 8, tmp_path)
    assert noted == {
        "train": [12, 15, 18, 21, 24],
        "soft_update": [10, 15, 20],
        "evaluation": [10, 16, 24],
    }


def test_exploration_decreases_linearly_then_stays() -> None:
    trainer = make_trainer("trainer", replays.make_agent("DQN"))
    rates = []
    for trainer.current_timestep in (0, 125, 249, 250, 1000):
        rates.append(trainer.linear_eps(1000))
    assert rates == pytest.approx([0.6, 0.325, 0.0522, 0.05, 0.05])


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_imitation_needs_somebody_to_imitate(pipeline: str) -> None:
    with pytest.raises(AssertionError, match="il_agent"):
        make_trainer(pipeline, replays.make_agent("DQN"), imitation=True)


def test_malformed_evaluation_schedule_is_refused() -> None:
    environment = MarineNavEnv3(is_eval_env=True)
    schedule = EVAL_SCHEDULE | {"num_cores": [0]}
    with pytest.raises(ValueError, match="num_cores"):
        Trainer(None, environment, schedule, replays.make_agent("DQN"))


def test_robots_that_end_are_reported_with_their_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = replays.make_agent("DQN")
    trainer = make_trainer("torchrl", agent, learning_starts=1000)
    original = trainer.train_env.step

    def step(tensordict: Any) -> Any:
        result = original(tensordict)
        robots = trainer.train_env.robots
        robots[0].collision = True
        robots[1].reach_goal = trainer.current_timestep >= 2
        return result

    trainer.train_env.step = step
    trainer.learn(3, 1000, tmp_path)
    printed = capsys.readouterr().out
    assert ", deactivated after collision at step 0" in printed
    assert ", deactivated after reaching goal at step 2" in printed


def test_averages_are_over_successes_for_time_and_energy() -> None:
    assert Averages.of([1.0, 3.0], [True, False], [5.0, 9.0], [7.0, 1.0]) == Averages(
        2.0, 0.5, 5.0, 7.0
    )
    assert Averages.of([1.0], [False], [5.0], [7.0]) == Averages(1.0, 0.0, None, None)


@pytest.mark.parametrize("action", [3, [0.25, -0.5]])
def test_evaluation_file_gives_back_nested_lists_without_pickle(
    action: Any, tmp_path: Path
) -> None:
    row = [float(number) for number in range(13)]
    seen, nothing = [[1.0] * 7, [[2.0] * 5, [3.0] * 5]], [[4.0] * 7, []]
    results = {
        "timesteps": [10, 20],
        "rewards": [[1.5, -2.0], [0.25]],
        "successes": [[True, False], [False]],
        "times": [[3.0, 4.0], [5.0]],
        "energies": [[6.0, 7.0], [8.0]],
        "trajectories": [[[[row, row], [row]], [[row]]], [[[row]]]],
        "actions": [[[[action, action], [action]], [[action]]], [[[action]]]],
        "observations": [[[[seen, nothing], [[None, None]]], [[nothing]]], [[[seen]]]],
        "relations": [[[[], []], [[]]], [[[]]]],
    }
    path = tmp_path / "evaluations.npz"
    save_evaluations(path, results)
    assert load_evaluations(path) == results
    with np.load(path, allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in "bif" for name in stored.files)
        np.testing.assert_array_equal(stored["average_times"], [3.0, np.nan])
        np.testing.assert_array_equal(stored["average_rewards"], [-0.25, 0.25])
        np.testing.assert_array_equal(stored["success_rates"], [0.5, 0.0])


def test_evaluations_add_up_in_one_file(tmp_path: Path, short_episodes: None) -> None:
    trainer = make_trainer("trainer", replays.make_agent("SAC"))
    for trainer.current_timestep in (5, 6):
        trainer.evaluation()
        trainer.save_evaluation(tmp_path)
    results = load_evaluations(tmp_path / "evaluations.npz")
    assert results["timesteps"] == [5, 6]
    assert results["rewards"] == trainer.eval_rewards
    assert results["observations"] == trainer.eval_observations
    assert np.array_equal(results["trajectories"][0][0], trainer.eval_trajectories[0][0])
    assert results["actions"] == trainer.eval_actions


def test_stand_in_agents_need_only_what_the_loop_uses(short_episodes: None) -> None:
    agent = SimpleNamespace(agent_type="IQN", GAMMA=0.9, act_iqn=lambda _state: (12, None, None))
    trainer = make_trainer("trainer", agent)
    trainer.evaluation()
    assert trainer.eval_actions[0][0][0] == [12] * 7
