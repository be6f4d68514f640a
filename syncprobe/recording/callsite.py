"""Who asked for it: from a running frame to the line of user code behind it.

User code is everything but torch, NumPy, tensordict, syncprobe itself and the standard library. tensordict
counts as torch's own furniture: ``td.to(device)`` is charged to the line that wrote it, not to the
container's internals. Libraries such as stable-baselines3 are user code: their lines are what a reader
of a profile can act on, and the frames above tell who called them.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import sysconfig
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.events import CallSite, Origin
from syncprobe.profiles.lines.owners import is_within

if TYPE_CHECKING:
    from types import CodeType, FrameType

NOWHERE: Final = CallSite(path="<no user code>", line=0, function="")
"""The site of work that no frame of user code asked for, such as a library's own thread."""

LIBRARIES: Final = ("torch", "functorch", "numpy", "tensordict", "_pytest", "pluggy")
MAX_DEPTH: Final = 48
"""How many user frames above another one are looked at."""
NOBODY: Final = 0
"""The number of no frames above."""
_RESUMABLE: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Frames of such code go on with other callers than they began with."""
OWN_CODE: Final = ""
"""Stands for syncprobe's own frames, which are neither the user's nor an entry into a library."""


UNKNOWN_ORIGIN: Final = Origin(stack=(NOWHERE,), entry="")


class Memo:
    """The frame that asked last, and those that called it: while it runs, they stay where they are."""

    __slots__ = ("callers", "frame", "origins")

    def __init__(self) -> None:
        self.frame: FrameType | None = None
        self.origins: dict[tuple[int, int], Origin] = {}
        """What is known of this frame, by its instruction and by what it called."""
        self.callers: list[tuple[FrameType, int]] = []
        """User frames that were seen calling each other, this one last, each with the number of those above."""


class _LineTable:
    """The lines of a code object's instructions: asked for one, a frame reads the table from its beginning."""

    def __init__(self, code: CodeType) -> None:
        self._first = code.co_firstlineno
        self._code = code

    @cached_property
    def _rows(self) -> list[tuple[int, int | None]]:
        return [(start, line) for start, _, line in self._code.co_lines()]

    def at(self, instruction: int) -> int:
        """The line of an instruction, as ``frame.f_lineno`` would say."""
        place = bisect_right(self._rows, instruction, key=_start)
        line = self._rows[place - 1][1] if place else None
        return self._first if line is None else line


def _start(row: tuple[int, int | None]) -> int:
    return row[0]


