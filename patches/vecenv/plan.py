"""The five steps for ``vecenv``: what each replaces, what it removes, and where its table is."""

from __future__ import annotations

from patches.plan import PatchStep, Plan
from syncprobe.plan_steps import FIVE_STEPS

_FACTS = {
    "decide": (
        "values and log-probabilities read with every action, and sampling that checks its arguments",
        "all reads but one per vector step of PPO",
    ),
    "read": (
        "losses, clip fraction, entropy and divergence read minibatch by minibatch, arguments checked",
        "all reads but one per update of PPO; those of DQN between two log lines",
    ),
    "reuse": (
        "buffers made anew for every rollout, observations converted, truncations asked about singly",
        "a conversion per vector step, and a forward and a read per truncation",
    ),
    "keep": (
        "rollouts and replay on the host, uploaded minibatch by minibatch",
        "six uploads per minibatch of PPO but one per epoch; four of five per update of DQN",
    ),
    "merge": (
        "six gathers per minibatch",
        "all but six gathers per epoch of PPO",
    ),
}

PLAN = Plan(
    tuple(
        PatchStep(
            number=step.number,
            name=step.name,
            title=step.title,
            replaces=_FACTS[step.name][0],
            removes=_FACTS[step.name][1],
            modules=(f"patches.vecenv.step{step.number}_{step.name}.table",),
        )
        for step in FIVE_STEPS
    )
)
