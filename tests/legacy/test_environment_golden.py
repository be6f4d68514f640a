"""The environment does again, bit for bit, what was recorded of the original."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.legacy import environment_replay as replay
from tests.legacy import golden, kinds

if TYPE_CHECKING:
    from pathlib import Path

    from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3


RULES = (golden.ENVIRONMENT, kinds.ENVIRONMENT)


def by_id(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in golden.cases(kind)]


@pytest.mark.parametrize("case", by_id("env_rollout"))
def test_rollout(case: dict[str, Any], tally: golden.Tally) -> None:
    environment = replay.make_environment(case["env"])
    environment.observation_in_robot_frame = case["observation_in_robot_frame"]
    continuous = case["is_continuous_action"]
    prefixes = (
        [f"ep{index}_" for index in range(case["segments"])] if case["segments"] > 1 else [""]
    )
    with golden.open_arrays(case, tally) as recorded:
        for prefix in prefixes:
            replay.check_episode(recorded, environment, environment.reset(), continuous, prefix)
        recorded.check(prefixes[-1] + "rng_probe", replay.probe_generators(environment))


@pytest.mark.parametrize("case", by_id("current_field"))
def test_current_field(case: dict[str, Any], tally: golden.Tally) -> None:
    environment = replay.make_environment(case["env"])
    environment.reset()
    with golden.open_arrays(case, tally) as recorded:
        for key, value in replay.layout(environment).items():
            recorded.check(key, value)
        points = recorded.given("points")
        assert len(points) == case["n"]
        recorded.check("velocity", [environment.get_velocity(x, y) for x, y in points])


@pytest.mark.parametrize("case", by_id("layouts"))
def test_layouts(case: dict[str, Any], tally: golden.Tally) -> None:
    with golden.open_arrays(case, tally) as recorded:
        for number, arguments in enumerate(case["envs"]):
            environment = replay.make_environment(arguments)
            for reset in range(case["resets"]):
                found = replay.first_observation(environment.reset()) | replay.layout(environment)
                for key, value in found.items():
                    if key in {"reset_collision", "reset_reach"}:
                        continue  # not recorded here
                    recorded.check(f"k{number}_r{reset}_{key}", value)
                assert (
                    arguments["robots_cores_obstacles_after_each_reset"][reset]
                    == [len(environment.robots), len(environment.cores), len(environment.obstacles)]
                )  # fmt: skip
            recorded.check(f"k{number}_rng_probe", environment.rd.random_sample())


@pytest.mark.parametrize("case", by_id("substeps"))
def test_substeps(case: dict[str, Any], tally: golden.Tally) -> None:
    environment = replay.make_environment(case["env"])
    environment.reset()
    with golden.open_arrays(case, tally) as recorded:
        for key, value in replay.layout(environment).items():
            recorded.check(key, value)
        actions = recorded.given("actions")
        trace = [trace_step(environment, row.tolist()) for row in actions]
        recorded.check("trace", trace)


def trace_step(environment: MarineNavEnv3, actions: list[list[float]]) -> list[list[list[float]]]:
    """Each robot's state after each substep of one step."""
    rows: list[list[list[float]]] = [[] for _ in environment.robots]

    def traced(robot: Any, into: list[list[float]]) -> Any:
        def update_state(*arguments: Any) -> None:
            type(robot).update_state(robot, *arguments)
            state = [*replay.pose(robot), *robot.velocity_r, *robot.velocity, *replay.thrust(robot)]
            into.append(state)

        return update_state

    for robot, into in zip(environment.robots, rows, strict=True):
        robot.update_state = traced(robot, into)
    environment.step(actions)
    for robot in environment.robots:
        del robot.update_state
    return rows


@pytest.mark.parametrize("case", by_id("roundtrip"))
def test_roundtrip(case: dict[str, Any], tally: golden.Tally, tmp_path: Path) -> None:
    first_arguments, second_arguments = case["first_env"], case["second_env"]
    first = replay.make_environment(first_arguments)
    for name in ("num_robots", "num_cores", "num_obs", "min_start_goal_dis"):
        setattr(first, name, first_arguments[name])

    arrays, *episodes = case["files"]
    saved, saved_again = (golden.load_json(name, tally) for name in episodes)
    with golden.open_arrays(case | {"file": arrays}, tally) as recorded:
        replay.check_episode(recorded, first, first.reset(), True, "ep0_")
        first.save_episode(tmp_path / "episode.json")
        written = json.loads((tmp_path / "episode.json").read_text())
        golden.assert_json_matches(episodes[0], saved, written, tally, *RULES)
        recorded.check("ep0_rng_probe", replay.probe_generators(first))

        second = replay.make_environment(second_arguments)
        second.num_robots = second_arguments["num_robots_attribute"]
        replay.check_episode(recorded, second, second.reset_with_eval_config(saved), True, "ep1_")
        data = json.loads(json.dumps(second.episode_data()))
        golden.assert_json_matches(episodes[1], saved_again, data, tally, *RULES)
        recorded.check("ep1_rng_probe", replay.probe_generators(second))
