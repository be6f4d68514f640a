"""Inputs written to buffers that exist already, for the parts of legacy that still run without other steps.

Replaces: policy.agent:Agent.state_to_tensor, policy.networks.encoders:CosineEmbedding.calc_cos and
          ObservationEncoder.observation_features, policy.updates.rainbow:project_distribution
Removes:  tensors from nested lists, a host block of zeros per forward, fresh host memory for fractions,
          offsets per update
Keeps:    draws, values, shapes and dtypes; results are tensors of their own that nothing overwrites
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.networks.encoders import CosineEmbedding, ObservationEncoder
from legacy_marinenav.policy.updates import rainbow
from patches.blocks.staging import Segment, Slab
from patches.marinenav.agents import notes_of
from patches.marinenav.circumstances import computes_as_usual
from patches.marinenav.projection import project
from patches.marinenav.rows import OBJECT, OBJECTS, OWN

_legacy_state_to_tensor = Agent.state_to_tensor
_legacy_calc_cos = CosineEmbedding.calc_cos
_legacy_features = ObservationEncoder.observation_features
_legacy_project = rainbow.project_distribution

_slabs: weakref.WeakKeyDictionary[Any, Slab] = weakref.WeakKeyDictionary()
_zeros: weakref.WeakKeyDictionary[Any, dict[tuple[int, str], Tensor]] = weakref.WeakKeyDictionary()


def state_to_tensor(self: Any, states: Any) -> Any:
    """`Agent.state_to_tensor`: own states, objects and masks in one upload."""
    notes = notes_of(self)
    if notes is None:
        return _legacy_state_to_tensor(self, states)
    own, objects, masks = states
    count = len(own)

    def sections() -> list[Segment]:
        found = [Segment("own", (count, OWN))]
        if objects:
            found += [
                Segment("objects", (count, OBJECTS, OBJECT)),
                Segment("masks", (count, OBJECTS)),
            ]
        return found

    views = notes.update.open(("states", count, bool(objects)), sections)
    views.arrays["own"][:] = own
    if not objects:
        return notes.update.send_fresh()["own"], None, None
    views.arrays["objects"][:] = objects
    views.arrays["masks"][:] = masks
    sent = notes.update.send_fresh()
    return sent["own"], sent["objects"], sent["masks"]


def calc_cos(
    self: Any, batch_size: int, num_tau: int = 8, cvar: float = 1.0
) -> tuple[Tensor, Tensor]:
    """`CosineEmbedding.calc_cos`: fractions drawn into memory that is there, and their cosines."""
    if not computes_as_usual():
        return _legacy_calc_cos(self, batch_size, num_tau, cvar)
    device = torch.device(self.device)
    slab = _slabs.get(self)
    if slab is None or slab.device != device:  # networks may move
        slab = _slabs[self] = Slab(device, is_persistent=True)
    shape = (batch_size, num_tau)
    host = slab.open(shape, lambda: (Segment("fractions", shape),)).host["fractions"]
    torch.rand(shape, out=host)
    taus = slab.send()["fractions"].unsqueeze(-1) * cvar
    return torch.cos(taus * self.pis), taus


def observation_features(self: Any, state: Any) -> Tensor:
    """`ObservationEncoder.observation_features`: the zeros for unseen objects are made once."""
    self_states, object_states, _ = state
    if object_states is not None or not computes_as_usual():
        return _legacy_features(self, state)
    key = len(self_states), str(self.device)
    blocks = _zeros.setdefault(self, {})
    if key not in blocks:
        width = self.max_object_num * self.object_feature_dimension
        with torch.inference_mode(mode=False):
            blocks[key] = torch.zeros((len(self_states), width), device=self.device)
    return torch.cat((self.self_encoder(self_states), blocks[key]), 1)


def project_distribution(
    agent: Any, probs: Tensor, returns: Tensor, nonterminals: Tensor
) -> Tensor:
    """The legacy function of this name: offsets are made once, masks never."""
    notes = notes_of(agent)
    if notes is None:
        return _legacy_project(agent, probs, returns, nonterminals)
    return project(agent, notes, probs, returns, nonterminals)
