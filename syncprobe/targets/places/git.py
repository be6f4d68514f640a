"""What is asked of git. Nothing here writes to the user's repository, so nothing has to be put back."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError, did_you_mean
from syncprobe.interrupts import uninterrupted
from syncprobe.targets.places.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT: Final = 7


class RevisionError(SyncprobeError):
    """A revision that is not there, or a folder that has none."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of a repository, and what the user called it."""

    name: str
    commit: str
    top: Path
    """The repository's folder."""
    inside: Path
    """Where in it the user is."""

    @property
    def label(self) -> str:
        """Its name and its commit."""
        short = self.commit[:SHORT]
        return short if self.commit.startswith(self.name) else f"{self.name} ({short})"


def repository_of(folder: Path) -> Path | None:
    """The top folder of the repository that a folder is in; None if it is in none."""
    if shutil.which("git") is None:
        return None
    found = _git(folder, "rev-parse", "--show-toplevel")
    return None if found is None else Path(found.strip()).resolve()


def revision(name: str, folder: Path) -> Revision:
    """The commit that a name stands for.

    Raises:
        RevisionError: There is no such commit, or no repository.
    """
    top = repository_of(folder)
    if top is None:
        raise RevisionError(
            f"{folder} is not in a git repository, so it has no revision {name!r}. Compare two files instead."
        )
    found = None
    if name and not name.startswith("-"):
        found = _git(top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if found is None:
        raise RevisionError(f"There is no revision {name!r} in {top}. {_hint(name, top)}")
    return Revision(name, found.strip(), top, folder.resolve().relative_to(top))


def revisions_of(text: str, folder: Path) -> tuple[Revision, Revision]:
    """Both ends of ``A..B``, or of ``A...B``: from where B left A to B; what is left out is HEAD."""
    dots = "..." if "..." in text else ".."
    first, _, second = text.partition(dots)
    before, after = (revision(name or "HEAD", folder) for name in (first, second))
    if dots == "..":
        return before, after
    base = _git(before.top, "merge-base", before.commit, after.commit)
    if base is None:
        raise RevisionError(
            f"{first} and {second} have no commit in common; compare {first}..{second}."
        )
    return Revision(before.name, base.strip(), before.top, before.inside), after


def uncommitted(folder: Path, *paths: str) -> tuple[str, ...]:
    """Files that are not as their last commit has them, new ones included: of all, or of some paths."""
    flags = ("--porcelain", "-z", "--no-renames", "--untracked-files=normal")
    listed = _git(folder, "status", *flags, "--", *paths)
    return tuple(entry[3:] for entry in (listed or "").split("\0") if entry)


@contextmanager
def checked_out(wanted: Revision) -> Iterator[Path]:
    """The files of a revision in a repository of their own that borrows the objects of the user's.

    A worktree would leave a trace in the user's repository if this process were killed.
    """
    objects = _asked(
        wanted.top, "rev-parse", "--path-format=absolute", "--git-path", "objects"
    ).strip()
    with scratch_folder() as folder:
        _asked(folder, "init", "--quiet", "--template=")
        (folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
        (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")
        shallow = Path(objects).parent / "shallow"
        if shallow.is_file():
            shutil.copy(shallow, folder / ".git" / "shallow")
        _asked(folder, "checkout", "--quiet", "--detach", wanted.commit)
        yield folder / wanted.inside


def files_of(top: Path, *flags: str) -> tuple[str, ...]:
    """Files that git lists, by ``ls-files`` with some flags."""
    return tuple(name for name in _asked(top, "ls-files", "-z", *flags).split("\0") if name)


def _hint(name: str, top: Path) -> str:
    listed = _git(top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
    known = (listed or "").split()
    if not known and _git(top, "rev-parse", "--verify", "--quiet", "HEAD") is None:
        return "Nothing was committed yet."
    return did_you_mean(name, known, "See 'git branch --all' and 'git tag'.")


def _asked(folder: Path, *words: str) -> str:
    done = _run(folder, *words)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise RevisionError(f"'git {words[0]}' failed in {folder}: {why}")
    return done.stdout


def _git(folder: Path, *words: str) -> str | None:
    done = _run(folder, *words)
    return None if done.returncode else done.stdout


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # A hook that runs this, or a rebase, has set variables that name another repository; status must not
    # refresh the index of the user's, nor may anybody be asked for a password.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    # An interrupt that came while it starts would leave it writing into a folder that is being removed.
    with uninterrupted():
        return subprocess.run(  # noqa: S603  # the user's own git
            ["git", "-c", "advice.detachedHead=false", *words],  # noqa: S607  # likewise
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
