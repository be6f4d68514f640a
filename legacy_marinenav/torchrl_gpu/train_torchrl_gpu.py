"""Train agents through TorchRL: ``python -m legacy_marinenav.torchrl_gpu.train_torchrl_gpu -C config.json``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from legacy_marinenav import command_line
from legacy_marinenav.marinenav_env.envs.torchrl_gpu.marinenav_torchrl_env import (
    MarineNavTorchRLEnv,
)
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.run_config import AGENT_SEED_OFFSET, EVAL_SEED, product, trial_params
from legacy_marinenav.torchrl_gpu.torchrl_trainer import TorchRLTrainer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["main", "params_dashboard", "product", "run_trial", "trial_params"]


def params_dashboard(params: dict[str, Any]) -> None:
    """Print what is going to be trained."""
    command_line.show_dashboard(params, "Training Setup (TorchRL GPU)")


def run_trial(device: str, params: dict[str, Any]) -> None:
    """Train one agent with one set of parameters, writing into a directory of its own."""
    train_env = MarineNavTorchRLEnv(
        seed=params["seed"], schedule=params["training_schedule"], device=device
    )
    eval_env = MarineNavTorchRLEnv(seed=EVAL_SEED, is_eval_env=True, device=device)
    agent = Agent(
        device=device, seed=params["seed"] + AGENT_SEED_OFFSET, agent_type=params["agent_type"]
    )
    if "load_model" in params:
        agent.load_model(params["load_model"], device)
    options = command_line.trainer_options(params)
    trainer = TorchRLTrainer(
        train_env, eval_env, params["eval_schedule"], agent, device=device, **options
    )
    command_line.train_and_save(trainer, params)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script with the given options; returns its exit code."""
    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    parser = command_line.make_parser("Train RL agents through TorchRL", default_device)
    return command_line.run_script(parser, argv, _train)


def _train(
    arguments: argparse.Namespace, config: dict[str, Any], trials: list[dict[str, Any]]
) -> None:
    params_dashboard(config)
    for trial in trials:
        run_trial(arguments.device, trial)


if __name__ == "__main__":
    sys.exit(main())
