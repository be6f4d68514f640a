"""How networks learn from a batch: by compiled code where it can, by autograd elsewhere."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import torch

from patches.blocks.companion import has_room
from patches.marinenav.circumstances import are_plain
from patches.marinenav.observations import observation_of
from patches.marinenav.step5_merge import by_autograd
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.marinenav.step5_merge.descent import have_only_layers

if TYPE_CHECKING:
    from torch import Tensor

    from patches.blocks.drawn_batch import Drawn
    from patches.marinenav.agents import Notes
    from patches.marinenav.batches import UpdateInputs
    from patches.marinenav.guards import Learners
    from patches.marinenav.observations import Observation
    from patches.settings import Settings


MOST_ROWS: Final = 4096
"""As many as compiled losses are tried with; torch may sum more of them by several threads."""


def learning_for(agent: Any, learners: Learners, states: Observation) -> Any:
    """`by_autograd`, or compiled functions of the same names."""
    # Without gradients legacy fails, and how is autograd's to say.
    if states.objects is None or not states.own.is_cpu or not torch.is_grad_enabled():
        return by_autograd
    compiled = loading.kernels(loading.NETWORKS)
    if compiled is None or not _is_ordinary(learners, states):
        return by_autograd
    is_free = agent.patch_notes.settings.is_free
    return (compiled.freely() if is_free else compiled).learning(learners.parameters)


def rows_apart(notes: Notes, inputs: UpdateInputs) -> UpdateInputs:
    """Inputs of an update, whose rows compiled code takes apart where it can."""
    compiled = _compiled_for(inputs.rows)
    if compiled is None:
        return inputs
    return inputs._replace(pieces=compiled.take_apart(notes, inputs.rows))


def states_apart(notes: Notes, rows: Tensor) -> tuple[Observation, Observation]:
    """What rows of states, and of as many next states behind them, say that robots saw."""
    compiled = _compiled_for(rows)
    if compiled is None:
        half = len(rows) // 2
        return observation_of(rows[:half], has_objects=True), observation_of(
            rows[half:], has_objects=True
        )
    states, next_states = compiled.take_states_apart(notes, rows)
    return states, next_states


def draw_by_priority(memory: Any, batch_size: int) -> Drawn:
    """A batch of a prioritised memory, drawn by compiled code where there is some."""
    compiled = loading.kernels(loading.NETWORKS)
    drawn: Drawn = (
        memory.draw(batch_size) if compiled is None else compiled.draw(memory, batch_size)
    )
    return drawn


def set_priorities(memory: Any, indices: Any, losses: Any) -> None:
    """Tell a prioritised memory the losses of transitions."""
    compiled = loading.kernels(loading.NETWORKS)
    if compiled is None:
        memory.update_priorities(indices, losses)
    else:
        compiled.update_priorities(memory, indices, losses)


def _compiled_for(rows: Tensor) -> Any:
    return loading.kernels(loading.NETWORKS) if are_plain((rows,)) else None


def shares_work(settings: Settings) -> bool:
    """Whether compiled networks are there, which compute half of large batches in a thread of their own."""
    return settings.has(5) and has_room() and loading.kernels(loading.NETWORKS) is not None


def compiled_networks(self: Any, parameters: list[Tensor], *seen: Tensor) -> Any:
    """`Agent.compiled_networks`: what step 1 asks instead of `forwards` to decide; None if it cannot be used.

    Args:
        self: The agent.
        parameters: Of the network that acts.
        seen: Tensors that it is asked about, as far as they are not of our own making.
    """
    network = self.policy_local.actor if self.kind.networks else self.policy_local
    if not (have_only_layers(network) and are_plain((*parameters, *seen))):
        return None
    compiled = loading.kernels(loading.NETWORKS)
    if compiled is None:
        return None
    settings = self.patch_notes.settings
    if settings.is_exact:
        compiled = compiled.exactly()
    elif settings.is_free:
        compiled = compiled.freely()
    return compiled.knowing({network: parameters})


def _is_ordinary(learners: Learners, states: Observation) -> bool:
    """Whether a batch is not too large, all parameters are those of layers, in ordinary memory, and the agent's own all learn."""
    return (
        len(states.own) <= MOST_ROWS
        and all(map(_learns, learners.learning))
        and have_only_layers(*learners.networks)
        and are_plain((*learners.everything, states.own))
    )


_learns = attrgetter("requires_grad")
