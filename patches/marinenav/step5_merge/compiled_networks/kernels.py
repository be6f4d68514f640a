"""What compiled code offers: answers of networks, and how losses change with their parameters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from patches.marinenav.step5_merge.compiled_networks.compiled import (
    atoms,
    losses,
    priorities,
    rows,
    runner,
    sampling,
)
from patches.marinenav.step5_merge.compiled_networks.compiled.quantile_slopes import quantile_slopes
from patches.marinenav.step5_merge.compiled_networks.programs import HALVES, Asked, Program, begins
from patches.marinenav.step5_merge.compiled_networks.reference import Reference
from patches.marinenav.step5_merge.compiled_networks.tapes.memory import BYTES
from patches.marinenav.step5_merge.compiled_networks.tapes.network import Network
from patches.marinenav.step5_merge.compiled_networks.trying import about_equal, agree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.blocks.companion import Companion
    from patches.marinenav.observations import Observation
    from patches.marinenav.step5_merge.compiled_networks.kinds import Kind

ENTRIES: tuple[Any, ...] = (
    runner.run, runner.mix, quantile_slopes,
    sampling.draw, sampling.squash, sampling.log_probs, sampling.sample_slopes,
    atoms.spread_noise, atoms.project, rows.observe, rows.copy_columns,
    rows.pick, rows.put, rows.earn,
    priorities.find, priorities.are_valid, priorities.look_ahead, priorities.update,
    losses.squared, losses.smooth, losses.lower_of_two,
)  # fmt: skip
"""What is called from Python, and therefore cached."""


NOTHING, PARAMETERS, LAST_INPUT = "nothing", "parameters", "last input"
"""What slopes are wanted of."""


class Sizes(NamedTuple):
    """Of what a network is asked about."""

    batch: int
    fractions: int = 1
    groups: int = 0
    """How many batches are each answered as if they were alone; none if there is one batch."""


_TRIED_GROUPS: Final = 64
"""A program for groups answers any number of them, one after the other in the same memory: it is tried with so many."""


def seen_by(observation: Observation) -> tuple[Tensor, Tensor, Tensor]:
    """What networks are given of an observation with objects."""
    own, objects, absent = observation
    assert objects is not None, "without objects there are other gradients"
    assert absent is not None, "objects come with their mask"
    return own, objects, absent


class Kernels:
    """Compiled functions that round as this machine's torch does.

    Args:
        lanes: Numbers that torch adds up side by side.
        companion: Computes half of each batch, sums of which are then torch's but for rounding.
    """

    def __init__(self, lanes: int, companion: Companion | None = None) -> None:
        self.lanes, self.companion = lanes, companion
        self._programs: dict[Any, Asked] = {}

    def answer(
        self, kind: Kind, parameters: Sequence[Tensor], inputs: Sequence[Tensor], sizes: Sizes
    ) -> list[Tensor]:
        """What a network makes of inputs; nothing is kept for a way back."""
        program = self._program(kind, parameters, sizes, NOTHING)
        outputs, space = program.forward((*parameters, *inputs), sizes.groups)
        program.give_back(space)
        return outputs

    def learn(
        self,
        kind: Kind,
        parameters: Sequence[Tensor],
        inputs: Sequence[Tensor],
        sizes: Sizes,
        wanted: str,
    ) -> Answer:
        """The same, with the way back to slopes of parameters, or of the input that was given last."""
        program = self._program(kind, parameters, sizes, wanted)
        tensors = (*parameters, *inputs)
        return Answer(program, tensors, len(parameters), *program.forward(tensors))

    def mix(
        self,
        targets: Sequence[Tensor],
        means: Sequence[Tensor],
        deviations: Sequence[Tensor],
        noises: Sequence[Tensor],
    ) -> None:
        """Write means plus deviations times noise to targets."""
        addresses = np.array([begins(each) for each in (targets, means, deviations, noises)])
        lengths = np.array(list(map(Tensor.numel, means)))
        if self.companion is None:
            runner.mix(addresses, lengths)
            return
        half = lengths // 2
        rest = addresses + BYTES * half
        self.companion.share(
            partial(runner.mix, addresses, half), partial(runner.mix, rest, lengths - half)
        )

    def quantile_slopes(
        self, targets: Tensor, quantiles: Tensor, taus: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The quantile Huber loss, and how it changes with quantiles ``[B, T]``; targets are ``[B, 1, M]``."""
        batch, count = targets.shape[0], targets.shape[-1]
        slopes = torch.empty_like(quantiles)
        loss = torch.empty((), dtype=torch.float32, device="cpu")
        # Means are divided one after the other, the last one first.
        part = np.float32(1.0) / np.float32(batch) / np.float32(count)
        quantile_slopes(
            targets.view(batch, count).numpy(), quantiles.numpy(), taus.view_as(quantiles).numpy(),
            part, self.lanes, slopes.numpy(), loss.view(1).numpy(),
        )  # fmt: skip
        return loss, slopes

    def _program(
        self, kind: Kind, parameters: Sequence[Tensor], sizes: Sizes, wanted: str
    ) -> Asked:
        shapes = tuple([each.shape for each in parameters[::2]])
        key = (kind, shapes, *sizes[:2], sizes.groups > 0, wanted, torch.get_num_threads())
        found = self._programs.get(key)
        if found is None:
            if sizes.groups:
                sizes = sizes._replace(groups=_TRIED_GROUPS)
            found = self._programs[key] = self.tried(kind, shapes, sizes, wanted)
        return found

    def tried(
        self, kind: Kind, shapes: Sequence[tuple[int, ...]], sizes: Sizes, wanted: str
    ) -> Asked:
        """A program if it gives torch's bits for these shapes, else torch itself."""
        network = _drawn(kind, shapes, sizes)
        slots = _slots(network, wanted)
        reference = Reference(network, slots)
        if not network.fits:
            return reference
        is_halved = self.companion is not None and _can_be_halved(sizes)
        program = (
            self._in_halves(kind, shapes, sizes, wanted)
            if is_halved
            else Program(network, slots, self.lanes)
        )
        is_right = agree(
            program, reference, network, sizes.groups,
            learns=wanted != NOTHING, are_same=about_equal if is_halved else torch.equal,
        )  # fmt: skip
        return program if is_right else reference

    def _in_halves(
        self, kind: Kind, shapes: Sequence[tuple[int, ...]], sizes: Sizes, wanted: str
    ) -> Program:
        halves = sizes._replace(batch=sizes.batch // 2, groups=HALVES)
        network = _drawn(kind, shapes, halves)
        return Program(network, _slots(network, wanted), self.lanes, self.companion)


_MANY_ROWS: Final = 256
"""As of which two threads are quicker than one."""


def _can_be_halved(sizes: Sizes) -> bool:
    is_long = sizes.batch * sizes.fractions >= _MANY_ROWS
    return not sizes.groups and sizes.batch % HALVES == 0 and is_long


def _drawn(kind: Kind, shapes: Sequence[tuple[int, ...]], sizes: Sizes) -> Network:
    network = Network(zip(kind.layers, shapes, strict=True), is_grouped=sizes.groups > 0)
    kind.draw(network, sizes.batch, sizes.fractions)
    return network


def _slots(network: Network, wanted: str) -> frozenset[int]:
    if wanted == NOTHING:
        return frozenset()
    if wanted == PARAMETERS:
        return frozenset(network.parameters)
    return frozenset(network.given[-1:])


class Answer:
    """What a network said, and what is needed to learn from it; once."""

    def __init__(
        self,
        program: Asked,
        tensors: Sequence[Tensor],
        parameters: int,
        outputs: list[Tensor],
        space: Any,
    ) -> None:
        self.parameters = list(tensors[:parameters])
        self.outputs = outputs
        self._program, self._tensors, self._space = program, tensors, space

    def slopes(self, *slopes: Tensor) -> list[Tensor]:
        """How a loss changes with what is wanted, for how it changes with the outputs."""
        found = self._program.backward(self._tensors, slopes, self._space)
        self._program.give_back(self._space)
        return found
