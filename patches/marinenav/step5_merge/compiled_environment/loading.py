"""Whether compiled code is used, and why not: looked into once per process, before anything is measured."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import time
from dataclasses import dataclass
from typing import Any, Final

from patches.settings import KERNELS_VARIABLE, chosen_kernels
from patches.toggle import current_settings

_STEP = "patches.marinenav.step5_merge"
_logger = logging.getLogger("patches")


@dataclass(frozen=True, slots=True)
class Part:
    """Something that can be compiled: a package with ``kernels.ENTRIES`` and ``probing.try_kernels``."""

    package: str
    otherwise: str
    """What is done without it, as a sentence begins."""


ENVIRONMENT: Final = Part(
    f"{_STEP}.compiled_environment", "The environment is computed in numpy arrays"
)
DESCENT: Final = Part(f"{_STEP}.compiled_descent", "Steps of optimizers are taken by torch")
NETWORKS: Final = Part(f"{_STEP}.compiled_networks", "Networks are computed by torch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found."""

    kernels: Any
    """The `Kernels` of the part, or None."""
    reason: str
    """Why they are used, or why not."""
    is_surprising: bool = False
    """Whether whoever installed numba could expect better."""


_found: dict[Part, Verdict] = {}
"""What was found in this process, if anybody has looked."""


def verdict(part: Part = ENVIRONMENT) -> Verdict:
    """Say whether compiled code is used; the first call compiles, or reads the cache, and tries it."""
    if chosen_kernels() == "numpy":
        return Verdict(kernels=None, reason=f"{KERNELS_VARIABLE} says numpy")
    return _examined(part)


def _examined(part: Part) -> Verdict:
    found = _found.get(part)
    if found is None:
        found = _found[part] = examine(part)
        if found.is_surprising:
            _logger.warning("%s, not by compiled code: %s.", part.otherwise, found.reason)
    return found


def kernels(part: Part = ENVIRONMENT) -> Any:
    """Return the compiled code, if it is to be used."""
    settings = current_settings()
    if settings is not None and settings.kernels == "numpy":
        return None
    return _examined(part).kernels


def examine(part: Part) -> Verdict:
    """Look for numba and try what it makes of the kernels; everything that goes wrong is a reason."""
    try:
        if importlib.util.find_spec("numba") is None:
            return Verdict(kernels=None, reason="numba is not installed")
        numba = importlib.import_module("numba")
        if numba.config.DISABLE_JIT:
            return Verdict(kernels=None, reason="NUMBA_DISABLE_JIT is set")
        return _try(part, f"numba {numba.__version__}")
    except Exception as error:  # a broken installation must not break the training
        return Verdict(kernels=None, reason=f"numba failed: {_line(error)}", is_surprising=True)


def _try(part: Part, version: str) -> Verdict:
    cache = importlib.import_module(f"{_STEP}.compiled_environment.cache")
    probing = importlib.import_module(f"{part.package}.probing")
    entries = importlib.import_module(f"{part.package}.kernels").ENTRIES
    begin = time.perf_counter()
    place = cache.keep(entries)
    try:
        found, problem = probing.try_kernels()
    except Exception as error:  # what a broken cache raises can be anything
        if place is None:
            raise
        cache.forget(entries)
        place = f"nowhere, because reading it failed ({_line(error)})"
        found, problem = probing.try_kernels()
    if problem:
        return Verdict(kernels=None, reason=problem, is_surprising=True)
    seconds = time.perf_counter() - begin
    kept = f"kept in {place}" if place else "kept nowhere, because the cache cannot be written to"
    return Verdict(
        kernels=found, reason=f"{version}, every bit agrees, tried in {seconds:.1f} s, {kept}"
    )


def _line(error: Exception) -> str:
    """The first line of an error: numba's have dozens."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}"
