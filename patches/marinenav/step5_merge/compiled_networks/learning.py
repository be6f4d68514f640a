"""One network after the other learns from a batch, by compiled code.

Replaces: by_autograd, function by function, for ordinary memory of the host
Removes:  autograd's graph and engine, a call per operation of a network and of its way back
Keeps:    every product and sum that reaches a loss or a parameter, in its order

Losses that are no numbers, or infinite, are left to autograd: what is no number has a sign that is torch's to choose.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import mse_loss, smooth_l1_loss

from patches.marinenav import forwards
from patches.marinenav.step5_merge import by_autograd
from patches.marinenav.step5_merge.by_autograd import Heard
from patches.marinenav.step5_merge.compiled_networks import atoms, kinds
from patches.marinenav.step5_merge.compiled_networks.kernels import (
    LAST_INPUT,
    PARAMETERS,
    Sizes,
    seen_by,
)
from patches.marinenav.step5_merge.compiled_networks.sampling import Sampled
from patches.marinenav.step5_merge.descent import take

if TYPE_CHECKING:
    from collections.abc import Callable

    from patches.marinenav.batches import UpdateInputs
    from patches.marinenav.observations import Observation
    from patches.marinenav.step5_merge.compiled_networks.forwards import Forwards
    from patches.marinenav.step5_merge.compiled_networks.kernels import Answer
    from patches.marinenav.step5_merge.compiled_networks.kinds import Kind
    from patches.marinenav.step5_merge.rainbow_update import Sampled as SampledBatch

_T = TypeVar("_T")

MOST_ROWS: Final = 4096
"""As many as compiled losses are tried with; torch may sum more of them by several threads."""
_MEAN: Final = 1
"""Torch's number of losses that are means."""
_mse_back: Any = torch.ops.aten.mse_loss_backward
_smooth_l1_back: Any = torch.ops.aten.smooth_l1_loss_backward
_log_softmax_back: Any = torch.ops.aten._log_softmax_backward_data  # noqa: SLF001  # no public name


