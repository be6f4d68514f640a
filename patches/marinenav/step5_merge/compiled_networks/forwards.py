"""The networks' forwards by compiled code, where nobody asks for gradients.

Replaces: patches.marinenav.forwards, function by function, for ordinary memory of the host
Removes:  a call per operation, and products that are made robot by robot from Python
Keeps:    every bit, see `runner`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

from patches.blocks.companion import find_companion
from patches.blocks.row_products import MOST_GROUPS
from patches.marinenav import forwards
from patches.marinenav.circumstances import are_plain
from patches.marinenav.step5_merge.compiled_networks import apart, kinds, priorities
from patches.marinenav.step5_merge.compiled_networks.kernels import Kernels, Sizes, seen_by
from patches.marinenav.step5_merge.compiled_networks.learning import Learning
from patches.marinenav.step5_merge.compiled_networks.sampling import Sampled
from patches.marinenav.step5_merge.descent import parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from patches.marinenav.observations import Observation
    from patches.marinenav.step5_merge.compiled_networks.kinds import Kind


class Forwards:
    """What networks answer.

    Args:
        kernels: Compiled functions.
        is_exact: Whether robots of their own keep their bits however many they are.
    """

    def __init__(self, kernels: Kernels, *, is_exact: bool = False) -> None:
        self.kernels = kernels
        self._kept: WeakKeyDictionary[Any, list[Tensor]] = WeakKeyDictionary()
        self._known: dict[Any, list[Tensor]] = {}
        self._is_exact = is_exact
        self._exact: Forwards | None = None
        self._free: Forwards | None = None

    def knowing(self, parameters: dict[Any, list[Tensor]]) -> Forwards:
        """The same, told the parameters of networks, which are not looked for then."""
        told = object.__new__(Forwards)
        vars(told).update(vars(self), _known=parameters)
        return told

    def learning(self, parameters: dict[Any, list[Tensor]]) -> Learning:
        """How networks learn whose parameters are told."""
        return Learning(self.knowing(parameters))

    take_apart = staticmethod(apart.take_apart)
    take_states_apart = staticmethod(apart.take_states_apart)
    earned = staticmethod(apart.earned)
    draw = staticmethod(priorities.draw)
    update_priorities = staticmethod(priorities.update_priorities)

    def parameters_of(self, network: Any) -> list[Tensor]:
        """The parameters of a network in their order."""
        return self._known.get(network) or parameters_of(network)

    def exactly(self) -> Forwards:
        """The same with every bit."""
        if self._exact is None:
            self._exact = Forwards(self.kernels, is_exact=True)
        return self._exact

    def freely(self) -> Forwards:
        """The same by two threads, if nobody minds in which order sums are made."""
        companion = find_companion()
        if companion is None:
            return self
        if self._free is None:
            self._free = Forwards(Kernels(self.kernels.lanes, companion))
        return self._free

    def tell_apart(self, robots: int, most: int = MOST_GROUPS) -> bool:
        """Return whether robots are each answered as if they were alone, so that any of them may be left out."""
        return self._is_exact or robots <= most

    def deterministic_actions(self, actor: Any, seen: Observation) -> Tensor:
        """Actions of AC-IQN and DDPG, ``[B, 2]``."""
        (values,) = self._ask(kinds.ACTOR, actor, seen, most=forwards.MOST_ACTING)
        return forwards.squash(actor, values)

    def sampled_actions(self, actor: Any, seen: Observation, normals: Tensor) -> Tensor:
        """Actions of SAC for given standard normals, ``[B, 2]``."""
        mean, log_std = self._distribution(actor, seen)
        return forwards.sample(actor, mean, log_std, normals)

    def sampled_actions_with_log_probs(
        self, actor: Any, seen: Observation, normals: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Actions of SAC ``[B, 2]`` and their log-probabilities ``[B, 1]``."""
        mean, log_std = self._distribution(actor, seen)
        sampled = Sampled(actor, mean, log_std, normals)
        return sampled.actions, sampled.log_probs

    def _distribution(self, actor: Any, seen: Observation) -> list[Tensor]:
        return self._ask(kinds.SAMPLING_ACTOR, actor, seen, most=forwards.MOST_ACTING)

    def critic_values(self, critic: Any, seen: Observation, actions: Tensor) -> Tensor:
        """Values of DDPG's critic, ``[B, 1]``."""
        (values,) = self._ask(kinds.CRITIC, critic, seen, actions)
        return values

    def both_critic_values(
        self, critics: Sequence[Any], seen: Observation, actions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Values of SAC's two critics, ``[B, 1]`` each."""
        parameters = [each for critic in critics for each in self.parameters_of(critic)]
        first, second = self._answer(kinds.BOTH_CRITICS, parameters, seen, actions)
        return first, second

    def critic_quantiles(
        self, critic: Any, seen: Observation, taus: Tensor, actions: Tensor
    ) -> Tensor:
        """Quantiles of AC-IQN's critic, ``[B, T]``."""
        cosines = forwards.cosines(critic, taus)
        (quantiles,) = self._ask(kinds.QUANTILE_CRITIC, critic, seen, cosines, actions)
        return quantiles.view(taus.shape[:2])

    def all_quantiles(self, network: Any, seen: Observation, taus: Tensor) -> Tensor:
        """Quantiles of IQN, ``[B, T, 25]``."""
        cosines = forwards.cosines(network, taus)
        (quantiles,) = self._ask(kinds.QUANTILE_VALUES, network, seen, cosines)
        return quantiles.view(*taus.shape[:2], -1)

    def action_values(self, network: Any, seen: Observation) -> Tensor:
        """Values of DQN, ``[B, 25]``."""
        (values,) = self._ask(kinds.VALUES, network, seen)
        return values

    def noisy_weights_at_once(self, network: Any) -> forwards.Weights:
        """Effective weights of Rainbow's noisy layers, in memory that is the network's until it is asked again."""
        means, deviations, noises = forwards.noisy_parts(network)
        if not are_plain(noises):
            return forwards.noisy_weights_at_once(network)
        kept = self._kept.get(network)
        if kept is None or [each.shape for each in kept] != [each.shape for each in means]:
            kept = self._kept[network] = [torch.empty_like(each) for each in means]
        self.kernels.mix(kept, means, deviations, noises)
        return forwards.as_weights(kept)

    def atom_probs(self, network: Any, seen: Observation, weights: forwards.Weights) -> Tensor:
        """Probabilities of Rainbow's atoms, ``[B, 25, 51]``."""
        return torch.softmax(self._atoms(network, seen, weights), dim=2)

    def atom_probs_of(
        self, network: Any, seen: Observation, weights: forwards.Weights, rows: Tensor, actions: Tensor
    ) -> Tensor:  # fmt: skip
        """Probabilities of the atoms of one action per row, ``[B, 51]``."""
        return torch.softmax(self._atoms(network, seen, weights)[rows, actions], dim=1)

    def _atoms(self, network: Any, seen: Observation, weights: forwards.Weights) -> Tensor:
        parameters = kinds.stream_parameters(network, weights)
        (together,) = self._answer(kinds.STREAMS, parameters, seen)
        return together.view(-1, network.action_size, network.atoms)

    def _ask(
        self,
        kind: Kind,
        network: Any,
        seen: Observation,
        *inputs: Tensor,
        most: int = MOST_GROUPS,
    ) -> list[Tensor]:
        return self._answer(kind, self.parameters_of(network), seen, *inputs, most=most)

    def _answer(
        self,
        kind: Kind,
        parameters: list[Tensor],
        seen: Observation,
        *inputs: Tensor,
        most: int = MOST_GROUPS,
    ) -> list[Tensor]:
        count = len(seen.own)
        fractions = inputs[0].shape[1] if kinds.COSINES in kind.layers else 1
        is_grouped = seen.own.dim() == 3 and self.tell_apart(count, most)
        sizes = Sizes(1, fractions, count) if is_grouped else Sizes(count, fractions)
        return self.kernels.answer(kind, parameters, (*seen_by(seen), *inputs), sizes)
