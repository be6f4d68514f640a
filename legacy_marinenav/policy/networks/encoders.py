"""What the networks of all agents share: observation features, cosine features and checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn

from legacy_marinenav.errors import ModelDirectoryError

State = tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]
"""Own state ``[B, 7]``, objects ``[B, 5, 5]`` and their mask ``[B, 5]``; no objects at all is None, None."""

COSINES = 64


def encoder(input_dimension: int, output_dimension: int) -> nn.Sequential:
    """A linear layer followed by a ReLU."""
    return nn.Sequential(nn.Linear(input_dimension, output_dimension), nn.ReLU())


class ObservationEncoder(nn.Module):
    """Base of every network: seeds torch, then builds the encoders of the observation.

    Constructing a network reseeds torch's default generator, so equal seeds give equal weights. Subclasses
    add their layers after calling this constructor; the order of creation is the order of the draws.
    """

    FILE_STEM: ClassVar[str] = ""
    """What the checkpoint's file names start with."""
    OWN_PARAMETERS: ClassVar[tuple[str, ...]] = ()
    """Constructor arguments of the subclass that a checkpoint needs, between the dimensions and the seed."""

    DIMENSIONS: ClassVar[tuple[str, ...]] = (
        "self_dimension",
        "object_dimension",
        "max_object_num",
        "self_feature_dimension",
        "object_feature_dimension",
        "concat_feature_dimension",
        "hidden_dimension",
    )

    def __init__(
        self,
        self_dimension: int,
        object_dimension: int,
        max_object_num: int,
        self_feature_dimension: int,
        object_feature_dimension: int,
        concat_feature_dimension: int,
        hidden_dimension: int,
        device: str,
        seed: int,
    ) -> None:
        super().__init__()
        self.self_dimension = self_dimension
        self.object_dimension = object_dimension
        self.max_object_num = max_object_num
        self.self_feature_dimension = self_feature_dimension
        self.object_feature_dimension = object_feature_dimension
        self.concat_feature_dimension = concat_feature_dimension
        self.hidden_dimension = hidden_dimension
        self.device = device
        self.seed_id = seed
        self.seed = torch.manual_seed(seed)

        self.self_encoder = encoder(self_dimension, self_feature_dimension)
        self.object_encoder = encoder(object_dimension, object_feature_dimension)

    def observation_features(self, state: State) -> torch.Tensor:
        """Features of own state and objects side by side, ``[B, 256]``; absent objects count as zeros."""
        assert len(state) == 3, "A state is (own state, objects, object mask)."
        self_states, object_states, object_mask = state
        batch_size = self_states.shape[0]
        self_features = self.self_encoder(self_states)
        if object_states is None:
            width = self.max_object_num * self.object_feature_dimension
            object_features = torch.zeros((batch_size, width)).to(self.device)
        else:
            objects = object_states.view(batch_size * self.max_object_num, self.object_dimension)
            object_features = self.object_encoder(objects)
            object_features = object_features.view(batch_size, self.max_object_num, -1)
            is_absent = object_mask.view(batch_size, self.max_object_num, 1) < 0.5
            object_features = object_features.masked_fill(is_absent, 0.0)
            object_features = object_features.view(batch_size, -1)
        return torch.cat((self_features, object_features), 1)

    def get_constructor_parameters(self) -> dict[str, Any]:
        """The arguments that build this network again, in the order the constructor takes them."""
        names = (*self.DIMENSIONS, *self.OWN_PARAMETERS)
        return {**{name: getattr(self, name) for name in names}, "seed": self.seed_id}

    def save(self, directory: str | Path) -> None:
        """Write the weights and the constructor arguments."""
        save_network(self, directory, *checkpoint_files(self.FILE_STEM))

    @classmethod
    def load(cls, directory: str | Path, device: str = "cpu") -> Self:
        """Build the network from what `save` wrote; reseeds torch with the stored seed."""
        return load_network(cls, directory, device, *checkpoint_files(cls.FILE_STEM))


class CosineEmbedding:
    """Mixin for networks that answer for sampled quantiles."""

    K = 32
    n = COSINES

    def make_cosine_constants(self) -> None:
        """Multiples of pi, kept out of the state dict; draws nothing."""
        multiples = [np.pi * i for i in range(self.n)]
        self.pis = torch.FloatTensor(multiples).view(1, 1, self.n).to(self.device)

    def calc_cos(
        self, batch_size: int, num_tau: int = 8, cvar: float = 1.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw quantile fractions on the host and return their cosines ``[B, T, 64]`` and themselves ``[B, T, 1]``."""
        taus = torch.rand(batch_size, num_tau).to(self.device).unsqueeze(-1)
        taus = taus * cvar
        cos = torch.cos(taus * self.pis)
        assert cos.shape == (batch_size, num_tau, self.n), "cos shape is incorrect"
        return cos, taus


def checkpoint_files(stem: str) -> tuple[str, str]:
    """Names of the weights file and of the constructor arguments file."""
    return f"{stem}network_params.pth", f"{stem}constructor_params.json"


def save_network(
    network: ObservationEncoder, directory: str | Path, weights: str, parameters: str
) -> None:
    """Write the state dict and the constructor arguments under the given names."""
    torch.save(network.state_dict(), Path(directory) / weights)
    with (Path(directory) / parameters).open("w") as file:
        json.dump(network.get_constructor_parameters(), file)


def load_network(
    network_class: type[ObservationEncoder],
    directory: str | Path,
    device: str,
    weights: str,
    parameters: str,
) -> Any:
    """Build a network from the two files of a checkpoint.

    Raises:
        ModelDirectoryError: A file is missing or unreadable, or holds another kind of network.
    """
    directory = Path(directory)
    for name in (weights, parameters):
        if not (directory / name).is_file():
            raise ModelDirectoryError(
                directory, f"there is no file {name}; needed: {weights}, {parameters}"
            )
    try:
        arguments = json.loads((directory / parameters).read_text())
    except (OSError, ValueError) as error:
        raise ModelDirectoryError(
            directory, f"{parameters} is not JSON ({_first_line(error)})"
        ) from error
    try:
        state = torch.load(directory / weights, map_location=device, weights_only=True)
    except Exception as error:  # whatever its zip and pickle readers raise on a damaged file
        raise ModelDirectoryError(
            directory, f"{weights} cannot be read ({_first_line(error)})"
        ) from error
    kind = f"{network_class.__module__.rpartition('.')[2]}.{network_class.__name__}"
    try:
        network = network_class(**arguments, device=device)
        network.load_state_dict(state)
    except (TypeError, ValueError, AttributeError, RuntimeError) as error:
        problem = f"{weights} and {parameters} do not describe a {kind} ({_first_line(error)})"
        raise ModelDirectoryError(directory, problem) from error
    return network.to(device)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(":")
