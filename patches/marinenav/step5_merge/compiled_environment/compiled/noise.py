"""Compiled: the draws of a ``numpy.random.RandomState``, from the memory of its generator.

Removes:  two calls of the generator per candidate that a robot might see
Keeps:    the stream, bit for bit, and the generator's state: words and position are those in memory

Drawing is apart from making numbers of what was drawn: what is out of sight needs the former only. Uniforms are
made ahead in blocks, and those that nobody wanted put back in the end.

The generator is MT19937. Normals come in pairs by the polar method, and a pair is always used up here, so that
none is left over; a generator that already has one left over must not be asked (`generators.py` looks).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import (
    compiled,
    inlined,
)

WORDS = 624
"""Length of the generator's state; the position follows it."""
_SHIFT = 397
_UPPER, _LOWER, _TWIST = np.uint64(0x80000000), np.uint64(0x7FFFFFFF), np.uint64(0x9908B0DF)
_MASK_7, _MASK_15 = np.uint64(0x9D2C5680), np.uint64(0xEFC60000)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_FLAT = 1e-8
"""Concentrations below are drawn from the whole circle alike."""
_NEARLY_FLAT = 1e-5


def _as_pointer(_context: Any, _address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.uint32)(types.int64), generate


_pointer: Any = intrinsic(_as_pointer)


@compiled
def words_at(address: int) -> Any:
    """View the words of a generator and, as the last one, its position."""
    return carray(_pointer(address), (WORDS + 1,))


@compiled
def _twisted(words: Any, first: int, second: int, third: int) -> Any:
    mixed = (np.uint64(words[first]) & _UPPER) | (np.uint64(words[second]) & _LOWER)
    return np.uint64(words[third]) ^ (mixed >> _ONE) ^ ((_ZERO - (mixed & _ONE)) & _TWIST)


@compiled
def _refill(words: Any) -> None:
    for place in range(WORDS - _SHIFT):
        words[place] = _twisted(words, place, place + 1, place + _SHIFT)
    # Counted from zero: what might be negative is not computed several at a time.
    for place in range(_SHIFT - 1):
        behind = place + WORDS - _SHIFT
        words[behind] = _twisted(words, behind, behind + 1, place)
    words[WORDS - 1] = _twisted(words, WORDS - 1, 0, _SHIFT - 1)
    words[WORDS] = 0


@compiled
def _tempered(word: Any) -> Any:
    word = np.uint64(word)
    word ^= word >> np.uint64(11)
    word ^= (word << np.uint64(7)) & _MASK_7
    word ^= (word << np.uint64(15)) & _MASK_15
    return word ^ (word >> np.uint64(18))


@compiled
def _uniform(first: Any, second: Any) -> float:
    """Make a number in [0, 1) of 53 bits of two words."""
    high, low = _tempered(first) >> np.uint64(5), _tempered(second) >> np.uint64(6)
    return (
        np.float64(np.int32(high)) * 67108864.0 + np.float64(np.int32(low))
    ) / 9007199254740992.0


@compiled
def _draw_ahead(words: Any, block: Any, place: int, count: int) -> Any:
    """Put what is left of a block first and uniforms behind it, at least one; return how many there are."""
    left = count - place
    for index in range(left):
        block[index] = block[place + index]
    position: Any = np.int64(words[WORDS])
    if position == WORDS - 1:
        first = words[position]
        _refill(words)
        block[left] = _uniform(first, words[0])
        words[WORDS] = 1
        return left + 1
    if position >= WORDS:
        _refill(words)
        position = 0
    pairs = min(tables.BLOCK - left, (WORDS - position) // 2)
    source, drawn = words[position:WORDS], block[left:]
    for index in range(pairs):
        drawn[index] = _uniform(source[2 * index], source[2 * index + 1])
    words[WORDS] = position + 2 * pairs
    return left + pairs


@compiled
def put_back(words: Any, place: int, count: int) -> None:
    """Let a generator forget what was drawn ahead in vain: never more than its memory still has."""
    words[WORDS] -= 2 * (count - place)


@inlined
def pair_in_circle(words: Any, block: Any, place: int, count: int) -> Any:
    """Draw what two normals are made of: a point in the unit circle and the square of its distance.

    Uniforms are taken from a block of them, from a place on; the new place and the block's new length follow.
    """
    while True:
        while count - place < 2:
            count = _draw_ahead(words, block, place, count)
            place = 0
        x = 2.0 * block[place] - 1.0
        y = 2.0 * block[place + 1] - 1.0
        place += 2
        square = x * x + y * y
        if square < 1.0 and square != 0.0:
            return x, y, square, place, count


@compiled
def two_normals(x: float, y: float, square: float) -> tuple[float, float]:
    """Make standard normals of a pair, in the order in which single draws would give them."""
    factor = math.sqrt(-2.0 * math.log(square) / square)
    return factor * y, factor * x


@compiled
def steepness(kappa: float) -> float:
    """Return the parameter of the wrapped Cauchy distribution that von Mises draws are rejected from."""
    if kappa < _FLAT:
        return 0.0
    if kappa < _NEARLY_FLAT:
        return 1.0 / kappa + kappa
    root = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
    rho = (root - math.sqrt(2.0 * root)) / (2.0 * kappa)
    return (1.0 + rho * rho) / (2.0 * rho)


@inlined
def cosine_of_angle(
    words: Any, block: Any, place: int, count: int, kappa: float, s: float
) -> Any:  # fmt: skip
    """Draw the cosine and the sign of an angle around zero; `s` is the `steepness` of `kappa`.

    Without any concentration there is no cosine: half the angle, in turns, is drawn instead. The block's new
    place and length follow, as in `pair_in_circle`.
    """
    if kappa < _FLAT:
        if count == place:
            count = _draw_ahead(words, block, place, count)
            place = 0
        return block[place], False, place + 1, count
    while True:
        while count - place < 2:
            count = _draw_ahead(words, block, place, count)
            place = 0
        z = math.cos(math.pi * block[place])
        v = block[place + 1]
        place += 2
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        if y * (2.0 - y) - v >= 0.0 or math.log(y / v) + 1.0 - y >= 0.0:
            break
    if count == place:
        count = _draw_ahead(words, block, place, count)
        place = 0
    return w, block[place] < 0.5, place + 1, count


@compiled
def von_mises(kappa: float, cosine: float, is_negative: bool) -> float:
    """Make an angle of what was drawn."""
    if kappa < _FLAT:
        return math.pi * (2.0 * cosine - 1.0)
    # The remainder of a number below twice the divisor, which is exact.
    angle = math.acos(cosine)
    turned = angle + math.pi
    if turned >= 2.0 * math.pi:
        turned -= 2.0 * math.pi
    return -(turned - math.pi) if is_negative and angle > 0.0 else turned - math.pi


@compiled
def draw(address: int, kappa: float, block: Any, rows: Any) -> None:
    """Fill rows with four normals and an angle each, to try the draws."""
    words = words_at(address)
    s = steepness(kappa)
    place = count = 0
    for index in range(len(rows)):
        row = rows[index]
        x, y, square, place, count = pair_in_circle(words, block, place, count)
        row[0], row[1] = two_normals(x, y, square)
        x, y, square, place, count = pair_in_circle(words, block, place, count)
        row[2], row[3] = two_normals(x, y, square)
        cosine, is_negative, place, count = cosine_of_angle(words, block, place, count, kappa, s)
        row[4] = von_mises(kappa, cosine, is_negative)
    put_back(words, place, count)
