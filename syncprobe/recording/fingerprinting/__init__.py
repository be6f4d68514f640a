"""Notes what a program computes while it runs, without changing it.

``with fingerprinted() as collector: ...`` and then ``collector.fingerprints(exit_code)``. On the simulated device
values are read behind its back: nothing of this counts as a sync, a launch or the program's time.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from syncprobe.recording.fingerprinting import observing
from syncprobe.recording.fingerprinting.printing import printing_heard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.recording.fingerprinting.collecting import Collector
    from syncprobe.recording.fingerprinting.sampling import Pausable


@contextmanager
def fingerprinted(
    *, is_thorough: bool = False, stopwatch: Pausable | None = None
) -> Iterator[Collector]:
    """While open, a collector hears of optimizer steps, losses, observed values and printed text.

    Args:
        is_thorough: Look at every step, whatever that costs; else at so many that it costs a few percent.
        stopwatch: Stopped whenever the collector works.
    """
    from syncprobe.recording.fingerprinting.collecting import (
        Collector,  # torch is needed only to run
    )
    from syncprobe.recording.fingerprinting.hooks import torch_heard

    collector = Collector(is_thorough=is_thorough, stopwatch=stopwatch)
    with ExitStack() as undo:
        undo.enter_context(printing_heard(collector.printed))
        undo.enter_context(torch_heard(collector))
        undo.enter_context(observing.heard(collector.observe))
        yield collector
        collector.look_once_more()
