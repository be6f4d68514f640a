"""Evaluations against the recording: layouts, episode results and histories."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from legacy_marinenav.policy.evaluation import Averages
from legacy_marinenav.policy.trainer import Trainer
from tests.legacy import golden, kinds, replays
from tests.legacy.following import FollowedEvaluation

if TYPE_CHECKING:
    from pathlib import Path

    from tests.legacy.kinds import Kinds


@pytest.mark.slow  # half a minute each, and what follows scripted actions is the same code
@pytest.mark.parametrize("case", golden.cases("evaluation"), ids=replays.case_id)
def test_evaluation_of_untrained_agents_is_as_recorded(
    case: dict[str, Any], tally: golden.Tally, tmp_path: Path
) -> None:
    train_env = MarineNavEnv3(**case["train_env"])
    trainer = make_trainer(case, train_env, Agent(**case["agent"]))
    check_configs(trainer, case, tally, tmp_path)
    made_of = kinds.of_case(case)
    with golden.open_arrays(case, tally) as recorded:
        followed = None if tally.is_exact(made_of) else follow_recording(trainer, recorded)
        replays.seed_all(case["seeds"])
        trainer.evaluation()
        recorded.check("rng_probe", replays.probe_generators())
        check_results(recorded, trainer, made_of if followed is None else kinds.ENVIRONMENT)
        for number, answers in enumerate(followed.answers if followed else ()):
            check_actions(recorded, f"ep{number}_actions", answers)


@pytest.mark.slow  # evaluations are replayed every day with patches: tests/patches/marinenav/test_golden_replays.py
@pytest.mark.parametrize("case", golden.cases("evaluation_scripted"), ids=replays.case_id)
def test_evaluation_of_scripted_actions_is_as_recorded(
    case: dict[str, Any], tally: golden.Tally, tmp_path: Path
) -> None:
    with golden.open_arrays(case, tally) as recorded:
        answers = iter(recorded.given("call_actions").tolist())
        agent = SimpleNamespace(agent_type=case["agent_type"], GAMMA=case["gamma"])
        setattr(agent, AGENT_KINDS[case["agent_type"]].act_method, lambda _state: next(answers))
        trainer = make_trainer(case, None, agent)
        check_configs(trainer, case, tally, tmp_path)
        trainer.evaluation()
        assert next(answers, None) is None, "the policy was asked too seldom"
        check_results(recorded, trainer, kinds.ENVIRONMENT)


def follow_recording(trainer: Trainer, recorded: golden.Arrays) -> FollowedEvaluation:
    """The episodes end metres apart if the policy rounds otherwise, so they follow the recorded actions."""
    episodes = range(len(trainer.eval_config))
    actions = [recorded.given(f"ep{number}_actions") for number in episodes]
    return FollowedEvaluation(trainer.eval_env, actions)


def make_trainer(case: dict[str, Any], train_env: Any, agent: Any) -> Trainer:
    return Trainer(train_env, MarineNavEnv3(**case["eval_env"]), case["eval_schedule"], agent)


def check_configs(
    trainer: Trainer, case: dict[str, Any], tally: golden.Tally, directory: Path
) -> None:
    trainer.save_eval_config(directory)
    written = json.loads((directory / "eval_configs.json").read_text())
    stored = golden.load_json(case["configs_file"], tally)
    golden.assert_json_matches(
        case["configs_file"], stored, written, tally, golden.ENVIRONMENT, kinds.ENVIRONMENT
    )


def check_results(recorded: golden.Arrays, trainer: Trainer, made_of: Kinds) -> None:
    episodes = {
        "episode_rewards": trainer.eval_rewards[-1],
        "episode_successes": trainer.eval_successes[-1],
        "episode_times": trainer.eval_times[-1],
        "episode_energies": trainer.eval_energies[-1],
    }
    averages = Averages.of(*episodes.values())
    summary = {
        "avg_reward": averages.reward,
        "success_rate": averages.success_rate,
        "avg_time": np.nan if averages.time is None else averages.time,
        "avg_energy": np.nan if averages.energy is None else averages.energy,
        "eval_timestep": trainer.eval_timesteps[-1],
    }
    for key, value in {**episodes, **summary}.items():
        recorded.check(key, value, made_of=made_of)
    for number in range(len(trainer.eval_config)):
        check_histories(recorded, trainer, number, made_of)


def check_histories(recorded: golden.Arrays, trainer: Trainer, number: int, made_of: Kinds) -> None:
    actions = trainer.eval_actions[-1][number]
    trajectories = trainer.eval_trajectories[-1][number]
    observations = trainer.eval_observations[-1][number]
    prefix = f"ep{number}"
    recorded.check(f"{prefix}_length", [len(history) for history in actions])
    recorded.check(
        f"{prefix}_first_self", [history[0][0] for history in observations], made_of=made_of
    )
    rows = recorded.given(f"{prefix}_traj_rows")
    longest = int(rows.max()) + 1
    padded = np.stack([pad(history, longest, np.nan) for history in trajectories])
    recorded.check(f"{prefix}_trajectory", padded[:, rows], made_of=made_of)
    check_actions(recorded, f"{prefix}_actions", actions, made_of)
    assert trainer.eval_relations[-1][number] == [[] for _ in actions]


def check_actions(
    recorded: golden.Arrays, key: str, actions: list[list[Any]], made_of: Kinds | None = None
) -> None:
    expected = recorded.given(key)
    filling = np.nan if expected.dtype.kind == "f" else -1
    padded = np.stack([pad(history, expected.shape[1], filling) for history in actions])
    recorded.check(key, padded, golden.ANSWERS, made_of)


def pad(history: list[Any], length: int, filling: float) -> np.ndarray:
    values = np.array(history)
    missing = [(0, length - len(values)), *[(0, 0)] * (values.ndim - 1)]
    return np.pad(values, missing, constant_values=filling)
