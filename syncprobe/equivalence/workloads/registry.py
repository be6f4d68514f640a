"""The workloads that can be verified, by pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from syncprobe.equivalence import user_association
from syncprobe.equivalence.workloads import packing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.equivalence.matching import Margin
    from syncprobe.equivalence.trace import Trace


class Workload(NamedTuple):
    """How a workload is run and compared."""

    trace: Callable[..., Trace]
    limits: Mapping[str, Margin]
    """What fast mode leaves room for; the rest has to be equal to the last bit."""


WORKLOADS: Final[Mapping[str, Workload]] = {
    "uara": Workload(user_association.trace_uara, user_association.LIMITS),
    "packing": Workload(packing.trace_packing, packing.LIMITS),
}
