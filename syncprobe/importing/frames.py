"""Who asked for it: from the Python frames of a trace to a call site.

A trace names a frame ``train.py(12): learn``, its path cut down to what follows an import root. The number is
the line where the function begins, or where it was when the recording started.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from syncprobe.events import CallSite, Origin
from syncprobe.importing.nesting import by_thread
from syncprobe.importing.trace_file import FRAME, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from syncprobe.importing.trace_file import TraceFile

NOWHERE: Final = Origin(stack=(CallSite(path="<no user code>", line=0, function=""),), entry="")
MAX_FRAMES: Final = 48
LIBRARIES: Final = frozenset({"torch", "functorch", "numpy", "tensordict", "syncprobe"})
"""As the recorder has it: these are never the user's, other packages are."""
STANDARD_PACKAGES: Final = frozenset(
    {
        *("asyncio", "collections", "concurrent", "ctypes", "curses", "email", "encodings"),
        *("html", "http", "importlib", "json", "logging", "multiprocessing", "re", "sqlite3"),
        *("tomllib", "unittest", "urllib", "wsgiref", "xml", "zoneinfo"),
    }
)
"""The standard library's folders; a folder of the user's may be called like one of its modules."""
OWNERS: Final = {
    "torch/_tensor.py": "Tensor",
    "torch/nn/modules/module.py": "Module",
    "torch/optim/optimizer.py": "Optimizer",
    "torch/amp/grad_scaler.py": "GradScaler",
}
"""The class behind a file: a trace names functions without theirs, and findings look for it."""
BACKWARD: Final = "run_backward of torch._C._EngineBase"
_FRAME: Final = re.compile(
    r"(?P<path>.+?)\((?P<line>\d{1,9})\): (?P<function>.*)", re.DOTALL | re.ASCII
)
_BUILTIN: Final = re.compile(r"<built-in (?:method|function) (\w+)")
_INSTALLED: Final = re.compile(r".*/(?:site|dist)-packages/")
_STANDARD: Final = re.compile(r".*/lib/python\d[^/]*/")
_GENERATED: Final = re.compile(r"<(?!stdin>|ipython)")


class Frames:
    """Finds the user's line behind a moment of a thread.

    Args:
        trace: With stacks or without; without, everything comes from nowhere.
        root: The folder that paths are made relative to.
    """

    def __init__(self, trace: TraceFile, root: Path) -> None:
        self._prefix = f"{root.as_posix().rstrip('/')}/"
        self._threads = by_thread(trace.of(FRAME))
        self._operators = by_thread(trace.of(OPERATOR))
        self._origins: dict[tuple[str, int], Origin] = {}
        self._backward = by_thread([event for event in trace.of(FRAME) if BACKWARD in event.name])

    def caller_thread(self, thread: str, at_ns: int) -> str:
        """The thread whose line is running: autograd works on threads of its own for whoever asked."""
        own = self._threads.get(thread)
        if own is not None and own.innermost(at_ns) is not None:
            return thread
        waiting = (
            name for name, nesting in self._backward.items() if nesting.innermost(at_ns) is not None
        )
        return next(waiting, thread)

    def origin(self, thread: str, at_ns: int) -> Origin:
        """The user frames at a moment, and the library function the innermost of them called."""
        nesting = self._threads.get(thread)
        number = None if nesting is None else nesting.innermost(at_ns)
        if nesting is None or number is None:
            return self._written_origin(thread, at_ns)
        # While no other frame is entered, the stack stays what it is.
        key = (thread, number)
        if key not in self._origins:
            names = (nesting.events[each].name for each in nesting.around(at_ns))
            self._origins[key] = origin_of(names, self._prefix)
        return self._origins[key]

    def builtin(self, thread: str, at_ns: int) -> str:
        """The function written in C that is running at a moment; empty if none is."""
        nesting = self._threads.get(thread)
        number = None if nesting is None else nesting.innermost(at_ns)
        if nesting is None or number is None:
            return ""
        found = _BUILTIN.match(nesting.events[number].name)
        return found[1] if found else ""

    def _written_origin(self, thread: str, at_ns: int) -> Origin:
        """By the stack that the operation itself carries, if it does."""
        nesting = self._operators.get(thread)
        number = None if nesting is None else nesting.innermost(at_ns)
        if nesting is None or number is None or not nesting.events[number].call_stack:
            return NOWHERE
        return origin_of(nesting.events[number].call_stack.split(";"), self._prefix)


def origin_of(names: Iterable[str], prefix: str = "") -> Origin:
    """The origin that frames make, given innermost first; the prefix of their paths goes."""
    stack: list[CallSite] = []
    entry = ""
    for name in names:
        frame = parsed(name)
        if frame is None or len(stack) == MAX_FRAMES:
            continue
        if is_user_code(frame.path):
            stack.append(replace(frame, path=frame.path.removeprefix(prefix)))
        elif not stack:
            entry = _entry(frame)
    return Origin(stack=tuple(stack), entry=entry) if stack else NOWHERE


@lru_cache(maxsize=4096)
def parsed(name: str) -> CallSite | None:
    """The frame that a name means; None for functions written in C, modules and the like."""
    found = _FRAME.fullmatch(name)
    if found is None:
        return None
    path = found["path"].replace("\\", "/").removeprefix("./")
    return CallSite(path=path, line=int(found["line"]), function=found["function"])


@lru_cache(maxsize=4096)
def is_user_code(path: str) -> bool:
    """The path is none of torch's, of the standard library or of generated code."""
    if _GENERATED.match(path):
        return False
    inside, count = _INSTALLED.subn("", path)
    if not count and _STANDARD.match(path):
        return False
    first, _, rest = inside.partition("/")
    if not rest:
        return first.removesuffix(".py") not in sys.stdlib_module_names
    return first not in LIBRARIES and first not in STANDARD_PACKAGES


def _entry(frame: CallSite) -> str:
    path = _INSTALLED.sub("", frame.path)
    owner = OWNERS.get(path, "")
    if path.startswith("torch/distributions/"):
        words = path.rpartition("/")[2].removesuffix(".py").split("_")
        owner = "".join(word[:1].upper() + word[1:] for word in words)
    return f"{owner}.{frame.function}" if owner else frame.function
