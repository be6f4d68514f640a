"""An environment whose process is killed in the middle of a run."""

from __future__ import annotations

import os
import signal
from typing import Any

from syncprobe.workloads.vecenv.navlite import NavLite


class Fatal(NavLite):
    """Does not survive its fifth step."""

    def step(self, action: Any) -> Any:
        if self._steps == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action)


class Stillborn(NavLite):
    """Cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("no sea today")
