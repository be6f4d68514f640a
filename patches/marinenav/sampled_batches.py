"""Batches for the legacy updates, made of rows instead of nested lists.

Replaces: policy.updates.actor_critic, sac and value_based: sample_continuous, sample_discrete
Removes:  nine conversions and uploads per batch (one upload instead; of indices alone with device replay)
Keeps:    the drawn transitions, their order, shapes and dtypes, and that a batch without objects has none
"""

from __future__ import annotations

from typing import Any

from legacy_marinenav.policy.updates import batch as legacy
from patches.marinenav.agents import notes_of
from patches.marinenav.batches import UpdateInputs, draw_inputs
from patches.marinenav.guards import samples_as_legacy
from patches.marinenav.observations import as_tensors
from patches.marinenav.rows import ACTION, STATE
from patches.replacement import Replacement

_legacy_continuous = legacy.sample_continuous
_legacy_discrete = legacy.sample_discrete


def _sample_continuous(agent: Any) -> Any:
    notes = notes_of(agent)
    if notes is None or not samples_as_legacy(agent):
        return _legacy_continuous(agent)
    inputs = _kept(draw_inputs(agent, notes))
    return _batch(inputs, inputs.actions())


def _sample_discrete(agent: Any) -> Any:
    notes = notes_of(agent)
    if notes is None or not samples_as_legacy(agent):
        return _legacy_discrete(agent)
    inputs = _kept(draw_inputs(agent, notes))
    return _batch(inputs, inputs.action_indices())


def _kept(inputs: UpdateInputs) -> UpdateInputs:
    """Rows of their own: those that were uploaded are written over by the next batch."""
    return inputs._replace(rows=inputs.rows.clone())


def _batch(inputs: UpdateInputs, actions: Any) -> Any:
    rows = inputs.rows
    states = as_tensors(rows[:, :STATE])
    return legacy.Batch(
        states=states if inputs.sees_any else (states[0], None, None),
        actions=actions,
        rewards=inputs.rewards(),
        next_states=as_tensors(rows[:, STATE:ACTION]),
        dones=inputs.dones(),
    )


_UPDATES = "legacy_marinenav.policy.updates"

ROWS = (
    Replacement(f"{_UPDATES}.actor_critic", "sample_continuous", _sample_continuous),
    Replacement(f"{_UPDATES}.sac", "sample_continuous", _sample_continuous),
    Replacement(f"{_UPDATES}.value_based", "sample_discrete", _sample_discrete),
)
"""Steps 3 and 4 need these: without the merged updates of step 5, the legacy ones get their batches here."""
