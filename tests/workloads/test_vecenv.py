"""Environments by themselves, side by side, and in processes that cannot start or do not live."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_for_library

from syncprobe.cli import main
from syncprobe.measuring.worker_records import Watched, WorkerRecord, merged
from syncprobe.workloads.vecenv import environments, training, vectors
from syncprobe.workloads.vecenv.config import TUNINGS, configured, tuning_named
from syncprobe.workloads.vecenv.vectors import Workers, choose, make_vec
from tests.workloads.fatal_environment import Fatal, Stillborn

SMALL = "n_steps=16,batch_size=16,n_epochs=1,learning_starts=8,net=16x16"


@pytest.mark.parametrize("name", ["marinenav", "navlite"])
def test_environments_pass_both_checkers(name: str) -> None:
    check_env(environments.make(name), skip_render_check=True)
    check_for_library(environments.make(name))


def test_a_map_of_navlite_is_drawn_in_its_order() -> None:
    environment = environments.make("navlite")
    environment.reset(seed=5)
    draw = np.random.default_rng(5)
    assert np.array_equal(environment._position, draw.uniform(5, 15, 2))
    assert np.array_equal(environment._goal, draw.uniform(40, 50, 2))
    assert environment._heading == draw.uniform(-np.pi, np.pi)
    assert np.array_equal(environment._vortices, draw.uniform(15, 40, (4, 2)))


def test_steering_to_the_goal_often_gets_there() -> None:
    arrived = 0
    for seed in range(20):
        environment = environments.make("navlite")
        observation, _ = environment.reset(seed=seed)
        is_over = is_cut_off = False
        while not (is_over or is_cut_off):
            bearing = np.arctan2(observation[1], observation[0])
            turn = 1 if abs(bearing) < 0.05 else 2 if bearing > 0 else 0
            observation, reward, is_over, is_cut_off, _ = environment.step(6 + turn)
        arrived += reward > 50
    assert arrived >= 8


def test_the_time_limit_of_marinenav_is_a_truncation(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = environments.make("marinenav")
    environment.reset(seed=0)
    environment.simulator.episode_timesteps = 1000
    _, _, is_over, is_cut_off, _ = environment.step(12)
    assert (is_over, is_cut_off) == (False, True)


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_where_environments_run_does_not_matter_to_what_is_learnt(algorithm: str) -> None:
    learnt = []
    for kind in ("dummy", "subproc"):
        config = configured(algorithm, "navlite", envs=2, vector=kind, knobs=SMALL)
        made = training.build(config, "cpu")
        made.run(32)
        made.close()
        learnt.append([each.detach().numpy() for each in made.model.policy.parameters()])
    assert all(np.array_equal(*pair) for pair in zip(*learnt, strict=True))


@pytest.mark.parametrize(
    ("kind", "is_accelerated", "envs", "cores", "expected"),
    [
        ("auto", True, 8, 4, "subproc"),
        ("auto", False, 8, 4, "dummy"),
        ("auto", True, 8, 1, "dummy"),
        ("auto", True, 1, 4, "dummy"),
        ("subproc", False, 1, 1, "subproc"),
        ("dummy", True, 8, 4, "dummy"),
    ],
)
def test_the_vector_class_goes_by_device_and_cores(
    kind: str, is_accelerated: bool, envs: int, cores: int, expected: str
) -> None:
    found, reason = choose(kind, is_accelerated=is_accelerated, envs=envs, cores=cores)
    assert found == expected
    assert reason


def _refuse(env_fns: list[Callable[[], Any]]) -> Any:
    raise PermissionError("no more processes")


class _DeadOnReset:
    """Starts, and then does not answer."""

    is_closed = False

    def __init__(self, env_fns: list[Callable[[], Any]]) -> None:
        type(self).is_closed = not env_fns

    def seed(self, seed: int) -> None:
        pass

    def reset(self) -> None:
        raise EOFError

    def close(self) -> None:
        type(self).is_closed = True


def test_environments_run_here_where_no_process_can_start() -> None:
    with pytest.warns(
        RuntimeWarning, match="SubprocVecEnv could not start .*no more processes.*DummyVecEnv"
    ):
        made = make_vec(environments.makers("navlite", 2), "subproc", subproc=_refuse)
    assert (made.used, made.requested) == ("DummyVecEnv", "subproc")
    assert "no more processes" in made.reason
    assert made.env.reset().shape == (2, 16)


def test_what_was_started_is_closed_before_falling_back() -> None:
    with pytest.warns(RuntimeWarning, match="EOFError"):
        made = make_vec(environments.makers("navlite", 2), "subproc", subproc=_DeadOnReset)
    assert made.used == "DummyVecEnv"
    assert _DeadOnReset.is_closed


def test_workers_that_die_at_birth_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    end = Workers.end

    def spied(self: Workers) -> None:
        started.extend(self.processes)
        end(self)

    monkeypatch.setattr(Workers, "end", spied)
    makers = [environments.makers("navlite", 1)[0], Stillborn]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(RuntimeError, match="no sea today"):
            make_vec(makers, "subproc")  # it cannot be made here, either
    assert len(started) >= 2
    assert not any(process.is_alive() for process in started)


def test_a_killed_worker_ends_the_run_with_its_profile_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    processes: list[Any] = []
    made = vectors.make_vec

    def spied(*args: Any, **kwargs: Any) -> Any:
        found = made(*args, **kwargs)
        processes.extend(found.env.processes)
        return found

    def fatal(name: str, count: int, watch: Any) -> list[Any]:
        return [*environments.makers(name, count - 1, watch), Fatal]

    monkeypatch.setattr(training, "make_vec", spied)
    monkeypatch.setattr(training, "makers", fatal)
    path = tmp_path / "profile.json"
    words = ["profile", "vecenv", "--env", "navlite", "--envs", "2", "--vec", "subproc"]
    code = main([*words, "--set", SMALL, "--warmup", "0", "--no-timed", "-o", str(path)])
    shown = capsys.readouterr()
    assert code == 1
    said = " ".join((shown.err + shown.out).split())
    assert "Worker 1 (exit code -9) of 2 ended in the middle of a run" in said
    assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)
    profile = json.loads(path.read_text())
    assert profile["run"]["steps"] == 5
    assert "Worker 1" in profile["run"]["interruption"]


def test_records_of_workers_are_merged() -> None:
    record = WorkerRecord(process=1, steps=10, busy_ns=20_000_000, wall_ns=30_000_000, stacks=[])
    found = merged([record, record], waited_ns=100_000_000)
    assert found is not None
    assert (found.busy_ms, found.wall_ms, found.waited_ms, found.rate) == (4.0, 6.0, 10.0, 200.0)
    assert "records merged" in str(found)
    assert "--vec dummy" in str(found)
    quicker = merged([record, record], waited_ns=50_000_000)
    assert "--vec dummy" not in str(quicker)


def test_workers_sample_themselves() -> None:
    pytest.importorskip("pyinstrument")
    maker = environments.makers("marinenav", 1, _sampled)
    made = make_vec(maker, "subproc")
    try:
        made.env.seed(0)
        made.env.reset()
        for _ in range(30):
            made.env.step(np.array([12]))
        (record,) = made.env.env_method("record")
    finally:
        made.env.close()
    assert record.steps == 30
    assert any("robot.py" in frame for stack, _ in record.stacks for frame in stack)
    at_work = [any("worker_records.py" in frame for frame in stack) for stack, _ in record.stacks]
    assert all(at_work)  # waiting for the next action is no work


def _sampled(environment: Any) -> Watched:
    return Watched(environment, is_sampled=True)


def test_tuning_profiles_have_their_values() -> None:
    tuned = configured("ppo", "navlite", tuning="gpu")
    assert (tuned.n_envs, tuned.batch_size, tuned.n_steps, tuned.n_epochs) == (8, 256, 512, 10)
    assert (tuned.net, tuned.vector) == ((256, 256), "subproc")
    before = configured("dqn", "navlite", tuning="gpu-before")
    assert (before.n_envs, before.batch_size, before.buffer_size) == (4, 64, 10_000)
    after = configured("dqn", "navlite", tuning="gpu")
    assert (after.batch_size, after.net, after.buffer_size) == (128, (256, 256, 256), 50_000)
    assert TUNINGS["none"].values("ppo") == TUNINGS["cpu"].values("ppo")
    assert tuning_named("auto", is_accelerated=True) == "gpu"
    assert tuning_named("auto", is_accelerated=False) == "cpu"


def test_one_knob_at_a_time_can_be_set() -> None:
    config = configured("ppo", "navlite", tuning="gpu", knobs="n_envs=3")
    assert (config.n_envs, config.batch_size) == (3, 256)
