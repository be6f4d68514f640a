"""Rows of states on the device, taken apart into what networks look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from patches.marinenav.rows import OBJECT, OBJECTS, OWN, SEEN, STATE

if TYPE_CHECKING:
    from torch import Tensor


class Observation(NamedTuple):
    """What robots see, ready for the encoders."""

    own: Tensor
    """``[B, 7]`` as one batch, ``[B, 1, 7]`` as robots of their own: see `patches.blocks.row_products`."""
    objects: Tensor | None
    """``[B * 5, 5]`` or ``[B, 5, 5]``; None if no robot of the batch sees any, as legacy has it: the encoder
    of objects then gets no gradient at all, and its optimizer state stays as it is."""
    absent: Tensor | None
    """``[B, 5, 1]``, true for rows that hold no object."""


def observation_of(rows: Tensor, has_objects: bool) -> Observation:
    """Take rows of 37 numbers apart; matrix products get operands of their own, as in legacy."""
    own = rows[:, :OWN].contiguous()
    if not has_objects:
        return Observation(own, None, None)
    objects = rows[:, OWN : OWN + SEEN].reshape(-1, SEEN // OBJECTS)
    absent = rows[:, OWN + SEEN : STATE].unsqueeze(-1) < 0.5
    return Observation(own, objects, absent)


def joined(seen: Observation) -> Observation:
    """Robots of their own as one batch, whose products are made at once and round as they like."""
    objects = None if seen.objects is None else seen.objects.flatten(0, 1)
    return Observation(seen.own.flatten(0, 1), objects, seen.absent)


def as_tensors(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Own states, objects and masks of rows, as the legacy networks take them."""
    objects = rows[:, OWN : OWN + SEEN].contiguous().view(-1, OBJECTS, OBJECT)
    return rows[:, :OWN].contiguous(), objects, rows[:, OWN + SEEN : STATE].contiguous()
