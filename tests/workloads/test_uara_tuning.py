"""Tuning profiles of the user association workload change what is learnt, and say so."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import patches
from patches.uara.plan import PLAN
from syncprobe.cli import main
from syncprobe.workloads.uara import Options, ScenarioConfig, Trainer, seeded_trainer
from syncprobe.workloads.uara.config import tuned

SMALL = Options(nagents=3, nsteps=40)


def trained(tuning: str, steps: str = "none", mode: str = "exact") -> Trainer:
    """A trainer after forty steps, with the batch small enough to learn."""
    with patches.applied(steps, mode, plan=PLAN):
        config = ScenarioConfig(nUsers=12, nSBS=2)
        trainer = seeded_trainer(config, tuned(SMALL, tuning), 0, "cpu")
        for _ in itertools.islice(trainer.run(), 40):
            pass
    return trainer


def weights(trainer: Trainer) -> list[np.ndarray]:
    return [
        parameter.detach().numpy().copy()
        for agent in trainer.agents
        for parameter in agent.policy.parameters()
    ]


def test_profiles_have_their_values() -> None:
    options = tuned(SMALL, "gpu")
    assert (options.batch_size, options.capacity, options.learningrate) == (32, 10_000, 0.001)
    assert (options.nupdate, options.gamma) == (100, 0.95)
    assert (options.eps_max, options.eps_min, options.eps_increment) == (0.95, 0.01, 0.001)
    assert options.has_xavier_weights
    assert options.clips_norm
    assert not tuned(SMALL, "gpu-config").clips_norm
    assert tuned(SMALL, "gpu-agent").batch_size == SMALL.batch_size
    assert tuned(SMALL, "cpu") == SMALL


def test_tuned_agents_begin_uniform_and_learn_within_the_norm() -> None:
    agent = trained("gpu").agents[0]
    fresh = seeded_trainer(ScenarioConfig(nUsers=12, nSBS=2), tuned(SMALL, "gpu"), 0, "cpu")
    assert not fresh.agents[0].policy[0].bias.any()
    norm = torch.nn.utils.get_total_norm([each.grad for each in agent.policy.parameters()])
    assert norm <= 1 + 1e-5


@pytest.mark.parametrize("steps", ["4", "5", "all"])
def test_steps_of_the_plan_keep_every_bit_of_tuned_runs(steps: str) -> None:
    pairs = zip(weights(trained("gpu")), weights(trained("gpu", steps)), strict=True)
    assert all(np.array_equal(*pair) for pair in pairs)


def test_the_first_line_says_that_training_is_changed(capsys: pytest.CaptureFixture[str]) -> None:
    size = ["--users", "12", "--stations", "3", "--steps", "2", "--warmup", "0"]
    assert main(["profile", "uara", *size, "--tuning", "gpu", "--no-timed"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("syncprobe: CHANGES TRAINING BEHAVIOUR (tuning gpu), uara")
    assert main(["profile", "uara", *size, "--tuning", "none", "--no-timed"]) == 0
    assert "CHANGES" not in capsys.readouterr().out
    assert main(["profile", "uara", *size, "--tuning", "gpu-before", "--no-timed"]) == 2
    assert "No tuning profile of uara" in capsys.readouterr().err
