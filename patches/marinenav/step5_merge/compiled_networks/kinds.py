"""The networks of all agents as tapes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from patches.marinenav.forwards import NOISY_LAYERS, Weights
from patches.marinenav.rows import OBJECT, OBJECTS, OWN
from patches.marinenav.step5_merge.compiled_networks.tapes.network import Network
from patches.marinenav.step5_merge.descent import parameters_of

if TYPE_CHECKING:
    from torch import Tensor

    from patches.marinenav.step5_merge.compiled_networks.tapes.memory import Piece

SELF, OBJECTS_SEEN, ACTION, COSINES = (
    "self_encoder",
    "object_encoder",
    "action_encoder",
    "cos_embedding",
)
HIDDEN, HIDDEN_2, OUTPUT = "hidden_layer", "hidden_layer_2", "output_layer"
MEAN, LOG_STD = "output_layer_mu", "output_layer_log_std"

Draw = Callable[[Network, int, int], None]
"""Adds layers for a batch, and a number of fractions for each of its rows."""


def _features(network: Network, batch: int) -> Piece:
    own, objects = network.take(batch, OWN), network.take(batch * OBJECTS, OBJECT)
    absent = network.take_flags(batch * OBJECTS)
    return network.joined(network.dense(own, SELF), network.dense(objects, OBJECTS_SEEN), absent)


def _one_output(network: Network, batch: int, _: int) -> None:
    hidden = network.hidden(_features(network, batch), HIDDEN, HIDDEN_2)
    network.give(network.dense(hidden, OUTPUT, is_rectified=False))


def _two_outputs(network: Network, batch: int, _: int) -> None:
    hidden = network.hidden(_features(network, batch), HIDDEN, HIDDEN_2)
    network.give(
        network.dense(hidden, MEAN, is_rectified=False),
        network.dense(hidden, LOG_STD, is_rectified=False),
    )


def _critic(network: Network, batch: int, _: int) -> None:
    hidden = network.hidden(_features(network, batch), HIDDEN)
    _value(network, hidden, batch)


def _value(network: Network, hidden: Piece, batch: int) -> None:
    action = network.dense(network.take(batch, 2), ACTION)
    hidden = network.hidden(network.times(action, hidden), HIDDEN_2)
    network.give(network.dense(hidden, OUTPUT, is_rectified=False))


def _at_fractions(network: Network, batch: int, fractions: int) -> Piece:
    state = _features(network, batch)
    cosines = network.dense(network.take(batch * fractions, 64), COSINES)
    return network.hidden(network.times(state, cosines), HIDDEN)


def _quantile_critic(network: Network, batch: int, fractions: int) -> None:
    _value(network, _at_fractions(network, batch, fractions), batch)


def _quantile_values(network: Network, batch: int, fractions: int) -> None:
    hidden = network.hidden(_at_fractions(network, batch, fractions), HIDDEN_2)
    network.give(network.dense(hidden, OUTPUT, is_rectified=False))


def _streams(network: Network, batch: int, _: int) -> None:
    state = _features(network, batch)
    for stream in "va":
        hidden = network.hidden(state, f"{HIDDEN}_{stream}", f"{HIDDEN}_{stream}_2")
        network.give(network.dense(hidden, f"{OUTPUT}_{stream}", is_rectified=False))


def stream_parameters(network: Any, weights: Weights) -> list[Tensor]:
    """Parameters of Rainbow's network with the given ones for its noisy layers."""
    encoders = (parameters_of(network._modules[name]) for name in _ENCODERS)  # noqa: SLF001
    return [*chain(*encoders), *chain(*weights.values())]


class Kind(NamedTuple):
    """How networks of a kind are drawn."""

    draw: Draw
    layers: tuple[str, ...]
    """In the order of their parameters."""


_ENCODERS = (SELF, OBJECTS_SEEN)
_HIDDEN = (HIDDEN, HIDDEN_2)

ACTOR = Kind(_one_output, (*_ENCODERS, *_HIDDEN, OUTPUT))
VALUES = ACTOR
SAMPLING_ACTOR = Kind(_two_outputs, (*_ENCODERS, *_HIDDEN, MEAN, LOG_STD))
CRITIC = Kind(_critic, (*_ENCODERS, ACTION, *_HIDDEN, OUTPUT))
QUANTILE_CRITIC = Kind(_quantile_critic, (*_ENCODERS, COSINES, ACTION, *_HIDDEN, OUTPUT))
QUANTILE_VALUES = Kind(_quantile_values, (*_ENCODERS, COSINES, *_HIDDEN, OUTPUT))
STREAMS = Kind(_streams, (*_ENCODERS, *NOISY_LAYERS))
