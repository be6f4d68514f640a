"""What a user's program leaves behind, so that its recorded run can be held to its clean run."""

from __future__ import annotations

import gc
import hashlib
import random
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def fingerprint(left: object) -> str | None:
    """A digest of all living parameters and of the random numbers that come next.

    None where there is nothing to tell runs apart by: no torch, no parameters, or parameters on a
    real device, which would have to be copied.

    Args:
        left: What the program left behind; without it, nothing is known to be the program's.
    """
    if left is None or "torch" not in sys.modules:
        return None
    import torch

    # What an earlier run left in cycles is not this one's.
    gc.collect()
    digests = []
    for parameter in _parameters(torch):
        storage = parameter.untyped_storage()
        if storage.device.type != "cpu":
            return None
        head = f"{tuple(parameter.shape)} {parameter.dtype}".encode()
        digests.append(hashlib.sha256(head + bytes(storage)).digest())
    if not digests:
        return None
    draws = bytes(torch.default_generator.get_state().untyped_storage())
    return hashlib.sha256(b"".join(sorted(digests)) + draws).hexdigest()


def _parameters(torch: Any) -> list[Any]:
    """By exact type: isinstance would ask lazy objects of other libraries, and wake them up."""
    plain = torch.nn.Parameter
    return [
        thing
        for thing in gc.get_objects()
        if type(thing) is plain
        or (torch.Tensor in type(thing).__mro__ and vars(thing).get("_is_param"))
    ]


def draws_restored() -> Callable[[], None]:
    """Remember the state of the usual generators; calling the result puts them back."""
    host_state = random.getstate()
    modules = sys.modules
    torch_state = modules["torch"].get_rng_state() if "torch" in modules else None
    numpy_state = modules["numpy"].random.get_state() if "numpy" in modules else None

    def restore() -> None:
        random.setstate(host_state)
        if torch_state is not None:
            modules["torch"].set_rng_state(torch_state)
        if numpy_state is not None:
            modules["numpy"].random.set_state(numpy_state)

    return restore
