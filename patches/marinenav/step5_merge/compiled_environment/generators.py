"""What compiled code may draw from: generators whose memory it knows, with no normal left over.

`RandomState` keeps the second normal of a pair for the next draw, out of reach. Asking for it means copying the
whole state, a hundred times as slow as a draw. So it is asked once per generator; from then on the generator's
first word and position tell whether anybody else has drawn from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from patches.marinenav.step5_merge.compiled_environment import tables

Integers = npt.NDArray[np.int64]

_COLUMNS = slice(tables.ADDRESS, tables.POSITION + 1)


class Generators:
    """The generators of an environment's robots, as far as they are known."""

    def __init__(self) -> None:
        self._owners: list[Any] = []
        self._rows = np.empty((0, 3), dtype=np.int64)

    def enter(self, generators: list[Any], places: list[int], robots: int, summary: Integers) -> bool:
        """Write address, word and position of generators to the first columns of a summary.

        Args:
            generators: Those of the active robots.
            places: The places of these robots among all.
            robots: How many there are.
            summary: What to write to, one row per generator.

        Returns:
            Whether all may be drawn from.
        """
        if len(self._owners) != robots:
            self._owners = [None] * robots
            self._rows = np.empty((robots, 3), dtype=np.int64)
        owners = self._owners
        for generator, place in zip(generators, places, strict=True):
            if owners[place] is not generator and not self._learn(generator, place):
                return False
        summary[:, _COLUMNS] = self._rows if len(places) == robots else self._rows[places]
        return True

    def learn_again(self, generators: list[Any], places: list[int], summary: Integers) -> bool:
        """Do the same after somebody else has drawn."""
        for generator, place in zip(generators, places, strict=True):
            if not self._learn(generator, place):
                return False
        summary[:, _COLUMNS] = self._rows[places]
        return True

    def keep(self, places: list[int], summary: Integers) -> None:
        """Take over words and positions after draws."""
        self._rows[places] = summary[:, _COLUMNS]

    def _learn(self, generator: Any, place: int) -> bool:
        self._owners[place] = None
        bit_generator = generator._bit_generator  # noqa: SLF001 - RandomState has no public name for it
        if type(bit_generator) is not np.random.MT19937:
            return False
        state = generator.get_state(legacy=False)
        if state["has_gauss"]:
            return False
        address = bit_generator.ctypes.state_address
        self._rows[place] = address, state["state"]["key"][0], state["state"]["pos"]
        self._owners[place] = generator
        return True
