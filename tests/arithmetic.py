"""Which kernels the tests compute with: the same on every x86-64 machine, unless told otherwise.

Last bits depend on the kernels that MKL, OpenBLAS, ATen and numpy choose for a CPU. The variables below fix the
choice to what the golden data was recorded with. They are read when numpy and torch are imported, so they are set
before that, and child processes inherit them. ``SYNCPROBE_TEST_ARITHMETIC=native`` leaves the choice to the machine.

Benchmarks measure what users get: they run without the variables, and are skipped where these are set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping

SWITCH = "SYNCPROBE_TEST_ARITHMETIC"
PORTABLE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "MKL_CBWR": "COMPATIBLE",
    "ATEN_CPU_CAPABILITY": "avx2",
}
CHOICES = ("portable", "native")


def choose(environment: MutableMapping[str, str], *, is_benchmark: bool) -> None:
    """Set the variables for this process and its children, or take them back for benchmarks.

    Raises:
        ValueError: The switch is set to something that is no choice.
    """
    choice = "native" if is_benchmark else environment.get(SWITCH, CHOICES[0])
    if choice not in CHOICES:
        raise ValueError(f"{SWITCH} is {choice!r}, not one of {', '.join(CHOICES)}")
    if is_benchmark:
        chosen = native(environment)
        environment.clear()
        environment.update(chosen)
    elif choice == "portable":
        environment.update(PORTABLE)
    environment[SWITCH] = choice  # for the workers of pytest-xdist, which do not see all options


def native(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as its user has it, without what was set here; the number of threads stays."""
    return {
        name: value
        for name, value in environment.items()
        if name == "OMP_NUM_THREADS" or PORTABLE.get(name) != value
    }


def is_portable() -> bool:
    return os.environ.get(SWITCH) == "portable"
