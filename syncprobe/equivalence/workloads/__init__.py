"""Runs of the workloads beside MarineNav, as traces that can be held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from syncprobe.equivalence import user_association
from syncprobe.equivalence.workloads import packing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.equivalence.matching import Margin
    from syncprobe.equivalence.trace import Trace


class WorkloadRun(Protocol):
    """A run of a workload, described completely."""

    @property
    def seed(self) -> int:
        """Of all generators."""

    @property
    def steps(self) -> int:
        """How many are compared."""

    @property
    def agent(self) -> str:
        """The one sort of agent that a workload has."""

    @property
    def pipeline(self) -> str:
        """What the workload is called."""


class Workload(NamedTuple):
    """How a workload is run and compared."""

    make_run: Callable[..., WorkloadRun]
    trace: Callable[..., Trace]
    limits: Mapping[str, Margin]
    """What fast mode leaves room for; the rest has to be equal to the last bit."""


WORKLOADS: Final[Mapping[Any, Workload]] = {
    user_association.PIPELINE: Workload(
        user_association.UaraRun, user_association.trace_uara, user_association.LIMITS
    ),
    packing.PIPELINE: Workload(packing.PackingRun, packing.trace_packing, packing.LIMITS),
}
"""By pipeline."""
