"""Runs of the packing workload as arrays, patched or not."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import torch

import patches
from patches.packing.plan import PLAN
from syncprobe.workloads.packing import PackingOptions, seeded_trainer

SMALL: dict[str, Any] = {
    "resolution": 32,
    "orientation_step": math.pi,
    "num_objects": 5,
    "max_steps": 5,
    "episodes": 2,
    "batch_size": 4,
    "updates": 2,
    "epsilon": 0.5,
}
WAYS: dict[str, dict[str, Any]] = {
    "worker": {"phase": "worker"},
    "joint": {"phase": "joint"},
    "full": {"phase": "worker", "side": 0.12, "num_objects": 12, "max_steps": 12, "episodes": 3},
    "few memories": {"phase": "worker", "replay_size": 7},
    "turned": {"phase": "joint", "orientation_step": math.pi / 2, "episodes": 1, "epsilon": 0.3},
}
"""Each network alone and both, boxes that fill up before all is packed, memories that do, and all 64 triples of angles."""


def run(way: str, steps: tuple[int, ...] = (), mode: str = "fast", seed: int = 7) -> dict[str, Any]:
    """Everything that a run does."""
    with patches.applied(steps, mode, plan=PLAN):
        trainer = seeded_trainer(PackingOptions(**{**SMALL, **WAYS[way]}), seed, "cpu")
        records = list(trainer.run())
        found = {
            "placements": [
                [each.episode, each.placement.number, each.placement.orientation, *each.placed]
                for each in records
            ],
            "rewards": [float(each.reward) for each in records],
            "ahead": [float(each.ahead) for each in records],
            "heights": trainer.box.heights.numpy(),
            "losses": [loss for each in trainer.log for part in each.losses for loss in part],
            "log": [[each.reward, each.packed, *each.metrics] for each in trainer.log],
            "next draws": [
                trainer.generator.random(),
                np.random.rand(),
                random.random(),
                torch.rand(1, dtype=torch.float64).item(),
            ],
        }
        learners = {"worker": trainer.worker_learner, "manager": trainer.manager_learner}
        for name, learner in learners.items():
            if len(learner):
                columns = learner.columns(np.arange(len(learner)))
                found |= {f"{name} {column}": array for column, array in columns.items()}
            for part, tensor in learner.network.state_dict().items():
                found[f"{name} {part}"] = tensor.numpy().copy()
    return {name: np.array(value) for name, value in found.items()}


def unequal(expected: dict[str, Any], found: dict[str, Any]) -> set[str]:
    """Names of what came out otherwise, in one bit or more."""
    assert expected.keys() == found.keys()
    return {name for name, array in expected.items() if not np.array_equal(array, found[name])}
