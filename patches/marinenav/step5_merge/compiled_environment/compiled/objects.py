"""Compiled: what CPython and numpy keep about objects, dictionaries, lists and arrays, read where they keep it.

CPython 3.11 counts all changes of all dictionaries, and notes in each what the count was at its last one. So whether
anybody has given an object another attribute is one word to look at. `watching.py` tries whether that holds.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types
from numba.extending import intrinsic

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled

HEAD: Final = object.__basicsize__
"""Bytes that all objects begin with: count of references, then type."""
_TYPE: Final = 8
_DICTIONARY: Final = -24
"""Where an object's own dictionary is, once somebody has asked for it."""
_VERSION: Final = HEAD + 8
_SIZE, _ITEMS = HEAD, HEAD + 8
"""Of a list."""
_NUMBERS, _AXES, _SHAPE, _STRIDES, _KIND = HEAD, HEAD + 8, HEAD + 16, HEAD + 24, HEAD + 40
"""Of an array."""
_AXES_MASK: Final = 0xFFFFFFFF
MATRIX: Final = 9
TAGS, OBJECT_WORDS, LIST_WORDS, MATRIX_WORDS = 1, 2, 5, 6 + 4 + MATRIX
"""Words to note: of a dictionary, of its owner, of a list of two, of a 3x3 matrix."""


def _reading(result: Any) -> Any:
    def read(_context: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = context.get_value_type(signature.return_type).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], kind))

        return result(types.int64), generate

    return intrinsic(read)


_word_at: Any = _reading(types.int64)
_number_at: Any = _reading(types.float64)


@compiled
def are_as_noted(places: Any, words: Any) -> bool:
    """Return whether memory still has the words that were noted; places that others lead to come after those."""
    for index in range(len(places)):  # noqa: SIM110 - numba compiles no generators
        if _word_at(places[index]) != words[index]:
            return False
    return True


@compiled
def note(places: Any, words: Any) -> None:
    """Write down what memory has."""
    for index in range(len(places)):
        words[index] = _word_at(places[index])


@compiled
def find_places(owners: Any, dictionaries: Any, lists: Any, matrices: Any, places: Any) -> bool:
    """List the places of all words to note, all by the address of an object.

    Args:
        owners: (n,), objects with a dictionary.
        dictionaries: (n + k,), theirs first.
        lists: (l,), of two objects each.
        matrices: (m,), of nine doubles each, one after the other.
        places: (n + k + 2 n + 5 l + 19 m,), written: those of the dictionaries' versions, of owners, of lists, of matrices.

    Returns:
        Whether dictionaries are where they are looked for.
    """
    for index in range(len(owners)):
        if _word_at(owners[index] + _DICTIONARY) != dictionaries[index]:
            return False
    count = len(dictionaries)
    for index in range(count):
        places[index] = dictionaries[index] + _VERSION
    for owner in owners:
        places[count], places[count + 1] = owner + _TYPE, owner + _DICTIONARY
        count += OBJECT_WORDS
    for each in lists:
        places[count], places[count + 1], places[count + 2] = (
            each + _TYPE,
            each + _SIZE,
            each + _ITEMS,
        )
        items = _word_at(each + _ITEMS)
        places[count + 3], places[count + 4] = items, items + 8
        count += LIST_WORDS
    for each in matrices:
        shape, strides, numbers = (
            _word_at(each + _SHAPE),
            _word_at(each + _STRIDES),
            _word_at(each + _NUMBERS),
        )
        places[count], places[count + 1], places[count + 2] = (
            each + _TYPE,
            each + _AXES,
            each + _SHAPE,
        )
        places[count + 3], places[count + 4], places[count + 5] = (
            each + _STRIDES,
            each + _KIND,
            each + _NUMBERS,
        )
        places[count + 6], places[count + 7] = shape, shape + 8
        places[count + 8], places[count + 9] = strides, strides + 8
        for number in range(MATRIX):
            places[count + 10 + number] = numbers + 8 * number
        count += MATRIX_WORDS
    return True


@compiled
def read_on(places: Any, words: Any, vectors: Any, goals: Any, velocities: Any) -> Any:
    """Read what robots own and may change without a trace; return whether nothing else has changed.

    Args:
        places: Where memory tells whether anything has changed; none if there is nothing to read.
        words: What it said when nothing had.
        vectors: Addresses: types of arrays and of doubles, lists of goals and of velocities.
        goals: (n, 2), written.
        velocities: (n, 2 or 3), written.
    """
    if len(places) == 0:
        return True
    return (
        are_as_noted(places, words)
        and _read_vectors(vectors, vectors[2], 2, goals)
        and _read_vectors(vectors, vectors[3], 3, velocities)
    )


@compiled
def _read_vectors(kinds: Any, vectors: int, length: int, table: Any) -> bool:
    """Copy vectors to the rows of a table, which may have fewer columns.

    Args:
        kinds: Addresses of the type of arrays and of the type of doubles.
        vectors: Address of a list of as many arrays as the table has rows.
        length: Numbers of a vector.
        table: Written.

    Returns:
        Whether all of them are arrays of so many doubles.
    """
    if _word_at(vectors + _SIZE) != len(table):
        return False
    items = _word_at(vectors + _ITEMS)
    for row in range(len(table)):
        array = _word_at(items + 8 * row)
        if _word_at(array + _TYPE) != kinds[0] or _word_at(array + _KIND) != kinds[1]:
            return False
        if np.int64(_word_at(array + _AXES) & _AXES_MASK) != 1:
            return False
        if _word_at(_word_at(array + _SHAPE)) != length:
            return False
        numbers, stride = _word_at(array + _NUMBERS), _word_at(_word_at(array + _STRIDES))
        for column in range(table.shape[1]):
            table[row, column] = _number_at(numbers + column * stride)
    return True