class Learning:
    """Compiled functions under the names of `by_autograd`."""

    def __init__(self, networks: Forwards) -> None:
        self.networks = networks
        self._parameters_of = networks.parameters_of

    @torch.no_grad()
    def critic_of_ac_iqn(
        self, agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
    ) -> Tensor:
        """Quantiles of the actions that were taken; the loss."""
        critic, taus = agent.policy_local.critic, inputs.fractions[1]
        answer = self._learn(
            kinds.QUANTILE_CRITIC,
            self._parameters_of(critic),
            states,
            forwards.cosines(critic, taus),
            inputs.actions(),
        )
        quantiles = answer.outputs[0].view(taus.shape[:2])
        loss, slopes = self._compare(wanted, quantiles, taus)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.critic_of_ac_iqn, agent, inputs, states, wanted)
        take(agent.critic_optimizer, answer.parameters, answer.slopes(slopes))
        return loss

    def _compare(self, wanted: Tensor, quantiles: Tensor, taus: Tensor) -> tuple[Tensor, Tensor]:
        """The quantile Huber loss with its slopes."""
        loss, slopes = self.networks.kernels.quantile_slopes(wanted, quantiles, taus)
        if len(quantiles) > MOST_ROWS:
            loss = by_autograd.quantile_huber_loss(wanted, quantiles.unsqueeze(-1), taus)
        return loss, slopes

    @torch.no_grad()
    def actor_of_ac_iqn(self, agent: Any, inputs: UpdateInputs, states: Observation) -> Tensor:
        """Actions whose quantiles are higher; the loss."""
        critic = agent.policy_local.critic
        cosines = forwards.cosines(critic, inputs.fractions[2])
        loss = self._raise_values(agent, kinds.QUANTILE_CRITIC, states, cosines)
        if loss is None:
            return _with_autograd(by_autograd.actor_of_ac_iqn, agent, inputs, states)
        return loss

    @torch.no_grad()
    def critic_of_ddpg(
        self, agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
    ) -> Tensor:
        """Values of the actions that were taken; the loss."""
        critic = agent.policy_local.critic
        answer = self._learn(kinds.CRITIC, self._parameters_of(critic), states, inputs.actions())
        (values,) = answer.outputs
        loss = smooth_l1_loss(values, wanted)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.critic_of_ddpg, agent, inputs, states, wanted)
        slopes = answer.slopes(_smooth_slopes(values, wanted))
        take(agent.critic_optimizer, answer.parameters, slopes)
        return loss

    @torch.no_grad()
    def actor_of_ddpg(self, agent: Any, inputs: UpdateInputs, states: Observation) -> Tensor:
        """Actions whose values are higher; the loss."""
        loss = self._raise_values(agent, kinds.CRITIC, states)
        if loss is None:
            return _with_autograd(by_autograd.actor_of_ddpg, agent, inputs, states)
        return loss

    def _raise_values(
        self, agent: Any, kind: Kind, states: Observation, *inputs: Tensor
    ) -> Tensor | None:
        actor, critic = agent.policy_local.actor, agent.policy_local.critic
        decided = self._learn(kinds.ACTOR, self._parameters_of(actor), states)
        (raw,) = decided.outputs
        actions = forwards.squash(actor, raw)
        judged = self._learn(
            kind, self._parameters_of(critic), states, *inputs, actions, wanted=LAST_INPUT
        )
        (values,) = judged.outputs
        loss = -values.view(len(raw), -1).mean()
        if not math.isfinite(loss):
            return None
        (slopes,) = judged.slopes(_shares(values, -1.0))
        slopes = slopes * actor.atan_scale / (raw * raw + 1)
        take(agent.actor_optimizer, decided.parameters, decided.slopes(slopes))
        return loss

    @torch.no_grad()
    def critics_of_sac(
        self, agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Values of the actions that were taken; the losses of both critics."""
        answer = self._learn_both(agent, states, inputs.actions(), PARAMETERS)
        first, second = (mse_loss(values, wanted) for values in answer.outputs)
        if not (math.isfinite(first) and math.isfinite(second)):
            return _with_autograd(by_autograd.critics_of_sac, agent, inputs, states, wanted)
        slopes = answer.slopes(
            *(_mse_back(_one(), values, wanted, _MEAN) for values in answer.outputs)
        )
        half = len(slopes) // 2
        take(agent.critic_1_optimizer, answer.parameters[:half], slopes[:half])
        take(agent.critic_2_optimizer, answer.parameters[half:], slopes[half:])
        return first, second

    @torch.no_grad()
    def actor_of_sac(self, agent: Any, inputs: UpdateInputs, states: Observation) -> Tensor:
        """Actions whose values are higher, and not too certain; the loss."""
        actor = agent.policy_local.actor
        decided = self._learn(kinds.SAMPLING_ACTOR, self._parameters_of(actor), states)
        mean, log_std = decided.outputs
        sampled = Sampled(actor, mean, log_std, inputs.normals[1])
        judged = self._learn_both(agent, states, sampled.actions, LAST_INPUT)
        first, second = judged.outputs
        loss: Tensor = (agent.alpha * sampled.log_probs - torch.min(first, second)).mean()
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.actor_of_sac, agent, inputs, states)
        share = _shares(first, 1.0)
        (of_actions,) = judged.slopes(
            _of_smaller(-share, first, second), _of_smaller(-share, second, first)
        )
        slopes = sampled.slopes(of_actions, share * agent.alpha)
        take(agent.actor_optimizer, decided.parameters, decided.slopes(*slopes))
        return loss

    def _learn_both(self, agent: Any, states: Observation, actions: Tensor, wanted: str) -> Answer:
        local = agent.policy_local
        parameters = self._parameters_of(local.critic_1) + self._parameters_of(local.critic_2)
        return self._learn(kinds.BOTH_CRITICS, parameters, states, actions, wanted=wanted)

    @torch.no_grad()
    def values_of_iqn(
        self, agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
    ) -> Tensor:
        """Quantiles of the actions that were taken; the loss."""
        network, taus = agent.policy_local, inputs.fractions[1]
        answer = self._learn(
            kinds.QUANTILE_VALUES,
            self._parameters_of(network),
            states,
            forwards.cosines(network, taus),
        )
        everything = answer.outputs[0].view(*taus.shape[:2], -1)
        actions = inputs.action_indices().unsqueeze(-1).expand(*taus.shape[:2], 1)
        quantiles = everything.gather(2, actions)
        loss, slopes = self._compare(wanted, quantiles.squeeze(2), taus)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.values_of_iqn, agent, inputs, states, wanted)
        chosen = torch.zeros_like(everything).scatter_add_(2, actions, slopes.unsqueeze(2))
        take(agent.optimizer, answer.parameters, answer.slopes(chosen))
        return loss

    @torch.no_grad()
    def values_of_dqn(
        self, agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
    ) -> Tensor:
        """Values of the actions that were taken; the loss."""
        network, actions = agent.policy_local, inputs.action_indices()
        answer = self._learn(kinds.VALUES, self._parameters_of(network), states)
        (everything,) = answer.outputs
        values = everything.gather(1, actions)
        loss = smooth_l1_loss(values, wanted)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.values_of_dqn, agent, inputs, states, wanted)
        slopes = _smooth_slopes(values, wanted)
        chosen = torch.zeros_like(everything).scatter_add_(1, actions, slopes)
        take(agent.optimizer, answer.parameters, answer.slopes(chosen))
        return loss

    @torch.no_grad()
    def hear_rainbow(self, agent: Any, batch: SampledBatch) -> Heard:
        """Ask, with noisy weights that are computed once per update."""
        network = agent.policy_local
        weights = (
            self.networks.noisy_weights_at_once(network)
            if network.training
            else forwards.noisy_weights(network, with_noise=False)
        )
        answer = self.networks.kernels.learn(
            kinds.STREAMS,
            kinds.stream_parameters(network, weights),
            seen_by(batch.states),
            Sizes(len(batch.states.own)),
            PARAMETERS,
        )
        return Heard(
            weights, answer.outputs[0].view(-1, network.action_size, network.atoms), answer
        )

    @torch.no_grad()
    def atoms_of_rainbow(
        self, agent: Any, batch: SampledBatch, rows: Tensor, wanted: Tensor, heard: Heard
    ) -> Tensor:
        """Probabilities of the actions that were taken; the loss of each sample."""
        network, together = agent.policy_local, heard.atoms
        # Of the other actions there is nothing to learn, unless they are no numbers.
        log_probs = torch.log_softmax(together[rows, batch.actions], 1)
        loss = -torch.sum(wanted * log_probs, 1)
        shares = _shares(loss, 1.0) * batch.weights
        if not (math.isfinite((batch.weights * loss).mean()) and math.isfinite(together.sum())):
            return _with_autograd(_atoms_of_rainbow, agent, batch, rows, wanted)
        # Added to the zeros that they are put into: a sum has another sign of zero.
        chosen = 0 + (-shares).unsqueeze(1) * wanted
        slopes = torch.zeros_like(together)
        slopes[rows, batch.actions] = _log_softmax_back(chosen, log_probs, 1, torch.float32)
        found = heard.answer.slopes(slopes)
        take(
            agent.optimizer,
            self._parameters_of(network),
            _with_noise(network, found),
            clears_network=True,
        )
        return loss

    renew_noise = staticmethod(atoms.renew_noise)
    project = staticmethod(atoms.project)

    def _learn(
        self,
        kind: Kind,
        parameters: list[Tensor],
        states: Observation,
        *inputs: Tensor,
        wanted: str = PARAMETERS,
    ) -> Answer:
        fractions = inputs[0].shape[1] if kinds.COSINES in kind.layers else 1
        sizes = Sizes(len(states.own), fractions)
        return self.networks.kernels.learn(
            kind, parameters, (*seen_by(states), *inputs), sizes, wanted
        )


def _atoms_of_rainbow(agent: Any, batch: SampledBatch, rows: Tensor, wanted: Tensor) -> Tensor:
    heard = by_autograd.hear_rainbow(agent, batch)
    return by_autograd.atoms_of_rainbow(agent, batch, rows, wanted, heard)


def _with_noise(network: Any, slopes: list[Tensor]) -> list[Tensor | None]:
    """Slopes of all parameters of Rainbow's network for those of its effective weights, in their order."""
    _, _, noises = forwards.noisy_parts(network)
    means = slopes[-len(noises) :]
    deviations: list[Any] = [None] * len(means)
    if network.training:
        deviations = list(torch._foreach_mul(means, noises))  # noqa: SLF001  # no public name
    noisy = chain(*zip(means, deviations, strict=True))
    return [*slopes[: -len(noises)], *noisy]


def _with_autograd(learn: Callable[..., _T], *arguments: Any) -> _T:
    with torch.enable_grad():
        return learn(*arguments)


def _one() -> Tensor:
    return torch.ones((), dtype=torch.float32, device="cpu")


def _shares(values: Tensor, whole: float) -> Tensor:
    """What a mean passes back to each of its numbers."""
    return torch.full_like(values, whole) / values.numel()


def _smooth_slopes(values: Tensor, wanted: Tensor) -> Tensor:
    slopes: Tensor = _smooth_l1_back(_one(), values, wanted, _MEAN, 1.0)
    return slopes


def _of_smaller(slopes: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """What a minimum passes back to one of two: all if it is smaller, half if they are equal."""
    return torch.where(one == other, slopes / 2, slopes).masked_fill_(one > other, 0)
