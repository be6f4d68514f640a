"""A copy of a project as it is now, for a program to write to."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError
from syncprobe.targets.places import git
from syncprobe.targets.places.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_BYTES: Final = 256 << 20
MOST_FILES: Final = 20_000
LINKED_BYTES: Final = 64 << 20
"""What git ignores and is larger, such as data and environments, is linked and not copied."""
_LEFT_OUT: Final = frozenset({"__pycache__", ".git"})


class TooLargeError(SyncprobeError):
    """A folder that nobody wants to have copied."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is too large to copy for every run, and is not in git, which would say what belongs to the "
            "program. Run from the program's own folder, or in place: --in-place."
        )


@contextmanager
def working_copy(folder: Path) -> Iterator[Path]:
    """The same folder in a copy of its project: its repository, or else the folder itself."""
    top = git.repository_of(folder)
    with scratch_folder() as copy:
        if top is None:
            _check_size(folder)
            shutil.copytree(folder, copy, dirs_exist_ok=True, symlinks=True, ignore=_left_out)
            yield copy
            return
        _copy_files(top, copy, git.files_of(top, "--cached", "--others", "--exclude-standard"))
        ignored = git.files_of(top, "--others", "--ignored", "--exclude-standard", "--directory")
        for name in ignored:
            _take_ignored(top / name, copy / name)
        inside = copy / folder.resolve().relative_to(top)
        inside.mkdir(parents=True, exist_ok=True)
        yield inside


def _copy_files(source: Path, copy: Path, names: Iterable[str]) -> None:
    for name in names:
        original, made = source / name, copy / name
        # A file may be deleted and not committed so; a folder is a repository inside this one.
        if original.is_symlink() or original.is_file():
            made.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, made, follow_symlinks=False)
        elif original.is_dir():
            _take_ignored(original, made)


def _take_ignored(original: Path, made: Path) -> None:
    if original.name in _LEFT_OUT or made.exists():
        return
    made.parent.mkdir(parents=True, exist_ok=True)
    if (
        original.is_dir()
        and not original.is_symlink()
        and _measure(original, LINKED_BYTES) is not None
    ):
        shutil.copytree(original, made, symlinks=True, ignore=_left_out)
    elif original.is_file() and original.stat().st_size <= LINKED_BYTES:
        shutil.copy2(original, made)
    else:
        made.symlink_to(original.resolve())


def _left_out(_folder: str, names: list[str]) -> set[str]:
    return set(names) & _LEFT_OUT


def _check_size(folder: Path) -> None:
    if _measure(folder, MOST_BYTES) is None:
        raise TooLargeError(folder)


def _measure(folder: Path, most_bytes: int) -> int | None:
    """Bytes in a folder; None if they, or the files, are too many."""
    total = count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        count += len(names)
        for name in names:
            path = Path(place, name)
            total += 0 if path.is_symlink() else path.stat().st_size
        if total > most_bytes or count > MOST_FILES:
            return None
    return total
