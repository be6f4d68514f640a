"""Robot states and transitions as fixed rows of float32, written without making tensors.

A state is 37 numbers: own state 7, objects 5 x 5, mask 5. A transition is 78: state, next state, action (one
or two numbers), reward, done. Doubles are rounded to float32 once, here, as legacy does when it makes tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

OWN: Final = 7
OBJECTS: Final = 5
OBJECT: Final = 5
SEEN: Final = OBJECTS * OBJECT
STATE: Final = OWN + SEEN + OBJECTS
ACTION: Final = 2 * STATE
REWARD: Final = ACTION + 2
DONE: Final = REWARD + 1
TRANSITION: Final = DONE + 1

_FILLING: Final = tuple(
    [0.0] * (OBJECT * (OBJECTS - seen)) + [1.0] * seen + [0.0] * (OBJECTS - seen)
    for seen in range(OBJECTS + 1)
)
"""What follows the observed objects in a row: zero objects, then the mask."""
_ABSENT: Final = [0.0] * STATE


def state_rows(states: Iterable[Any], out: Floats) -> None:
    """Write one row per state; a deactivated robot, which has none, becomes zeros."""
    flat: list[Any] = []
    for state in states:
        _add(state, flat)
    _write(flat, out)


def transition_rows(transitions: Sequence[tuple[Any, ...]], out: Floats) -> None:
    """Write one row per (state, action, reward, next state, done)."""
    flat: list[Any] = []
    for state, action, reward, next_state, done in transitions:
        _add(state, flat)
        _add(next_state, flat)
        if isinstance(action, (list, tuple, np.ndarray)):
            flat += (action[0], action[1])
        else:
            flat += (action, 0.0)
        flat += (reward, done)
    _write(flat, out)


def _add(state: Any, flat: list[Any]) -> None:
    own, seen = state
    if own is None:
        flat += _ABSENT
        return
    flat += own
    for item in seen:
        flat += item
    flat += _FILLING[len(seen)]


def _write(flat: list[Any], out: Floats) -> None:
    """Write numbers to rows, as doubles first: that takes an eighth of the time."""
    values: Any
    try:
        values = np.fromiter(flat, np.float64, len(flat))
    except Exception:  # numpy says best what is wrong when it is given the list
        values = flat
    out.reshape(-1)[:] = values


def sees_objects(transitions: Iterable[tuple[Any, ...]]) -> list[bool]:
    """Whether the robot of each transition saw anything before it acted."""
    return [bool(state[1]) for state, *_ in transitions]


def as_state(row: Floats) -> tuple[list[float], list[list[float]]]:
    """A state as the legacy memories hand it out."""
    mask = row[OWN + SEEN : STATE]
    objects = row[OWN : OWN + SEEN].reshape(OBJECTS, OBJECT)
    return row[:OWN].tolist(), objects[mask > 0.5].tolist()
