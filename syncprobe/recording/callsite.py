"""Who asked for it: from a running frame to the line of user code behind it.

User code is everything but torch, NumPy, tensordict, syncprobe itself and the standard library. tensordict
counts as torch's own furniture: ``td.to(device)`` is charged to the line that wrote it, not to the
container's internals. Libraries such as stable-baselines3 are user code: their lines are what a reader
of a profile can act on, and the frames above tell who called them.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.events import CallSite, Origin

if TYPE_CHECKING:
    from types import CodeType, FrameType

NOWHERE: Final = CallSite(path="<no user code>", line=0, function="")
"""The site of work that no frame of user code asked for, such as a library's own thread."""

LIBRARIES: Final = ("torch", "functorch", "numpy", "tensordict", "_pytest", "pluggy")
MAX_KEY: Final = 2 * 48
"""How deep a stack is looked at: two entries per user frame."""
OWN_CODE: Final = ""
"""Stands for syncprobe's own frames, which are neither the user's nor an entry into a library."""


UNKNOWN_ORIGIN: Final = Origin(stack=(NOWHERE,), entry="")


class Memo:
    """The frame that asked last, and who called it: while it runs, its callers stay where they are."""

    __slots__ = ("above", "frame")

    def __init__(self) -> None:
        self.frame: FrameType | None = None
        self.above: tuple[int, ...] = ()


class CallSiteFinder:
    """Finds origins by walking frames, and remembers what it learnt about each code object.

    Code objects are known by their ``id``: hashing one reads all of it. They are kept alive here, so that
    an ``id`` always means the same code.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = (root or Path.cwd()).resolve()
        self._excluded = _library_prefixes()
        self._paths: dict[int, str | None] = {}
        self._codes: dict[int, CodeType] = {}
        self._origins: dict[tuple[int, ...], Origin] = {}
        self._equal_origins: dict[Origin, Origin] = {}
        self.outermost: FrameType | None = None
        """Frames above this one are not looked at: what called the recording is of no interest."""

    def find(self, frame: FrameType | None, memo: Memo | None = None) -> Origin | None:
        """The origin of what ``frame`` is doing, or None if no user frame is on its stack.

        This runs once per operation. A stack is known by its code objects and the instructions they are
        at: asking for a line number reads a table, and is done once per stack.
        """
        paths = self._paths
        innermost = frame
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
        if memo is None:
            above = self._above(frame)
        elif memo.frame is frame:
            above = memo.above
        else:
            above = memo.above = self._above(frame)
            memo.frame = frame
        key = (identity, frame.f_lasti, entry, *above)
        origin = self._origins.get(key)
        if origin is None:
            origin = self._build(innermost, 1 + len(above) // 2, entry)
            origin = self._origins[key] = self._equal_origins.setdefault(origin, origin)
        return origin

    def _above(self, frame: FrameType) -> tuple[int, ...]:
        """Code objects and instructions of the user frames that called this one."""
        paths, outermost = self._paths, self.outermost
        key: list[int] = []
        while frame is not outermost and len(key) < MAX_KEY:
            caller = frame.f_back
            if caller is None:
                break
            frame = caller
            identity = id(frame.f_code)
            path = paths[identity] if identity in paths else self._learn(frame.f_code)
            if path:
                key.append(identity)
                key.append(frame.f_lasti)
        return tuple(key)

    def _build(self, frame: FrameType | None, depth: int, entry: int) -> Origin:
        """The origin that ``depth`` user frames make, from this frame outwards."""
        stack: list[CallSite] = []
        while frame is not None and len(stack) < depth:
            path = self._paths[id(frame.f_code)]
            if path:
                function = frame.f_code.co_qualname
                stack.append(CallSite(path=path, line=frame.f_lineno, function=function))
            frame = frame.f_back
        return Origin(stack=tuple(stack), entry=self._codes[entry].co_qualname if entry else "")

    def _learn(self, code: CodeType) -> str | None:
        path = self._paths[id(code)] = self._classify(code)
        self._codes[id(code)] = code
        return path

    def _classify(self, code: CodeType) -> str | None:
        """The path to show for a user's code object, None for a library's, OWN_CODE for our own."""
        filename = code.co_filename
        if filename.startswith(OWN_DIRECTORY):
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
    if path.is_relative_to(root) and "site-packages" not in path.relative_to(root).parts:
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