class CallSiteFinder:
    """Finds origins by walking frames, and remembers what it learnt about each code object.

    Code objects are known by their ``id``: hashing one reads all of it. They are kept alive here, so that
    an ``id`` always means the same code.
    """

    def __init__(self, root: Path | None = None, own: Path | None = None) -> None:
        self._root = (root or Path.cwd()).resolve()
        self._own = self._root if own is None else own.resolve()
        self.own_files: set[str] = set()
        """Paths, as sites show them, of the files that lie in the user's own project."""
        self._excluded = _library_prefixes()
        self._paths: dict[int, str | None] = {}
        self._codes: dict[int, CodeType] = {}
        self._lines: dict[int, _LineTable] = {}
        self._numbers: dict[tuple[int, int, int], int] = {}
        """Stacks of user frames: by the innermost, its instruction, and the number of those above."""
        self._origins: defaultdict[tuple[int, int], dict[tuple[int, int], Origin]]
        self._origins = defaultdict(dict)
        """By the code that runs and by the number of who called it."""
        self._equal_origins: dict[Origin, Origin] = {}
        self.outermost: FrameType | None = None
        """Frames above this one are not looked at: what called the recording is of no interest."""

    def find(self, frame: FrameType | None, memo: Memo | None = None) -> Origin | None:
        """The origin of what ``frame`` is doing, or None if no user frame is on its stack.

        This runs once per operation. A stack is known by its code objects and the instructions they are
        at: asking for a line number reads a table, and is done once per stack.
        """
        paths = self._paths
        entry = 0
        while frame is not None:
            identity = id(frame.f_code)
            try:
                path = paths[identity]
            except KeyError:
                path = self._learn(frame.f_code)
            if path:
                break
            if path is None:
                entry = identity
            if frame is self.outermost:
                return None
            frame = frame.f_back
        else:
            return None
        if memo is None or frame.f_code.co_flags & _RESUMABLE:
            origins = self._origins[identity, self._number(frame, [])]
        elif memo.frame is frame:
            origins = memo.origins
        else:
            origins = self._origins[identity, self._number_known(frame, memo.callers)]
            memo.frame, memo.origins = frame, origins
        # A frame is at one instruction, and whoever called it stays where it is.
        origin = origins.get((frame.f_lasti, entry))
        if origin is None:
            origin = self._build(frame, 1 + len(self._above(frame)), entry)
            origin = self._equal_origins.setdefault(origin, origin)
            origins[frame.f_lasti, entry] = origin
        return origin

    def _number_known(self, frame: FrameType, callers: list[tuple[FrameType, int]]) -> int:
        """The number of the frames above one that may have called those seen last, or been called by them."""
        caller = self._caller(frame) if len(callers) < MAX_DEPTH else None
        while callers:
            known, number = callers[-1]
            if known is caller:
                number = self._extended(id(known.f_code), known.f_lasti, number)
                callers.append((frame, number))
                return number
            if known is frame:
                return number
            callers.pop()
        return self._number(frame, callers)

    def _number(self, frame: FrameType, callers: list[tuple[FrameType, int]]) -> int:
        """The number of the frames above one; remembers those of all of them, unless there are too many."""
        above = self._above(frame)
        number = NOBODY
        callers.clear()
        for known in reversed(above):
            if len(above) < MAX_DEPTH and not known.f_code.co_flags & _RESUMABLE:
                callers.append((known, number))
            number = self._extended(id(known.f_code), known.f_lasti, number)
        callers.append((frame, number))
        return number

    def _extended(self, identity: int, instruction: int, above: int) -> int:
        """The number of frames that one more was called by."""
        numbers = self._numbers
        key = (identity, instruction, above)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(numbers) + 1
        return number

    def _caller(self, frame: FrameType) -> FrameType | None:
        """The user frame that called this one, if any."""
        paths, outermost = self._paths, self.outermost
        while frame is not outermost:
            caller = frame.f_back
            if caller is None:
                return None
            frame = caller
            identity = id(frame.f_code)
            if paths[identity] if identity in paths else self._learn(frame.f_code):
                return frame
        return None

    def _above(self, frame: FrameType) -> list[FrameType]:
        """The user frames that called this one, the innermost first."""
        paths, outermost = self._paths, self.outermost
        above: list[FrameType] = []
        while frame is not outermost and len(above) < MAX_DEPTH:
            caller = frame.f_back
            if caller is None:
                break
            frame = caller
            identity = id(frame.f_code)
            path = paths[identity] if identity in paths else self._learn(frame.f_code)
            if path:
                above.append(frame)
        return above

    def _build(self, frame: FrameType | None, depth: int, entry: int) -> Origin:
        """The origin that ``depth`` user frames make, from this frame outwards."""
        stack: list[CallSite] = []
        while frame is not None and len(stack) < depth:
            path = self._paths[id(frame.f_code)]
            if path:
                function = frame.f_code.co_qualname
                line = self._lines[id(frame.f_code)].at(frame.f_lasti)
                stack.append(CallSite(path=path, line=line, function=function))
            frame = frame.f_back
        return Origin(stack=tuple(stack), entry=self._codes[entry].co_qualname if entry else "")

    def _learn(self, code: CodeType) -> str | None:
        path = self._paths[id(code)] = self._classify(code)
        self._codes[id(code)] = code
        if path:
            self._lines[id(code)] = _LineTable(code)
        return path

    def _classify(self, code: CodeType) -> str | None:
        path = self.path_of(code.co_filename)
        if path and (
            path == code.co_filename or is_within(Path(code.co_filename).absolute(), self._own)
        ):
            # Interactive input is shown as it is called, and is always one's own.
            self.own_files.add(path)
        return path

    def path_of(self, filename: str) -> str | None:
        """The path to show for a user's file, None for a library's, OWN_CODE for our own."""
        if filename.startswith(OWN_DIRECTORY) and not filename.startswith(WORKLOADS):
            return OWN_CODE
        if filename.startswith("<"):
            # Interactive input is user code; generated code ("<string>" of dataclasses, torch) is not.
            return filename if filename == "<stdin>" or filename.startswith("<ipython") else None
        if filename.startswith(self._excluded):
            return None
        return relative_path(filename, self._root)


def relative_path(filename: str, root: Path) -> str:
    """A path that means the same on every machine: relative to the project, else to an import root."""
    path = Path(filename)
    if is_within(path, root):
        return path.relative_to(root).as_posix()
    roots = sorted((entry for entry in sys.path if entry), key=len, reverse=True)
    for entry in roots:
        if path.is_relative_to(entry):
            return path.relative_to(entry).as_posix()
    return path.name


def _library_prefixes() -> tuple[str, ...]:
    """Where code lives that is never the user's."""
    prefixes = {_directory(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    site_packages = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        for location in (spec.submodule_search_locations or ()) if spec else ():
            prefixes.add(_directory(location))
    # site-packages lies inside the standard library's folder: name the parts of that folder instead.
    nested = {p for p in prefixes if any(_directory(s).startswith(p) for s in site_packages)}
    for prefix in nested:
        prefixes.remove(prefix)
        prefixes.update(
            _directory(str(child)) if child.is_dir() else str(child)
            for child in Path(prefix).iterdir()
            if child.name not in {"site-packages", "dist-packages"}
        )
    return tuple(sorted(prefixes))


def _directory(path: str) -> str:
    return path.rstrip("/\\") + "/"


OWN_DIRECTORY: Final = _directory(str(Path(__file__).parent.parent))
WORKLOADS: Final = f"{OWN_DIRECTORY}workloads/"
"""They ship with syncprobe to be profiled, so that their lines are a user's."""
