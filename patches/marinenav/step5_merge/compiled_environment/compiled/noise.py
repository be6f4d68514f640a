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
_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
NOWHERE = np.uint64(0)
"""No place after anything; a place and a count to begin with."""
_FLAT = 1e-8
"""Concentrations below are drawn from the whole circle alike."""
_NEARLY_FLAT = 1e-5
_STEEPEST = 1e3
"""Concentrations above leave too few digits to tell a draw's fate from its surroundings."""
_MARGIN = 1e-9
"""How far a draw has to be from the border of rejection: rounding moves that by a thousandth of it."""


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
def _draw_ahead(words: Any, block: Any, begin: Any, end: Any) -> Any:
    """Put what is left of a block first and uniforms behind it, at least one; return how many there are."""
    place, left = np.int64(begin), np.int64(end) - np.int64(begin)
    for index in range(left):
        block[index] = block[place + index]
    position: Any = np.int64(words[WORDS])
    if position == WORDS - 1:
        first = words[position]
        _refill(words)
        block[left] = _uniform(first, words[0])
        words[WORDS] = 1
        return np.uint64(left + 1)
    if position >= WORDS:
        _refill(words)
        position = 0
    pairs = min(tables.BLOCK - left, (WORDS - position) // 2)
    source, drawn = words[position:WORDS], block[left:]
    for index in range(pairs):
        drawn[index] = _uniform(source[2 * index], source[2 * index + 1])
    words[WORDS] = position + 2 * pairs
    return np.uint64(left + pairs)


@compiled
def _put_back(words: Any, place: Any, count: Any) -> None:
    """Let a generator forget what was drawn ahead in vain: never more than its memory still has."""
    words[WORDS] -= 2 * (count - place)


@inlined
def _after_pair(block: Any, place: Any, count: Any) -> Any:
    """Return the place after the next two uniforms that are a point in the unit circle; `NOWHERE` if there is none."""
    while place + _TWO <= count:
        x, y = 2.0 * block[place] - 1.0, 2.0 * block[place + _ONE] - 1.0
        place += _TWO
        square = x * x + y * y
        if square < 1.0 and square != 0.0:
            return place
    return NOWHERE


@inlined
def _after_angle(
    block: Any, place: Any, count: Any, kappa: float, s: float, bounds: Any
) -> Any:  # fmt: skip
    """Return the place after the next uniforms that are an angle: a turn and its fate, and then a sign.

    Most turns are far from the border of rejection, and `survey` tells their fate. Without any concentration there is
    a turn alone.
    """
    if kappa < _FLAT:
        return place + _ONE if place < count else NOWHERE
    while place + _TWO < count:
        turn, v = block[place], block[place + _ONE]
        place += _TWO
        part = np.uint64(np.int64(turn * tables.PARTS))
        if v <= bounds[part, 0]:
            return place + _ONE
        if v <= bounds[part, 1]:
            _, y = _fate(kappa, s, turn)
            if y * (2.0 - y) - v >= 0.0 or math.log(y / v) + 1.0 - y >= 0.0:
                return place + _ONE
    return NOWHERE


@inlined
def _after_noise(
    block: Any, place: Any, count: Any, kappa: float, s: float, bounds: Any
) -> Any:  # fmt: skip
    """Return the place after two pairs that normals are made of and an angle; `NOWHERE` if the block ends before.

    Places and counts are unsigned: numba would look whether others are negative. There is one result, because several at
    once take half as long again.

    Args:
        block: Uniforms that were drawn ahead.
        place: Where the next one is.
        count: How many there are.
        kappa: The concentration of the angle.
        s: The `steepness` of it.
        bounds: See `survey`; of this concentration, or of one that leaves everything open.
    """
    place = _after_pair(block, place, count)
    if place != NOWHERE:
        place = _after_pair(block, place, count)
        if place != NOWHERE:
            return _after_angle(block, place, count, kappa, s, bounds)
    return NOWHERE


@compiled
def _pairs_from(block: Any, place: Any, count: Any) -> Any:
    """Return the places after the pairs that are accepted from a place on, of two; `NOWHERE` for those that are not."""
    second = _after_pair(block, place, count)
    if second == NOWHERE:
        return NOWHERE, NOWHERE
    return second, _after_pair(block, second, count)


@compiled
def _draw_more(words: Any, block: Any, place: Any, count: Any) -> Any:
    """Begin a block anew with what is left from a place on, too little for all of the noise; return its length.

    What was rejected is left out, so that there is room for what is missing however much that was.
    """
    first, second = _pairs_from(block, place, count)
    if first == NOWHERE:
        place = count - (count - place & _ONE)
    elif second == NOWHERE:
        place = count - (count - first & _ONE)
        place = _moved(block, first, place)
    else:
        end = second
        if second < count:
            # The last number might be the sign of an angle that is accepted.
            end = count - _ONE - (count - second - _ONE & _ONE)
        place = _moved(block, first, _moved(block, second, end))
    return _draw_ahead(words, block, place, count)


@compiled
def _moved(block: Any, source: Any, target: Any) -> Any:
    """Move the pair before one place to the same before a later one; return where it begins."""
    block[target - _ONE], block[target - _TWO] = block[source - _ONE], block[source - _TWO]
    return target - _TWO


@compiled
def draw_for(
    words: Any, kappa: float, block: Any, bounds: Any, beyond: Any, itself: int, numbers: Any, uniforms: Any
) -> int:  # fmt: skip
    """Draw noise for all things that might be seen; note the uniforms for those that can be.

    Args:
        words: Of the generator.
        kappa: The concentration of the angles.
        block: (BLOCK,), overwritten.
        bounds: See `survey`; of this concentration, or of one that leaves everything open.
        beyond: (things,), positive for those that are out of sight.
        itself: A thing that nothing is drawn for.
        numbers: (things,), written: which can be seen.
        uniforms: (things, 6), written: two pairs for each of those, the turn and the sign of an angle.

    Returns:
        How many can be seen.
    """
    s = steepness(kappa)
    seen = 0
    end = count = NOWHERE
    for number in range(len(beyond)):
        if number == itself:
            continue
        place = end
        while True:
            end = _after_noise(block, place, count, kappa, s, bounds)
            if end != NOWHERE:
                break
            count = _draw_more(words, block, place, count)
            place = NOWHERE
        if beyond[number] > 0.0:
            continue
        numbers[seen] = number
        first, second = _pairs_from(block, place, count)
        row = uniforms[seen]
        row[0], row[1] = block[first - _TWO], block[first - _ONE]
        row[2], row[3] = block[second - _TWO], block[second - _ONE]
        row[4], row[5] = block[end - _TWO - _ONE], block[end - _ONE]
        seen += 1
    _put_back(words, end, count)
    return seen


@compiled
def two_normals(one: float, other: float) -> tuple[float, float]:
    """Make standard normals of a pair of uniforms, in the order in which single draws would give them."""
    x, y = 2.0 * one - 1.0, 2.0 * other - 1.0
    square = x * x + y * y
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


@compiled
def _fate(kappa: float, s: float, turn: float) -> Any:
    """Return what tells the fate of a draw of half a turn: the wrapped Cauchy cosine, and what is made of it."""
    z = math.cos(math.pi * turn)
    w = (1.0 + s * z) / (s + z)
    return w, kappa * (s - w)


@compiled
def survey(kappa: float, bounds: Any) -> None:
    """Note for each part of half a turn below what a draw is accepted and above what it is rejected.

    Accepted are numbers up to ``y * exp(1 - y)``, which rises until ``y`` is one and then falls, and ``y`` rises
    with the turn.

    Args:
        kappa: The concentration.
        bounds: (PARTS + 1, 2), written; the last row begins with the concentration.
    """
    bounds[tables.PARTS, 0] = kappa
    s = steepness(kappa)
    is_known = _FLAT <= kappa <= _STEEPEST
    _, before = _fate(kappa, s, 0.0)
    for part in range(tables.PARTS):
        _, y = _fate(kappa, s, (part + 1.0) / tables.PARTS)
        one, other = before * math.exp(1.0 - before), y * math.exp(1.0 - y)
        highest = 1.0 if before <= 1.0 <= y else max(one, other)
        bounds[part, 0] = min(one, other) - _MARGIN if is_known else -1.0
        bounds[part, 1] = highest + _MARGIN if is_known else 2.0
        before = y


@compiled
def von_mises(kappa: float, s: float, turn: float, sign: float) -> float:
    """Make an angle of the uniforms that were drawn for it; `s` is the `steepness` of `kappa`."""
    if kappa < _FLAT:
        return math.pi * (2.0 * sign - 1.0)
    cosine, _ = _fate(kappa, s, turn)
    # The remainder of a number below twice the divisor, which is exact.
    angle = math.acos(cosine)
    turned = angle + math.pi
    if turned >= 2.0 * math.pi:
        turned -= 2.0 * math.pi
    is_negative = sign < 0.5 and angle > 0.0
    return -(turned - math.pi) if is_negative else turned - math.pi


@compiled
def draw(address: int, kappa: float, block: Any, bounds: Any, rows: Any) -> None:
    """Fill rows with four normals and an angle each, to try the draws."""
    survey(kappa, bounds)
    numbers, uniforms = np.empty(len(rows), dtype=np.int64), np.empty((len(rows), 6))
    draw_for(words_at(address), kappa, block, bounds, np.zeros(len(rows)), -1, numbers, uniforms)
    s = steepness(kappa)
    for index in range(len(rows)):
        row, drawn = rows[index], uniforms[index]
        row[0], row[1] = two_normals(drawn[0], drawn[1])
        row[2], row[3] = two_normals(drawn[2], drawn[3])
        row[4] = von_mises(kappa, s, drawn[4], drawn[5])
