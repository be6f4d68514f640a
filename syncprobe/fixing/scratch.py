"""A project's own files, and copies of it to run in: nothing that a trial does reaches the original."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError
from syncprobe.targets.places import git

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEFT_OUT: Final = frozenset({".git", "__pycache__", "node_modules", "site-packages"})
LARGEST_BYTES: Final = 2_000_000_000
"""Of a project: every trial gets a copy of its own."""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder whose files belong together."""

    root: Path
    is_in_git: bool

    def files(self) -> Iterator[Path]:
        """All files but those of environments and caches, relative to the root."""
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(each for each in folders if not _is_left_out(Path(folder) / each))
            for name in sorted(names):
                path = Path(folder) / name
                if path.is_file() and not name.endswith(".pyc"):
                    yield path.relative_to(self.root)

    def own_sources(self) -> set[str]:
        """The Python files that may be rewritten: below the root, and not ignored by git."""
        found = {str(path) for path in self.files() if path.suffix == ".py"}
        if self.is_in_git:
            found &= set(git.files_of(self.root, "--cached", "--others", "--exclude-standard"))
        return found

    def changed_sources(self, paths: set[str]) -> list[str]:
        """Those of some files that git has not got as they are."""
        if not self.is_in_git:
            return sorted(paths)
        return sorted(paths & set(git.uncommitted(self.root, *sorted(paths))))

    def text(self, path: str) -> str:
        """What a file says, line ends as they are."""
        return (self.root / path).read_bytes().decode("utf-8")


def find_project(folder: Path) -> Project:
    """The project that a folder is in: its git repository, or else the folder itself."""
    top = git.repository_of(folder)
    return Project(top or folder.resolve(), is_in_git=top is not None)


def copy(project: Project, to: Path, texts: Mapping[str, str]) -> None:
    """A copy of the project with other texts in some of its files."""
    total = 0
    for path in project.files():
        source, target = project.root / path, to / path
        total += source.stat().st_size
        if total > LARGEST_BYTES:
            raise SyncprobeError(
                f"{project.root} holds more than {LARGEST_BYTES // 10**9} GB, and each trial needs a copy. "
                "Keep data outside of the project."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for name, text in texts.items():
        (to / name).write_bytes(text.encode("utf-8"))


def contents(folder: Path) -> dict[str, str]:
    """A digest of every file that a run may have written."""
    return {
        str(path): hashlib.sha256((folder / path).read_bytes()).hexdigest()
        for path in Project(folder, is_in_git=False).files()
    }


def _is_left_out(folder: Path) -> bool:
    name = folder.name
    return name in LEFT_OUT or name.endswith("_cache") or (folder / "pyvenv.cfg").exists()
