"""Runs a recorded training loop and notes what the recording noted.

Where this machine rounds otherwise than the recording machine, the environment is stepped with the recorded actions
whatever the agent answers, because the two would soon be metres apart. Then everything of the environment is compared
as in its own cases, and the agent's answers, losses and weights within a tolerance.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.policy.agent import Agent
from tests.legacy import environment_replay, golden, kinds, replays
from tests.legacy.following import follow

if TYPE_CHECKING:
    from legacy_marinenav.policy.training_loop import TrainingLoop
    from tests.legacy.kinds import Kinds


class Notes:
    """Observes a training loop from outside, by wrapping methods of its parts on the instances."""

    def __init__(
        self, trainer: TrainingLoop, simulator: Any, to_follow: np.ndarray | None = None
    ) -> None:
        self._trainer = trainer
        self._to_follow = to_follow
        self._simulator = simulator
        self._pending: list[Any] | None = None
        self.steps: list[dict[str, Any]] = []
        self.episodes: list[dict[str, Any]] = []
        self.losses: list[Any] = []
        self.train_timesteps: list[int] = []
        self.soft_update_timesteps: list[int] = []
        self.exploration: list[float] = []
        trainer.evaluation = lambda: None
        trainer.save_evaluation = lambda _directory: None
        trainer.rl_agent.save_latest_model = lambda _directory: None
        self._wrap(simulator, "step", self._step)
        self._wrap(simulator, "reset", self._reset)
        self._wrap(trainer, "linear_eps", self._linear_eps)
        self._wrap(trainer.rl_agent, "train", self._train)
        self._wrap(trainer.rl_agent, "soft_update", self._soft_update)

    def _wrap(self, owner: Any, name: str, around: Any) -> None:
        original = getattr(owner, name)
        setattr(owner, name, lambda *args: around(original, *args))

    def _step(self, original: Any, actions: Any, is_continuous_action: bool) -> Any:
        self.finish_step()
        answers = list(actions)
        if self._to_follow is not None:
            follow(actions, self._to_follow[len(self.steps)])
        result = original(actions, is_continuous_action)
        _, rewards, dones, infos = result
        robots = list(self._simulator.robots)
        missing = [np.nan, np.nan] if is_continuous_action else -1
        self.steps.append(
            {
                "num_robots": len(robots),
                "episode": len(self.episodes) - 1,
                "actions": [missing if answer is None else answer for answer in answers],
                "rewards": rewards,
                "dones": dones,
                "info": [environment_replay.INFO_CODES[info["state"]] for info in infos],
                "pose": [environment_replay.pose(robot) for robot in robots],
            }
        )
        self._pending = robots
        return result

    def finish_step(self) -> None:
        """The loop deactivates robots after the step, so their flags are noted when it goes on."""
        if self._pending is not None:
            self.steps[-1]["deactivated"] = [robot.deactivated for robot in self._pending]
            self._pending = None

    def _reset(self, original: Any) -> Any:
        self.finish_step()
        result = original()
        timestep = {"timestep": self._trainer.current_timestep}
        self.episodes.append(timestep | environment_replay.layout(self._simulator))
        return result

    def _linear_eps(self, original: Any, total_timesteps: int) -> float:
        self.exploration.append(original(total_timesteps))
        return self.exploration[-1]

    def _train(self, original: Any) -> Any:
        self.train_timesteps.append(self._trainer.current_timestep)
        self.losses.append(original())
        return self.losses[-1]

    def _soft_update(self, original: Any) -> None:
        self.soft_update_timesteps.append(self._trainer.current_timestep)
        original()


def run(case: dict[str, Any], make_trainer: Any, tally: golden.Tally, observe: Any = None) -> None:
    """Replay one recorded training run and hold everything it did to the recording.

    Args:
        case: The recorded case.
        make_trainer: Builds a trainer and returns it with the `MarineNavEnv3` it trains on.
        tally: What was compared.
        observe: Called with trainer and simulator before the run, returns more arrays afterwards when called.
    """
    made_of = kinds.of_case(case)
    with golden.open_arrays(case, tally) as recorded:
        to_follow = None if tally.is_exact(made_of) else recorded.given("actions")
        trainer, notes, more = train(case, make_trainer, observe, to_follow)
        probe = replays.probe_generators()
        check_run(recorded, notes, made_of if to_follow is None else kinds.ENVIRONMENT)
        for key, value in more.items():
            recorded.check(key, value, golden.TRAINED_ANSWERS)
        recorded.check("rng_probe", probe)
        check_memory(recorded, trainer.rl_agent)
    parameters = golden.load_json(case["params_file"], tally)[case["params_key"]]
    replays.check_policies(parameters, trainer.rl_agent, case["id"], tally, made_of)


def train(
    case: dict[str, Any], make_trainer: Any, observe: Any, to_follow: np.ndarray | None
) -> tuple[TrainingLoop, Notes, dict[str, Any]]:
    """Seed, build and train as the recording did."""
    seeded_first = case["seeds_set"].startswith("before")
    if seeded_first:
        replays.seed_all(case["seeds"])
    agent_arguments = case["agent"]
    with contextlib.redirect_stdout(io.StringIO()):
        trainer, simulator = make_trainer(case, lambda: Agent(**agent_arguments))
        notes = Notes(trainer, simulator, to_follow)
        more = observe(trainer) if observe else dict
        if not seeded_first:
            replays.seed_all(case["seeds"])
        trainer.learn(**case["learn"], eval_log_path="unused")
    notes.finish_step()
    return trainer, notes, more()


def check_run(recorded: golden.Arrays, notes: Notes, of_steps: Kinds) -> None:
    for key in ("num_robots", "episode", "rewards", "dones", "info", "pose", "deactivated"):
        recorded.check(key, np.array([step[key] for step in notes.steps]), made_of=of_steps)
    answers = np.array([step["actions"] for step in notes.steps])
    recorded.check("actions", answers, golden.TRAINED_ANSWERS)
    recorded.check("eps", notes.exploration)
    recorded.check("losses", np.array(notes.losses), golden.LOSS)
    recorded.check("train_timestep", notes.train_timesteps)
    recorded.check("soft_update_timestep", notes.soft_update_timesteps)
    for number, episode in enumerate(notes.episodes):
        for key, value in episode.items():
            recorded.check(f"ep{number}_{key}", value, made_of=of_steps)


def check_memory(recorded: golden.Arrays, agent: Agent) -> None:
    if agent.kind.is_prioritized:
        recorded.check("memory_index", agent.memory.transitions.index)
        recorded.check("memory_full", agent.memory.transitions.full)
    else:
        recorded.check("memory_size", agent.memory.size())
