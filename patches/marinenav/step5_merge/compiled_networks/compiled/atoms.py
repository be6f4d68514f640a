"""Compiled: Rainbow's noise spread over its weights, and its projection of distributions onto atoms.

Replaces: NoisyLinear.reset_noise but for its draws, projection.project
Removes:  a product and a copy per layer; some twenty operations on a few thousand numbers each
Keeps:    every product, and every sum in its order
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled


def _as_pointer(_context: Any, _address: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(sig.return_type))

    return types.CPointer(types.float32)(types.int64), generate


_numbers_at: Any = intrinsic(_as_pointer)


@compiled
def spread_noise(noise: Any, addresses: Any, sizes: Any) -> None:
    """Write the noise of weights and biases.

    Args:
        noise: One after the other, of the inputs and of the outputs of each layer.
        addresses: (n, 2), where noise of the weights and of the biases of each layer goes.
        sizes: (n, 2), how many inputs and outputs each has.
    """
    begin = 0
    for layer in range(len(sizes)):
        width, rows = sizes[layer]
        inputs, outputs = noise[begin : begin + width], noise[begin + width : begin + width + rows]
        weights = carray(_numbers_at(addresses[layer, 0]), (rows, width))
        biases = carray(_numbers_at(addresses[layer, 1]), (rows,))
        for row in range(rows):
            biases[row] = outputs[row]
            for place in range(width):
                weights[row, place] = outputs[row] * inputs[place]
        begin += width + rows


@compiled
def project(
    probs: Any, returns: Any, nonterminals: Any, support: Any, decay: Any, limits: Any, apart: Any, projected: Any
) -> bool:  # fmt: skip
    """Shift and shrink distributions and share them out between the atoms.

    Args:
        probs: (n, atoms)
        returns: (n,)
        nonterminals: (n, 1)
        support: (atoms,), returns that atoms stand for.
        decay: What later returns are worth.
        limits: Returns of the first and of the last atom.
        apart: How much they differ from one atom to the next.
        projected: (n, atoms), written.

    Returns:
        Whether all fell between two atoms; what does not is torch's to refuse.
    """
    count = len(support)
    places = np.empty((3, count), dtype=np.float32)
    for row in range(len(probs)):
        if not _place(places, returns[row], nonterminals[row, 0] * decay, support, limits, apart):
            return False
        place, lower, upper = places
        projected[row, :] = np.float32(0.0)
        for atom in range(count):
            projected[row, int(lower[atom])] += probs[row, atom] * (upper[atom] - place[atom])
        for atom in range(count):
            projected[row, int(upper[atom])] += probs[row, atom] * (place[atom] - lower[atom])
    return True


@compiled
def _place(places: Any, returns: Any, decay: Any, support: Any, limits: Any, apart: Any) -> bool:
    """Write where each atom falls, and the atoms beside it; return whether there are such."""
    one, zero, last = np.float32(1.0), np.float32(0.0), np.float32(len(support) - 1)
    for atom in range(len(support)):
        position = returns + decay * support[atom]
        if np.isnan(position):
            return False
        place = (min(max(position, limits[0]), limits[1]) - limits[0]) / apart
        if not zero <= place <= last:
            return False
        lower, upper = np.floor(place), np.ceil(place)
        # A position exactly on an atom would lose its mass: both shares would be zero.
        if upper > zero and lower == upper:
            lower -= one
        if lower < last and lower == upper:
            upper += one
        places[0, atom], places[1, atom], places[2, atom] = place, lower, upper
    return True
