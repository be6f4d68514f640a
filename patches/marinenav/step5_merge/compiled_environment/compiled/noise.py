"""Compiled: the draws of a ``numpy.random.RandomState``, from the memory of its generator.

Removes:  two calls of the generator per candidate that a robot might see
Keeps:    the stream, bit for bit, and the generator's state: words and position are those in memory

Drawing is apart from making numbers of what was drawn: what is out of sight needs the former only.

The generator is MT19937. Normals come in pairs by the polar method, and a pair is always used up here, so that
none is left over; a generator that already has one left over must not be asked (`generators.py` looks).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled

WORDS = 624
"""Length of the generator's state; the position follows it."""
_SHIFT = 397
_UPPER, _LOWER, _TWIST = np.uint64(0x80000000), np.uint64(0x7FFFFFFF), np.uint64(0x9908B0DF)
_MASK_7, _MASK_15 = np.uint64(0x9D2C5680), np.uint64(0xEFC60000)
_ONE = np.uint64(1)
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
    twist = _TWIST if mixed & _ONE else np.uint64(0)
    return np.uint64(words[third]) ^ (mixed >> _ONE) ^ twist


@compiled
def _refill(words: Any) -> None:
    for place in range(WORDS - _SHIFT):
        words[place] = _twisted(words, place, place + 1, place + _SHIFT)
    for place in range(WORDS - _SHIFT, WORDS - 1):
        words[place] = _twisted(words, place, place + 1, place + _SHIFT - WORDS)
    words[WORDS - 1] = _twisted(words, WORDS - 1, 0, _SHIFT - 1)
    words[WORDS] = 0


@compiled
def _word(words: Any) -> Any:
    if words[WORDS] >= WORDS:
        _refill(words)
    word = np.uint64(words[words[WORDS]])
    words[WORDS] += 1
    word ^= word >> np.uint64(11)
    word ^= (word << np.uint64(7)) & _MASK_7
    word ^= (word << np.uint64(15)) & _MASK_15
    return word ^ (word >> np.uint64(18))


@compiled
def uniform(words: Any) -> float:
    """Draw from [0, 1), 53 bits of two words."""
    high, low = _word(words) >> np.uint64(5), _word(words) >> np.uint64(6)
    return (np.float64(high) * 67108864.0 + np.float64(low)) / 9007199254740992.0


@compiled
def pair_in_circle(words: Any) -> tuple[float, float, float]:
    """Draw what two normals are made of: a point in the unit circle and the square of its distance."""
    while True:
        x = 2.0 * uniform(words) - 1.0
        y = 2.0 * uniform(words) - 1.0
        square = x * x + y * y
        if square < 1.0 and square != 0.0:
            return x, y, square


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


@compiled
def cosine_of_angle(words: Any, kappa: float, s: float) -> tuple[float, bool]:
    """Draw the cosine and the sign of an angle around zero; `s` is the `steepness` of `kappa`.

    Without any concentration there is no cosine: half the angle, in turns, is drawn instead.
    """
    if kappa < _FLAT:
        return uniform(words), False
    while True:
        z = math.cos(math.pi * uniform(words))
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        v = uniform(words)
        if y * (2.0 - y) - v >= 0.0 or math.log(y / v) + 1.0 - y >= 0.0:
            return w, uniform(words) < 0.5


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
def draw(address: int, kappa: float, rows: Any) -> None:
    """Fill rows with four normals and an angle each, to try the draws."""
    words = words_at(address)
    s = steepness(kappa)
    for index in range(len(rows)):
        row = rows[index]
        row[0], row[1] = two_normals(*pair_in_circle(words))
        row[2], row[3] = two_normals(*pair_in_circle(words))
        row[4] = von_mises(kappa, *cosine_of_angle(words, kappa, s))
