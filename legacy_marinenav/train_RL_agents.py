"""Train agents on the environment: ``python -m legacy_marinenav.train_RL_agents -C config.json``."""

from __future__ import annotations

import multiprocessing
import sys
from typing import TYPE_CHECKING, Any

from legacy_marinenav import command_line
from legacy_marinenav.errors import ConfigurationError
from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.trainer import Trainer
from legacy_marinenav.run_config import AGENT_SEED_OFFSET, EVAL_SEED, product, trial_params

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["main", "params_dashboard", "product", "run_trial", "trial_params"]


def params_dashboard(params: dict[str, Any]) -> None:
    """Print what is going to be trained."""
    command_line.show_dashboard(params, "Training Setup")


def run_trial(device: str, params: dict[str, Any]) -> None:
    """Train one agent with one set of parameters, writing into a directory of its own."""
    train_env = MarineNavEnv3(seed=params["seed"], schedule=params["training_schedule"])
    eval_env = MarineNavEnv3(seed=EVAL_SEED, is_eval_env=True)
    agent = Agent(
        device=device, seed=params["seed"] + AGENT_SEED_OFFSET, agent_type=params["agent_type"]
    )
    if "load_model" in params:
        agent.load_model(params["load_model"], device)
    options = command_line.trainer_options(params)
    trainer = Trainer(train_env, eval_env, params["eval_schedule"], agent, **options)
    command_line.train_and_save(trainer, params)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script with the given options; returns its exit code."""
    parser = command_line.make_parser("Train RL agents", default_device="cpu")
    parser.add_argument(
        "-P", "--num-procs", type=int, default=1, help="trials at the same time (default: 1)"
    )
    return command_line.run_script(parser, argv, _train)


def _train(
    arguments: argparse.Namespace, config: dict[str, Any], trials: list[dict[str, Any]]
) -> None:
    if arguments.num_procs < 1:
        raise ConfigurationError(
            f"num-procs: {arguments.num_procs} is not allowed; allowed: whole numbers from 1"
        )
    params_dashboard(config)
    if arguments.num_procs == 1:
        for trial in trials:
            run_trial(arguments.device, trial)
        return
    with multiprocessing.Pool(processes=arguments.num_procs) as pool:
        pending = [pool.apply_async(run_trial, (arguments.device, trial)) for trial in trials]
        for result in pending:
            result.get()


if __name__ == "__main__":
    sys.exit(main())
