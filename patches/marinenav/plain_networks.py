"""Whether networks have their own layers, and nothing but their weights decides what they answer.

That is asked for every decision and update, of all networks that take part at once: whatever they are made of is
fetched and compared by functions written in C, which takes a third of the time of a look at one module after the other.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter, itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as torch_modules

from legacy_marinenav.policy import AC_IQN_model, DDPG_model, SAC_model
from legacy_marinenav.policy.DQN_model import DQN_Policy
from legacy_marinenav.policy.IQN_model import IQN_Policy
from legacy_marinenav.policy.networks.encoders import CosineEmbedding
from legacy_marinenav.policy.Rainbow_model import NoisyLinear, Rainbow_Policy
from patches.marinenav.authorship import is_own_class, is_own_work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ENCODERS: Final = frozenset({"self_encoder", "object_encoder", "action_encoder"})
_TWO_ENCODERS: Final = ("self_encoder", "object_encoder")
_HIDDEN: Final = ("hidden_layer", "hidden_layer_2")
_VALUE: Final = ("action_encoder", *_HIDDEN, "output_layer")
_STREAMS: Final = tuple(
    f"{name}_{stream}{number}"
    for name, number in (("hidden_layer", ""), ("hidden_layer", "_2"), ("output_layer", ""))
    for stream in "va"
)


class _Plan(NamedTuple):
    """What a network is made of."""

    names: tuple[str, ...]
    """Of its children, in their order."""
    types: list[type]
    """Of its children."""
    encoders: tuple[int, ...]
    """Which of them are encoders: a linear layer and a rectifier."""
    sizes: list[int]
    """Parameters of each child."""
    has_fractions: bool


def _plan(network: type, *names: str) -> _Plan:
    is_noisy = network is Rainbow_Policy
    kind: type[nn.Module] = NoisyLinear if is_noisy else nn.Linear
    return _Plan(
        names,
        [nn.Sequential if name in _ENCODERS else kind for name in names],
        tuple(place for place, name in enumerate(names) if name in _ENCODERS),
        [4 if is_noisy and name not in _ENCODERS else 2 for name in names],
        issubclass(network, CosineEmbedding),
    )


_PLANS: Final[dict[type, _Plan]] = {
    network: _plan(network, *names)
    for network, names in (
        (AC_IQN_model.Actor, (*_TWO_ENCODERS, *_HIDDEN, "output_layer")),
        (AC_IQN_model.Critic, (*_TWO_ENCODERS, "cos_embedding", *_VALUE)),
        (DDPG_model.Actor, (*_TWO_ENCODERS, *_HIDDEN, "output_layer")),
        (DDPG_model.Critic, (*_TWO_ENCODERS, *_VALUE)),
        (SAC_model.Actor, (*_TWO_ENCODERS, *_HIDDEN, "output_layer_mu", "output_layer_log_std")),
        (SAC_model.Critic, (*_TWO_ENCODERS, *_VALUE)),
        (DQN_Policy, (*_TWO_ENCODERS, *_HIDDEN, "output_layer")),
        (IQN_Policy, (*_TWO_ENCODERS, "cos_embedding", *_HIDDEN, "output_layer")),
        (Rainbow_Policy, (*_TWO_ENCODERS, *_STREAMS)),
    )
}
"""The networks that are computed here."""
_ENCODER: Final = [nn.Linear, nn.ReLU]

_OF_NETWORKS: Final = frozenset(
    {
        "forward",
        "observation_features",
        "hidden_features",
        "squash",
        "compute_action",
        "calc_cos",
        "reset_noise",
    }
)
_OF_LAYERS: Final = frozenset({"forward"})
_LAYERS: Final = (nn.Linear, nn.ReLU, nn.Sequential, NoisyLinear)
_FRACTIONS: Final = (32, 64)
"""To act by, and cosines of each: staging memory has room for so many."""
_SINGLE: Final = frozenset({torch.float32})

_has_global_hooks: Callable[[], bool] = torch_modules._has_any_global_hook  # noqa: SLF001  # no public name
_hooks_of = itemgetter(
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"
)
_parameters_in = itemgetter("_parameters")
_dtype_of = attrgetter("dtype")


def look_through(networks: Sequence[Any]) -> list[list[Any]] | None:
    """Return the parameters of each network in their order, or None if any network is not plain."""
    if _has_global_hooks() or not _are_own_classes(networks):
        return None
    modules: list[Any] = []
    found: list[list[Any]] = []
    for network in networks:
        plan = _PLANS.get(type(network))
        if plan is None or not (_brings_nothing(network) and _is_usual(plan, network)):
            return None
        parameters = _look_through(plan, network, modules)
        if parameters is None:
            return None
        found.append(parameters)
    is_plain = _are_silent(modules) and _are_single(list(chain.from_iterable(found)))
    return found if is_plain else None


def _are_own_classes(networks: Sequence[Any]) -> bool:
    for layer in _LAYERS:  # a generator would take twice as long
        if not is_own_class(layer, _OF_LAYERS):
            return False
    for kind in set(map(type, networks)):  # noqa: SIM110 - the same
        if not is_own_class(kind, _OF_NETWORKS):
            return False
    return True


def _brings_nothing(network: Any) -> bool:
    return vars(network).keys().isdisjoint(_OF_NETWORKS) or is_own_work(network, _OF_NETWORKS)


def _is_usual(plan: _Plan, network: Any) -> bool:
    return not plan.has_fractions or (network.K, network.n) == _FRACTIONS


def _look_through(plan: _Plan, network: Any, modules: list[Any]) -> list[Any] | None:
    """Return the parameters of a network, and add what it is made of to the modules."""
    children = network._modules  # noqa: SLF001  # a quarter of the cost of asking the module
    layers = list(children.values())
    if tuple(children) != plan.names or list(map(type, layers)) != plan.types:
        return None
    modules.append(network)
    modules += layers
    for place in plan.encoders:
        encoder = layers[place]
        inside = list(encoder._modules.values())  # noqa: SLF001
        if list(map(type, inside)) != _ENCODER or encoder._parameters or inside[1]._parameters:  # noqa: SLF001
            return None
        modules += inside
        layers[place] = inside[0]
    within = list(map(_parameters_in, map(vars, layers)))
    # A weight that is normalised or parametrized is no parameter of the layer any more.
    if list(map(len, within)) != plan.sizes:
        return None
    own = [each for each in network._parameters.values() if each is not None]  # noqa: SLF001
    return [*own, *chain.from_iterable(map(dict.values, within))]


def _are_silent(modules: list[Any]) -> bool:
    """Return whether nobody listens to modules, and they compute by the forward of their class, not compiled."""
    inside = list(map(vars, modules))
    if any(chain.from_iterable(map(_hooks_of, inside))):
        return False
    for each in inside:  # a generator would take twice as long
        if "forward" in each or each.get("_compiled_call_impl") is not None:
            return False
    return True


def _are_single(parameters: list[Any]) -> bool:
    return NoneType not in map(type, parameters) and _SINGLE.issuperset(map(_dtype_of, parameters))
