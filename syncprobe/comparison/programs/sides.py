"""What a side of a comparison is: a program, and the state of its project that it is run in."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe.comparison.programs.processes import Place
from syncprobe.targets.places import git
from syncprobe.targets.places.copying import working_copy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from syncprobe.targets.options import TargetOptions
    from syncprobe.targets.places.git import Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two programs."""

    target: str
    options: TargetOptions
    revision: Revision | None = None
    """None runs the files as they are now."""
    is_in_place: bool = False
    """Run it where it is, so that what it writes stays."""
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What to call it."""
        return Path(self.target).name if self.revision is None else self.revision.label

    @property
    def name(self) -> str:
        """The program as it is called from inside its place: absolute paths would lead back here."""
        path, folder = Path(self.target), Path.cwd()
        if path.is_absolute() and path.is_relative_to(folder):
            return os.path.relpath(path, folder)
        return self.target

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Where to run it once: a copy or a revision of the project, unless it is to run in place."""
        if self.revision is not None:
            with git.checked_out(self.revision) as folder:
                yield Place(folder=folder, variables=self.variables)
        elif self.is_in_place:
            yield Place(folder=Path.cwd(), variables=self.variables)
        else:
            with working_copy(Path.cwd()) as folder:
                yield Place(folder=folder, variables=self.variables)
