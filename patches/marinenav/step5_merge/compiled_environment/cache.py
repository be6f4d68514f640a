"""Where compiled code is kept between processes: in the user's cache directory, if that can be written to.

numba writes its files beside them and renames them, so that processes do not see each other's halves, and asks for
the CPU when it reads. What it does not notice are changes of functions that are called by the cached ones, and of
other packages: those are part of the folder's name.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba.core import caching

from patches.marinenav.step5_merge.compiled_descent import kernels as descent
from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.compiled import (
    angles,
    arithmetic,
    looking,
    motion,
    noise,
    objects,
    torch_library,
)
from patches.marinenav.step5_merge.compiled_environment.compiled import encounters as meeting
from patches.marinenav.step5_merge.compiled_networks.compiled import (
    atoms,
    losses,
    priorities,
    product,
    quantile_slopes,
    row_sums,
    rows,
    runner,
    sampling,
    turning,
)
from patches.marinenav.step5_merge.compiled_networks.tapes import operations
from patches.marinenav.step5_merge.vector_environment import coefficients, encounters

if TYPE_CHECKING:
    from collections.abc import Iterable

_SOURCES = (
    angles, arithmetic, atoms, coefficients, descent, encounters, looking, losses, meeting, motion, noise, objects,
    operations, priorities, product, quantile_slopes, row_sums, rows, runner, sampling, tables, torch_library, turning,
)  # fmt: skip
"""What compiled code is made of, constants included."""
_PACKAGES = ("numba", "llvmlite", "numpy")


def folder() -> Path | None:
    """Return the folder for this version of everything, made if need be; None if there can be none."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(root) if root.startswith("/") else Path.home() / ".cache"
        chosen = base / "syncprobe" / "kernels" / _version()
        chosen.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=chosen):
            return chosen
    except (OSError, RuntimeError):  # read-only, full, or a user without a home
        return None


def _version() -> str:
    digest = hashlib.sha256(platform.python_version().encode())
    for package in _PACKAGES:
        digest.update(f"{package} {metadata.version(package)}".encode())
    for source in _SOURCES:
        digest.update(Path(str(source.__file__)).read_bytes())
    return digest.hexdigest()[:16]


def keep(functions: Iterable[Any]) -> Path | None:
    """Let functions be read from the cache, and written to it once they are compiled.

    Returns:
        Where they are kept; None if nowhere.
    """
    chosen = numba.config.CACHE_DIR or folder()
    if not chosen:
        return None
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(chosen)
    try:
        for function in functions:
            function.enable_caching()
    except RuntimeError:  # numba found no place that it could use
        forget(functions)
        return None
    finally:
        numba.config.CACHE_DIR = before
    return Path(chosen)


def forget(functions: Iterable[Any]) -> None:
    """Let functions be compiled anew, in memory only, whatever the cache has."""
    for function in functions:
        with suppress(AttributeError):
            function._cache = caching.NullCache()  # noqa: SLF001 - numba can switch it on only
