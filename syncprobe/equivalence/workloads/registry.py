"""The workloads that can be verified, by pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from syncprobe.equivalence.workloads import packing, uara, vectorised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.equivalence.matching import Margin
    from syncprobe.equivalence.trace import Trace


class Workload(NamedTuple):
    """How a workload is run and compared."""

    trace: Callable[..., Trace]
    limits: Mapping[str, Margin]
    """What fast mode leaves room for; the rest has to be equal to the last bit."""
    agents: tuple[str, ...] = ("DQN",)


WORKLOADS: Final[Mapping[str, Workload]] = {
    "uara": Workload(uara.trace_uara, uara.LIMITS),
    "packing": Workload(packing.trace_packing, packing.LIMITS),
    "vecenv": Workload(vectorised.trace_vecenv, vectorised.LIMITS, vectorised.AGENTS),
}
