"""The five steps for ``uara``: what each replaces, what it removes, and where its table is."""

from __future__ import annotations

from patches.plan import five_step_plan

_FACTS = {
    "decide": (
        "actions read by the loop, by the reward and by the interference of every pair of stations",
        "A*A + 2A - 1 reads per step of A stations, and the received power computed again",
    ),
    "read": (
        "tensors made of tensors when transitions are saved, and the end test on the device",
        "2A + 1 reads per step",
    ),
    "reuse": (
        "a list of small tensors per agent, with every state stored A times",
        "2A conversions and A state writes per step",
    ),
    "keep": (
        "conversions of single actions and rewards, and of masks that nobody uses",
        "all uploads but two per step",
    ),
    "merge": (
        "networks, gradients and optimizers agent by agent",
        "the factor A in the number of operators",
    ),
}

PLAN = five_step_plan("patches.uara", _FACTS)
