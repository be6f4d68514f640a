"""No device at all: on the CPU only conversions can be seen, and time can be measured."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from syncprobe.simgpu.session import Session, active
from syncprobe.simgpu.torch_api import constructors, functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import Sink


@contextmanager
def host_watched(sink: Sink) -> Iterator[None]:
    """Inside, tensors made from Python and NumPy data are reported; torch has no device it had not before."""
    before = active.session
    with functions.installed(), constructors.installed():
        active.session = Session(sink)
        try:
            yield
        finally:
            active.session = before
