"""The two training scripts: every agent trains through both, and bad input is refused before it starts."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import legacy_marinenav
from legacy_marinenav import run_config, train_RL_agents
from legacy_marinenav.errors import ConfigurationError, RunDirectoryExistsError
from legacy_marinenav.policy import training_loop
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from legacy_marinenav.policy.evaluation_file import load_evaluations
from legacy_marinenav.torchrl_gpu import train_torchrl_gpu
from tests.legacy import replays
from tests.legacy.test_agents_behaviour import MODEL_FILES
from tests.slowness import slow_unless

pytestmark = pytest.mark.filterwarnings(
    "ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning"
)

CONFIGS = Path(legacy_marinenav.__file__).parent / "config"
SCRIPTS = {"trainer": train_RL_agents, "torchrl": train_torchrl_gpu}
FILES = ["eval_configs.json", "evaluations.npz", "trial_config.json"]
# One training step: the prioritised memory refuses a batch when few transitions have been stored after it.
SHORT = ["--small", "--total-timesteps", "103", "--learning-starts", "100"]


@pytest.fixture
def short_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_loop, "MAX_EPISODE_LENGTH", 20)


@pytest.fixture
def config() -> dict[str, Any]:
    """A configuration that is right in every respect."""
    return json.loads((CONFIGS / "small.json").read_text())


def run(script: str, tmp_path: Path, config: Any, *options: str) -> int:
    path = tmp_path / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return SCRIPTS[script].main(["-C", str(path), "--save-dir", str(tmp_path / "runs"), *options])


@pytest.mark.usefixtures("short_episodes")
@pytest.mark.parametrize(
    ("agent_type", "script"),
    slow_unless(
        lambda *run: run in {("AC-IQN", "trainer"), ("DQN", "torchrl")},
        itertools.product(AGENT_KINDS, SCRIPTS),
    ),
)
def test_every_agent_trains_evaluates_and_writes_its_files(
    agent_type: str,
    script: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    config: dict[str, Any],
) -> None:
    shipped = CONFIGS / f"{replays.NAMES[agent_type]}.json"
    config["training_schedule"].update(timesteps=[0, 40], num_robots=[4, 5])
    (tmp_path / "config.json").write_text(
        json.dumps(json.loads(shipped.read_text()) | {key: config[key] for key in run_config.SIZES})
    )
    replays.seed_all({"python": 1, "numpy": 2, "torch": 3})
    options = [
        "-D",
        "cpu",
        "--save-dir",
        str(tmp_path),
        "--total-timesteps",
        "103",
        "--learning-starts",
        "100",
    ]
    assert SCRIPTS[script].main(["-C", str(tmp_path / "config.json"), *options]) == 0

    (directory,) = tmp_path.glob("training_*/seed_0")
    assert sorted(path.name for path in directory.iterdir()) == sorted(
        FILES + MODEL_FILES[agent_type]
    )
    written = json.loads((directory / "trial_config.json").read_text())
    assert (written["seed"], written["agent_type"], written["total_timesteps"]) == (
        0,
        agent_type,
        103,
    )
    assert written["training_time"] in str(directory)
    assert len(json.loads((directory / "eval_configs.json").read_text())) == 1
    assert load_evaluations(directory / "evaluations.npz")["timesteps"] == [100]
    printed = capsys.readouterr().out
    title = "Training Setup" if script == "trainer" else "Training Setup (TorchRL GPU)"
    assert f"====== {title} ======" in printed
    assert {"4", "5"} <= {
        line.split()[-1] for line in printed.splitlines() if "num of robots" in line
    }


@pytest.mark.slow  # processes that import torch
@pytest.mark.parametrize(
    "module",
    ["train_RL_agents", "torchrl_gpu.train_torchrl_gpu"],
)
def test_scripts_run_as_modules(module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", f"legacy_marinenav.{module}", "-C", str(CONFIGS / "dqn.json")]
    options = [*SHORT, "--save-dir", str(tmp_path), "-D", "cpu"]
    finished = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    (directory,) = tmp_path.glob("training_*/seed_0")
    with np.load(directory / "evaluations.npz", allow_pickle=False) as stored:
        assert stored["timesteps"].tolist() == [100]


@pytest.mark.slow  # each process imports torch
@pytest.mark.usefixtures("short_episodes")
def test_trials_of_several_seeds_run_in_processes(tmp_path: Path, config: dict[str, Any]) -> None:
    config |= {"seed": [3, 4], "total_timesteps": 5}
    assert run("trainer", tmp_path, config, "-P", "2") == 0
    assert sorted(path.name for path in tmp_path.glob("runs/*/*")) == ["seed_3", "seed_4"]


@pytest.mark.usefixtures("short_episodes")
def test_training_goes_on_from_a_saved_model(tmp_path: Path, config: dict[str, Any]) -> None:
    model = tmp_path / "model"
    model.mkdir()
    replays.make_agent("DQN").save_latest_model(model)
    config |= {"load_model": str(model), "total_timesteps": 5}
    assert run("trainer", tmp_path, config) == 0


def test_a_run_too_short_to_learn_says_so(
    tmp_path: Path, config: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    del config["learning_starts"]
    assert run("trainer", tmp_path, config, "--total-timesteps", "3") == 0
    assert "total_timesteps 3 is below learning_starts 2000" in capsys.readouterr().out


BAD_CONFIGS = {
    "unknown agent": ({"agent_type": "DQM"}, r"agent_type: 'DQM'.*Rainbow.*Did you mean 'DQN'"),
    "one of several agents": ({"agent_type": ["DQN", "PPO"], "seed": [0, 1]}, "agent_type: 'PPO'"),
    "agent is a number": ({"agent_type": 3}, "agent_type: 3"),
    "missing key": ({"eval_freq": None}, "eval_freq: the key is missing"),
    "unknown key": (
        {"load_modell": "x"},
        "load_modell: there is no such key; allowed: .*load_model",
    ),
    "negative seed": ({"seed": [-1]}, "seed: -1 is not allowed; allowed: whole numbers from 0"),
    "seed is text": ({"seed": ["0"]}, "seed: '0'"),
    "no seed": ({"seed": []}, "seed: the list is empty"),
    "seed too large": ({"seed": 2**32}, "seed: 4294967296"),
    "no timesteps": ({"total_timesteps": 0}, "total_timesteps: 0 .* whole numbers from 1"),
    "fractional timesteps": ({"total_timesteps": 10.5}, "total_timesteps: 10.5"),
    "boolean frequency": ({"eval_freq": True}, "eval_freq: True"),
    "negative start": ({"learning_starts": -5}, "learning_starts: -5"),
    "directory is a number": ({"save_dir": 5}, "save_dir"),
    "imitation": (
        {"imitation_learning": True},
        "imitation_learning: true cannot work.*allowed: false",
    ),
    "imitation is text": ({"imitation_learning": "no"}, "imitation_learning: 'no'"),
    "model not there": ({"load_model": "/no/such/directory"}, "load_model: .*is not a directory"),
    "schedule is a list": ({"training_schedule": []}, "training_schedule"),
    "schedule lacks a key": ({"training_schedule.num_cores": None}, "training_schedule.*num_cores"),
    "schedule too short": ({"training_schedule.num_cores": [0]}, "training_schedule.*num_cores"),
    "negative robots": (
        {"training_schedule.num_robots": [-1, 2]},
        "training_schedule.*num_robots.*-1",
    ),
    "negative episodes": ({"eval_schedule.num_episodes": [-1]}, "eval_schedule.*num_episodes"),
    "no episode": (
        {"eval_schedule.num_episodes": [0]},
        "eval_schedule.*num_episodes.*at least one",
    ),
    "too many robots": (
        {"eval_schedule.num_robots": [40]},
        "eval_schedule: only .* of 'num_robots' 40",
    ),
    "directories collide": ({"seed": [1, 1]}, "seed: several trials would write to"),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_bad_configuration_is_refused_in_one_line_and_leaves_nothing(
    name: str,
    script: str,
    tmp_path: Path,
    config: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    changes, message = BAD_CONFIGS[name]
    for key, value in changes.items():
        *parents, last = key.split(".")
        owner = config[parents[0]] if parents else config
        if value is None:
            del owner[last]
        else:
            owner[last] = value
    options = [] if "save_dir" in changes else ["--save-dir", str(tmp_path / "runs")]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert SCRIPTS[script].main(["-C", str(path), *options]) == 2
    assert_refused(capsys, message)
    assert not (tmp_path / "runs").exists()


def assert_refused(capsys: pytest.CaptureFixture[str], message: str) -> None:
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(message, line), line


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "config-file: .* is not JSON"),
        ("[1]", "must hold a JSON object, not list"),
        ("\x00", "not JSON"),
    ],
)
def test_configuration_that_is_not_json_is_refused(
    script: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, tmp_path, text) == 2
    assert_refused(capsys, message)


@pytest.mark.parametrize("script", SCRIPTS)
def test_missing_configuration_is_refused(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SCRIPTS[script].main(["-C", str(tmp_path / "nowhere.json")]) == 2
    assert_refused(capsys, r"config-file: .*nowhere\.json cannot be read \(No such file")


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("device", ["cuda", "cuda:7", "warp", "meta", ""])
def test_device_that_is_not_there_is_refused(
    script: str,
    device: str,
    tmp_path: Path,
    config: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    if device.startswith("cuda") and torch.cuda.is_available():
        pytest.skip("this machine has the device")
    assert run(script, tmp_path, config, "-D", device) == 2
    assert_refused(capsys, f"device: '{device}' cannot be used here .*allowed: cpu")


def test_no_process_at_all_is_refused(
    tmp_path: Path, config: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("trainer", tmp_path, config, "-P", "0") == 2
    assert_refused(capsys, "num-procs: 0 is not allowed; allowed: whole numbers from 1")


def test_wrong_model_directory_is_refused(
    tmp_path: Path, config: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    replays.make_agent("SAC").save_latest_model(model)
    assert run("trainer", tmp_path, config | {"load_model": str(model)}) == 2
    assert_refused(capsys, "load_model: .*holds no DQN policy: there is no file network_params.pth")


@pytest.mark.parametrize("script", SCRIPTS)
def test_existing_run_directory_is_never_overwritten(
    script: str,
    tmp_path: Path,
    config: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_config.time, "strftime", lambda _format: "now")
    directory = tmp_path / "runs" / "training_now" / "seed_0"
    directory.mkdir(parents=True)
    assert run(script, tmp_path, config) == 2
    assert_refused(capsys, "save_dir: the run directory .* exists")
    assert not list(directory.iterdir())

    trial = config | {"seed": 0, "save_dir": str(tmp_path / "runs"), "training_time": "now"}
    with pytest.raises(RunDirectoryExistsError):
        SCRIPTS[script].run_trial("cpu", trial)


def test_directory_that_cannot_be_made_is_refused(
    tmp_path: Path, config: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").write_text("a file in the way")
    assert run("trainer", tmp_path, config) == 2
    assert_refused(capsys, "save_dir: .* cannot be made")


@pytest.mark.usefixtures("short_episodes")
@pytest.mark.slow  # processes that import torch
def test_giving_up_on_a_batch_ends_the_script_with_a_line(
    tmp_path: Path, config: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    config |= {"agent_type": "Rainbow", "learning_starts": 80, "total_timesteps": 100}
    config["training_schedule"].update(timesteps=[0, 10_000], num_robots=[1, 1])
    assert run("trainer", tmp_path, config) == 1
    assert_refused(
        capsys, "No valid batch in 10000 attempts: 81 transitions are stored for a batch size of 64"
    )


def test_shipped_configurations_are_those_of_the_original() -> None:
    assert {path.stem for path in CONFIGS.glob("*.json")} == {*replays.NAMES.values(), "small"}
    layouts = {
        "num_robots": [3, 4, 5, 5, 5, 5],
        "num_cores": [0] * 6,
        "num_obstacles": [0, 0, 0, 2, 3, 4],
        "min_start_goal_dis": [30, 35, 40, 40, 40, 40],
    }
    for agent_type, name in replays.NAMES.items():
        config = run_config.read_config(CONFIGS / f"{name}.json")
        run_config.check_config(config)
        assert config.pop("save_dir")
        assert config == {
            "seed": [0],
            "total_timesteps": 6_000_000,
            "eval_freq": 60_000,
            "training_schedule": {"timesteps": [i * 1_000_000 for i in range(6)], **layouts},
            "eval_schedule": {"num_episodes": [10] * 6, **layouts},
            "imitation_learning": False,
            "agent_type": agent_type,
        }


def test_lists_are_alternatives_and_dictionaries_combine_them() -> None:
    trials = train_RL_agents.trial_params(
        {"seed": [0, 1], "agent_type": "DQN", "nested": {"a": [1, 2]}}
    )
    assert [(trial["seed"], trial["nested"]["a"]) for trial in trials] == [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
    ]
    assert train_RL_agents.trial_params(0.5) == [0.5]
    assert list(train_RL_agents.product([1, 2], "ab")) == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    with pytest.raises(TypeError):
        train_RL_agents.trial_params(None)


def test_dashboard_shows_what_is_trained(
    capsys: pytest.CaptureFixture[str], config: dict[str, Any]
) -> None:
    train_RL_agents.params_dashboard(config)
    printed = capsys.readouterr().out
    for line in (
        "====== Training Setup ======",
        "seed:  [0]",
        "agent_type:  DQN",
        "imitation_learning:  False",
    ):
        assert line in printed


def test_configuration_errors_are_value_errors() -> None:
    assert issubclass(ConfigurationError, ValueError)
