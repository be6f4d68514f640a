"""Warnings of torch's C++ code: they name the line of Python that is running, which is to be the program's."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_OURS = str(Path(__file__).parent.parent)
_show: Any = warnings._showwarnmsg  # type: ignore[attr-defined]  # what C looks up, whatever shows warnings


def _show_at_program(message: Any) -> None:
    """Warn again, from the line that asked a handler for what is warned about; filters are asked again, too."""
    frame = _asking(message.filename) if message.filename.startswith(_OURS) else None
    if frame is None:
        _show(message)
        return
    warnings.warn_explicit(
        message.message,
        message.category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__", "<unknown>"),
        frame.f_globals.setdefault("__warningregistry__", {}),
        source=message.source,
    )


def _asking(filename: str) -> FrameType | None:
    """The innermost line outside of the simulated device."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        if frame.f_code.co_filename == filename:
            # Or else the line would never warn of the same again, wherever the program is then.
            frame.f_globals.pop("__warningregistry__", None)
        frame = frame.f_back
    return frame


@contextmanager
def installed() -> Iterator[None]:
    """Let warnings name lines of the program; afterwards Python shows them as before."""
    with replaced(warnings, {"_showwarnmsg": _show_at_program}):
        yield
