"""The random generators that programs use: seeded before a run, and what they would draw after it."""

from __future__ import annotations

import hashlib
import random
import sys


def seed_generators() -> None:
    """Begin alike in every run; what a program seeds itself it seeds after this."""
    import numpy as np
    import torch

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # the generator that programs use without asking for one
    torch.manual_seed(0)


def draws() -> str:
    """A digest of the random numbers that come next, of every usual generator."""
    modules = sys.modules
    digest = hashlib.sha256(repr(random.getstate()).encode())
    if "numpy" in modules:
        digest.update(repr(modules["numpy"].random.get_state()).encode())
    if "torch" in modules:
        digest.update(bytes(modules["torch"].default_generator.get_state().untyped_storage()))
    return digest.hexdigest()
