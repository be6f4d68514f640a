"""Which torch is running, for rules that changed between versions."""

from __future__ import annotations

import functools

import torch


def torch_is_at_least(version: str) -> bool:
    """True if the running torch is that version or a later one; development versions count."""
    return _numbers(str(torch.__version__)) >= _numbers(version)


@functools.cache
def _numbers(version: str) -> tuple[int, ...]:
    """``2.13`` as numbers, whatever follows."""
    parts = version.split("+", maxsplit=1)[0].split(".")[:2]
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in parts)
