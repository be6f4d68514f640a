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


class _Seen(NamedTuple):
    own: Piece
    objects: Piece
    absent: int


def _seen(network: Network, batch: int) -> _Seen:
    own, objects = network.take(batch, OWN), network.take(batch * OBJECTS, OBJECT)
    return _Seen(own, objects, network.take_flags(batch * OBJECTS))


def _features(network: Network, seen: _Seen, part: str = "") -> Piece:
    own = network.dense(seen.own, part + SELF)
    return network.joined(own, network.dense(seen.objects, part + OBJECTS_SEEN), seen.absent)


def _one_output(network: Network, batch: int, _: int) -> None:
    hidden = network.hidden(_features(network, _seen(network, batch)), HIDDEN, HIDDEN_2)
    network.give(network.dense(hidden, OUTPUT, is_rectified=False))


def _two_outputs(network: Network, batch: int, _: int) -> None:
    hidden = network.hidden(_features(network, _seen(network, batch)), HIDDEN, HIDDEN_2)
    network.give(
        network.dense(hidden, MEAN, is_rectified=False),
        network.dense(hidden, LOG_STD, is_rectified=False),
    )


def _critic(network: Network, batch: int, _: int) -> None:
    seen, action = _seen(network, batch), network.take(batch, 2)
    _value(network, network.hidden(_features(network, seen), HIDDEN), action)


def _both_critics(network: Network, batch: int, _: int) -> None:
    seen, action = _seen(network, batch), network.take(batch, 2)
    for part in _BOTH:
        hidden = network.hidden(_features(network, seen, part), part + HIDDEN)
        _value(network, hidden, action, part)


def _value(network: Network, hidden: Piece, action: Piece, part: str = "") -> None:
    mixed = network.times(network.dense(action, part + ACTION), hidden)
    hidden = network.hidden(mixed, part + HIDDEN_2)
    network.give(network.dense(hidden, part + OUTPUT, is_rectified=False))


def _at_fractions(network: Network, batch: int, fractions: int) -> Piece:
    state = _features(network, _seen(network, batch))
    cosines = network.dense(network.take(batch * fractions, 64), COSINES)
    return network.hidden(network.times(state, cosines), HIDDEN)


def _quantile_critic(network: Network, batch: int, fractions: int) -> None:
    hidden = _at_fractions(network, batch, fractions)
    _value(network, hidden, network.take(batch, 2))


def _quantile_values(network: Network, batch: int, fractions: int) -> None:
    hidden = network.hidden(_at_fractions(network, batch, fractions), HIDDEN_2)
    network.give(network.dense(hidden, OUTPUT, is_rectified=False))


def _streams(network: Network, batch: int, _: int) -> None:
    state = _features(network, _seen(network, batch))
    value, advantage = (_stream(network, state, stream) for stream in "va")
    network.give(network.duel(value, advantage))


def _stream(network: Network, state: Piece, stream: str) -> Piece:
    hidden = network.hidden(state, f"{HIDDEN}_{stream}", f"{HIDDEN}_{stream}_2")
    return network.dense(hidden, f"{OUTPUT}_{stream}", is_rectified=False)


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
_BOTH = ("first ", "second ")
"""What names of layers begin with where two networks are run at once."""

ACTOR = Kind(_one_output, (*_ENCODERS, *_HIDDEN, OUTPUT))
VALUES = ACTOR
SAMPLING_ACTOR = Kind(_two_outputs, (*_ENCODERS, *_HIDDEN, MEAN, LOG_STD))
CRITIC = Kind(_critic, (*_ENCODERS, ACTION, *_HIDDEN, OUTPUT))
BOTH_CRITICS = Kind(_both_critics, tuple(part + name for part in _BOTH for name in CRITIC.layers))
QUANTILE_CRITIC = Kind(_quantile_critic, (*_ENCODERS, COSINES, ACTION, *_HIDDEN, OUTPUT))
QUANTILE_VALUES = Kind(_quantile_values, (*_ENCODERS, COSINES, *_HIDDEN, OUTPUT))
STREAMS = Kind(_streams, (*_ENCODERS, *NOISY_LAYERS))
