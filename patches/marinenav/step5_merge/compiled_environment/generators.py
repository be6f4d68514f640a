"""What compiled code may draw from: generators whose memory it knows, with no normal left over.

`RandomState` keeps the second normal of a pair for the next draw, out of reach. Asking for it means copying the
whole state, a hundred times as slow as a draw. So it is asked once per generator; from then on the generator's
first word and position, which compiled code notes after its draws, tell whether anybody else has drawn from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_COLUMNS = slice(tables.ADDRESS, tables.POSITION + 1)


def enter(generators: Sequence[Any], summary: npt.NDArray[np.int64], known: dict[int, Any]) -> bool:
    """Write addresses, first words and positions to the summary of those who draw.

    Args:
        generators: One for each row of the summary.
        summary: See `tables`.
        known: Such rows by the identity of their generator, as far as they are known; the generators are alive.

    Returns:
        Whether all may be drawn from.
    """
    for generator, row in zip(generators, summary, strict=True):
        numbers = known.get(id(generator))
        if numbers is None:
            numbers = _learn(generator)
            if numbers is None:
                return False
        row[_COLUMNS] = numbers
    return True


def noted(generators: Sequence[Any], summary: npt.NDArray[np.int64]) -> dict[int, Any]:
    """Return what a summary has noted, as `enter` wants it."""
    rows = summary[: len(generators), _COLUMNS].tolist()
    return dict(zip(map(id, generators), rows, strict=True))


def _learn(generator: Any) -> tuple[int, int, int] | None:
    bit_generator = generator._bit_generator  # noqa: SLF001 - RandomState has no public name for it
    if type(bit_generator) is not np.random.MT19937:
        return None
    state = generator.get_state(legacy=False)
    if state["has_gauss"]:
        return None
    words = state["state"]
    return bit_generator.ctypes.state_address, int(words["key"][0]), int(words["pos"])
