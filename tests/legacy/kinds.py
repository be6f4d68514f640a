"""Which kinds of operation a golden case is made of; where all of them round alike, it is compared bit for bit."""

from __future__ import annotations

from typing import Any

from tests.legacy.fingerprint import Kind

Kinds = frozenset[Kind]

NOTHING: Kinds = frozenset()
"""Only recorded to start from."""
ENVIRONMENT: Kinds = frozenset({Kind.PRODUCTS, Kind.INVERSE, Kind.FUNCTIONS})
WEIGHTS: Kinds = frozenset({Kind.UNIFORM})
"""What layers start from: draws that are scaled to a range."""
LAYERS: Kinds = WEIGHTS | {Kind.LINEAR_ROW, Kind.LINEAR_ROWS, Kind.SUMS}
LEARNING: Kinds = frozenset({Kind.GRADIENTS, Kind.SQRT})
"""What a step of Adam adds to the networks."""
NOISE: Kinds = frozenset({Kind.NORMAL, Kind.SQRT})
"""What noisy layers scale their noise with."""
NETWORKS: dict[str, Kinds] = {
    "AC-IQN": LAYERS | {Kind.ATAN, Kind.COS},
    "IQN": LAYERS | {Kind.COS},
    "DDPG": LAYERS | {Kind.ATAN},
    "DQN": LAYERS,
    "SAC": LAYERS | {Kind.ATAN, Kind.EXP, Kind.LOG, Kind.NORMAL},
    "Rainbow": LAYERS | {Kind.SOFTMAX} | NOISE,
}


USER_ASSOCIATION: dict[str, Kinds] = {
    "init_param_sums": WEIGHTS,
    **dict.fromkeys(
        ("loss", "final_policy_sums", "final_target_sums", "final_policy_agent0"),
        LAYERS | LEARNING,
    ),
}
"""What the arrays of a run of ``uara`` are made of, beside numpy's functions."""


BESIDE_NETWORKS: dict[str, Kinds] = {
    "env_rollout": ENVIRONMENT,
    "current_field": ENVIRONMENT,
    "layouts": ENVIRONMENT,
    "substeps": ENVIRONMENT,
    "roundtrip": ENVIRONMENT,
    "evaluation_scripted": ENVIRONMENT,
    "evaluation": ENVIRONMENT,
    "trainer": ENVIRONMENT | LEARNING,
    "torchrl_trainer": ENVIRONMENT | LEARNING,
    "train": LEARNING,
    "forward": NOTHING,
    "act": NOTHING,
    "torchrl_field": frozenset({Kind.SUMS}),
    "net_inputs": NOTHING,
    "transitions": NOTHING,
}
"""What the cases of each sort are made of, beside the networks of the agent that they build."""


def of_case(case: dict[str, Any]) -> Kinds:
    """The kinds of operation that lead to the results of a case of the manifest."""
    agent = case.get("constructor") or case.get("agent") or {}
    networks = NETWORKS[agent["agent_type"]] if agent else NOTHING
    return BESIDE_NETWORKS[case["kind"]] | networks


def initial_weights(agent_type: str) -> Kinds:
    """Weights are drawn uniformly, and noisy layers draw noise as well."""
    return WEIGHTS | NOISE if agent_type == "Rainbow" else WEIGHTS
