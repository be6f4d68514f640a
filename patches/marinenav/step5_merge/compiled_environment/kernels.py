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
)

if TYPE_CHECKING:
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
)
"""What is called from Python, and therefore cached; the rest is part of it."""

_SCRATCH_ROWS = 36
"""Of four numbers each, besides one per core."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """Compiled functions that round as this machine's legacy code does."""

    forms: Forms
    arcs: Arcs

    def advance(
        self,
        substeps: int,
        factor: float,
        cores: Array,
        core_radius: float,
        vessels: Array,
        coefficients: Coefficients,
    ) -> int:
        """Call `motion.advance`."""
        result: int = motion.advance(
            tuple(self.forms), substeps, factor, cores, float(core_radius), vessels,
            coefficients.time_step, coefficients.factors, coefficients.drag, coefficients.response,
            np.empty((len(cores) + _SCRATCH_ROWS, 4)),
        )  # fmt: skip
        return result

    def look(self, in_robot_frame: bool, obstacles: int, lookout: Lookout) -> int:
        """Call `looking.look`."""
        result: int = looking.look(
            tuple(self.forms), tuple(self.arcs), 2.0, in_robot_frame, obstacles, lookout.observers,
            lookout.summary, lookout.things, lookout.own, lookout.angles, lookout.found, lookout.gaps, lookout.numbers,
            lookout.block, lookout.bounds, lookout.sights, lookout.uniforms,
        )  # fmt: skip
        return result
