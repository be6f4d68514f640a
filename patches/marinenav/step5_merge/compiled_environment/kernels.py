"""The compiled functions with what they need besides a state, as one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled import (
    angles,
    arithmetic,
    looking,
    motion,
    noise,
    objects,
)
from patches.marinenav.step5_merge.compiled_environment.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.marinenav.step5_merge.compiled_environment.compiled.angles import Arcs
    from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import Forms
    from patches.marinenav.step5_merge.compiled_environment.memory import Lookout
    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array

ENTRIES: tuple[Any, ...] = (
    motion.advance,
    looking.look,
    noise.draw,
    arithmetic.products_of_two,
    arithmetic.products_of_three,
    angles.arcs_of,
    objects.find_places,
    objects.note,
    objects.are_as_noted,
)
"""What is called from Python, and therefore cached; the rest is part of it."""

Noted = tuple[Any, Any, Any]
_NONE: Any = np.empty(0, dtype=np.int64)
NOTHING: Noted = _NONE, _NONE, _NONE
"""No places, no words, no vectors to be read: whoever calls has read everything."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """Compiled functions that round as this machine's legacy code does."""

    forms: Forms
    arcs: Arcs
    notices_changes: bool = False
    """Whether `watching` does."""

    def watch(self, everybody: Sequence[Any], robots: Sequence[Any]) -> Watch | None:
        """Begin to watch robots; None if that is not possible."""
        if not self.notices_changes:
            return None
        try:
            watch = Watch(everybody, robots)
        except (
            Exception
        ):  # robots without something that is watched are read in full with each step
            return None
        return watch if watch.is_possible else None

    def advance(
        self,
        substeps: int,
        factor: float,
        cores: Array,
        core_radius: float,
        vessels: Array,
        coefficients: Coefficients,
        noted: Noted = NOTHING,
    ) -> int:
        """Call `motion.advance`."""
        result: int = motion.advance(
            tuple(self.forms), substeps, factor, cores, float(core_radius), vessels,
            coefficients.time_step, coefficients.factors, coefficients.drag, coefficients.response,
            *noted,
        )  # fmt: skip
        return result

    def look(
        self, in_robot_frame: bool, obstacles: int, lookout: Lookout, noted: Noted = NOTHING
    ) -> int:
        """Call `looking.look`."""
        result: int = looking.look(
            tuple(self.forms), tuple(self.arcs), 2.0, in_robot_frame, obstacles, lookout.observers,
            lookout.summary, lookout.things, lookout.own, lookout.angles, lookout.found, lookout.gaps, lookout.numbers,
            lookout.block, lookout.bounds, lookout.sights, lookout.uniforms, *noted,
        )  # fmt: skip
        return result
