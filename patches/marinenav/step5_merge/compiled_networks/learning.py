"""One network after the other learns from a batch, by compiled code.

Replaces: by_autograd, function by function, for ordinary memory of the host
Removes:  autograd's graph and engine, a call per operation of a network and of its way back
Keeps:    every product and sum that reaches a loss or a parameter, in its order

Losses that are no numbers, or infinite, are left to autograd: what is no number has a sign that is torch's to choose.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from patches.marinenav import forwards
from patches.marinenav.step5_merge import by_autograd
from patches.marinenav.step5_merge.by_autograd import Heard
from patches.marinenav.step5_merge.compiled_networks import apart, atoms, kinds, losses
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

_log_softmax_back: Any = torch.ops.aten._log_softmax_backward_data  # noqa: SLF001  # no public name


class Learning:
    """Compiled functions under the names of `by_autograd`."""

    def __init__(self, networks: Forwards) -> None:
        self.networks = networks
        self._parameters_of = networks.parameters_of
        self._lanes = networks.kernels.lanes

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
        loss, slopes = self.networks.kernels.quantile_slopes(wanted, quantiles, taus)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.critic_of_ac_iqn, agent, inputs, states, wanted)
        take(agent.critic_optimizer, answer.parameters, answer.slopes(slopes))
        return loss

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
        loss, slopes = losses.smooth(values, wanted, self._lanes)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.critic_of_ddpg, agent, inputs, states, wanted)
        take(agent.critic_optimizer, answer.parameters, answer.slopes(slopes))
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
        (first, of_first), (second, of_second) = (
            losses.squared(values, wanted, self._lanes) for values in answer.outputs
        )
        if not (math.isfinite(first) and math.isfinite(second)):
            return _with_autograd(by_autograd.critics_of_sac, agent, inputs, states, wanted)
        slopes = answer.slopes(of_first, of_second)
        half = len(slopes) // 2
        take(agent.critic_1_optimizer, answer.parameters[:half], slopes[:half])
        take(agent.critic_2_optimizer, answer.parameters[half:], slopes[half:])
        return first, second

    @torch.no_grad()
    def actor_of_sac(self, agent: Any, inputs: UpdateInputs, states: Observation) -> Tensor:
        """Actions whose values are higher, and not too certain; the loss."""
        if type(agent.alpha) is not float:  # torch knows others, too
            return _with_autograd(by_autograd.actor_of_sac, agent, inputs, states)
        actor = agent.policy_local.actor
        decided = self._learn(kinds.SAMPLING_ACTOR, self._parameters_of(actor), states)
        mean, log_std = decided.outputs
        sampled = Sampled(actor, mean, log_std, inputs.normals[1])
        judged = self._learn_both(agent, states, sampled.actions, LAST_INPUT)
        first, second = judged.outputs
        loss, (of_first, of_second, of_log_probs) = losses.lower_of_two(
            first, second, sampled.log_probs, agent.alpha, self._lanes
        )
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.actor_of_sac, agent, inputs, states)
        (of_actions,) = judged.slopes(of_first, of_second)
        slopes = sampled.slopes(of_actions, of_log_probs)
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
        quantiles = apart.picked(inputs.rows, everything)
        if quantiles is None:
            return _with_autograd(by_autograd.values_of_iqn, agent, inputs, states, wanted)
        loss, slopes = self.networks.kernels.quantile_slopes(wanted, quantiles, taus)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.values_of_iqn, agent, inputs, states, wanted)
        chosen = apart.put_back(inputs.rows, slopes, everything)
        take(agent.optimizer, answer.parameters, answer.slopes(chosen))
        return loss

    @torch.no_grad()
    def values_of_dqn(
        self, agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
    ) -> Tensor:
        """Values of the actions that were taken; the loss."""
        answer = self._learn(kinds.VALUES, self._parameters_of(agent.policy_local), states)
        everything = answer.outputs[0].unsqueeze(1)
        values = apart.picked(inputs.rows, everything)
        if values is None:
            return _with_autograd(by_autograd.values_of_dqn, agent, inputs, states, wanted)
        loss, slopes = losses.smooth(values, wanted, self._lanes)
        if not math.isfinite(loss):
            return _with_autograd(by_autograd.values_of_dqn, agent, inputs, states, wanted)
        chosen = apart.put_back(inputs.rows, slopes, everything)
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


def _shares(values: Tensor, whole: float) -> Tensor:
    """What a mean passes back to each of its numbers."""
    return torch.full_like(values, whole) / values.numel()
