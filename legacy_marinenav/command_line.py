"""What the two training scripts share: options, checks, and the files of a trial."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from legacy_marinenav import run_config
from legacy_marinenav.errors import (
    ConfigurationError,
    ReplaySamplingError,
    RunDirectoryExistsError,
    UnknownAgentTypeError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from legacy_marinenav.policy.training_loop import TrainingLoop

COULD_NOT_RUN = 2
DASHBOARD = ("seed", "total_timesteps", "eval_freq", "imitation_learning", "agent_type")


def make_parser(description: str, default_device: str) -> argparse.ArgumentParser:
    """Options that both scripts take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "-C", "--config-file", required=True, help="JSON file with the training configuration"
    )
    parser.add_argument(
        "-D", "--device", default=default_device, help="torch device (default: %(default)s)"
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="take lengths and schedules from config/small.json: a run of about a minute that learns and evaluates",
    )
    parser.add_argument(
        "--total-timesteps", type=int, help="override the configuration's total_timesteps"
    )
    parser.add_argument("--eval-freq", type=int, help="override the configuration's eval_freq")
    parser.add_argument(
        "--learning-starts", type=int, help="first timestep with learning and evaluation (2000)"
    )
    parser.add_argument("--save-dir", help="override the configuration's save_dir")
    return parser


def prepare_trials(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the configuration, apply the options, check everything, and expand it into trials.

    Raises:
        ConfigurationError: Something is wrong; nothing has been written.
        UnknownAgentTypeError: Likewise, for the agent type.
    """
    config = run_config.read_config(arguments.config_file)
    if arguments.small:
        config = run_config.shrink(config)
    for key in ("total_timesteps", "eval_freq", "learning_starts", "save_dir"):
        value = getattr(arguments, key)
        if value is not None:
            config[key] = value
    run_config.check_config(config)
    run_config.check_device(arguments.device)
    return config, run_config.make_trials(config)


def show_dashboard(params: dict[str, Any], title: str) -> None:
    """Print what is going to be trained."""
    print(f"\n====== {title} ======\n")
    for key in DASHBOARD:
        print(f"{key}: ", params[key])
    print("\n")


def train_and_save(trainer: TrainingLoop, params: dict[str, Any]) -> None:
    """Create the directory of a trial, describe the trial in it, and train.

    Raises:
        ConfigurationError: The directory exists or cannot be made, or an evaluation layout is incomplete.
    """
    _check_layouts(trainer)
    directory = run_config.run_directory(params)
    try:
        directory.mkdir(parents=True)
    except FileExistsError as error:
        raise RunDirectoryExistsError(directory) from error
    except OSError as error:
        raise ConfigurationError(
            f"save_dir: {directory} cannot be made ({error.strerror})"
        ) from error
    with (directory / "trial_config.json").open("w") as file:
        json.dump(params, file)
    trainer.save_eval_config(directory)
    if params["total_timesteps"] < trainer.learning_starts:
        print(
            f"Nothing will be learnt: total_timesteps {params['total_timesteps']} is below "
            f"learning_starts {trainer.learning_starts}."
        )
    trainer.learn(params["total_timesteps"], params["eval_freq"], directory)


def trainer_options(params: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a trainer that a configuration decides."""
    options = {"imitation": params["imitation_learning"]}
    if "learning_starts" in params:
        options["learning_starts"] = params["learning_starts"]
    return options


def run_script(
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    train: Callable[[argparse.Namespace, dict[str, Any], list[dict[str, Any]]], None],
) -> int:
    """Parse, prepare, train; anything wrong becomes one line and an exit code.

    Returns:
        0, or 2 if the run could not start, or 1 if learning had to give up.
    """
    arguments = parser.parse_args(argv)
    try:
        train(arguments, *prepare_trials(arguments))
    except (ConfigurationError, UnknownAgentTypeError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except ReplaySamplingError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    return 0


def _check_layouts(trainer: TrainingLoop) -> None:
    """An evaluation episode with fewer robots than asked for could not be set up again."""
    for config in trainer.eval_config:
        wanted, placed = config["env"]["num_robots"], len(config["robots"]["start"])
        if placed < wanted:
            raise ConfigurationError(
                f"eval_schedule: only {placed} of 'num_robots' {wanted} could be placed; use fewer robots or a smaller "
                "'min_start_goal_dis'"
            )
