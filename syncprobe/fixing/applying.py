"""Writes several files so that all are as before or all are as after, whatever happens on the way.

A process of its own, which no signal to this one reaches, puts new texts aside, in the git folder where there is
one, and then moves them into place. What a power cut leaves half done is finished by whoever writes next.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from syncprobe.fixing.scratch import Project

FOLDER: Final = "syncprobe-fix"
JOURNAL: Final = "journal.json"
_INTERRUPTIONS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def apply(
    project: Project,
    originals: Mapping[str, str],
    texts: Mapping[str, str],
    *,
    allows_dirty: bool = False,
) -> None:
    """Write other texts into files of a project.

    Args:
        project: Whose files they are.
        originals: What the files must still say.
        texts: What they are to say.
        allows_dirty: Also write what git could not give back.

    Raises:
        SyncprobeError: A file was edited since, or git could not give it back; nothing is written then.
    """
    recover(project)
    edited = [path for path, text in originals.items() if project.text(path) != text]
    if edited:
        raise SyncprobeError(f"{edited[0]} was edited while it was being fixed. Run it again.")
    dirty = [] if allows_dirty else project.changed_sources(set(texts))
    if dirty:
        why = "has changes that are not committed" if project.is_in_git else "is not in git"
        raise SyncprobeError(
            f"{dirty[0]} {why}, so the rewrite could not be taken back. Commit it first, or say --allow-dirty."
        )
    if texts:
        _write_all(project.root, _journal_folder(project), texts)


def recover(project: Project) -> None:
    """Finish what an interrupted run had begun to move into place; forget what it had not."""
    folder = _journal_folder(project)
    if not folder.exists():
        return
    journal = folder / JOURNAL
    if journal.exists():
        entries = json.loads(journal.read_text(encoding="utf-8"))
        waiting = [each for each in entries if (folder / each["new"]).exists()]
        if len(waiting) < len(entries):
            _move(project.root, folder, waiting)
    shutil.rmtree(folder, ignore_errors=True)


def _write_all(root: Path, folder: Path, texts: Mapping[str, str]) -> None:
    # Blocked before the fork, so that none of them is for the other process; and while it is waited for.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)
    try:
        reason = _apart(lambda: _exchange(root, folder, texts))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if reason:
        unfinished = (folder / JOURNAL).exists()
        what = "run it again to finish" if unfinished else "nothing was changed"
        raise SyncprobeError(f"The files could not all be written ({reason}); {what}.")


def _apart(work: Callable[[], None]) -> str:
    """Do some work in a process that outlives this one, and wait for it: why it failed, or nothing."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        try:
            work()
        except BaseException as error:  # whatever it is, nobody else can say so
            os.write(sending, (str(error) or type(error).__name__).encode("utf-8", "replace"))
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as answers:
        reason = answers.read().decode("utf-8", "replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return reason or (f"status {status}" if status else "")


def _exchange(root: Path, folder: Path, texts: Mapping[str, str]) -> None:
    """Put all texts aside, say so in the journal, and move them into place."""
    folder.mkdir()
    entries = []
    try:
        for number, (path, text) in enumerate(sorted(texts.items())):
            _put(folder / str(number), text.encode("utf-8"))
            shutil.copymode(root / path, folder / str(number))
            entries.append({"path": path, "new": str(number)})
        _put(folder / "draft", json.dumps(entries).encode("utf-8"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / "draft").replace(folder / JOURNAL)
    _move(root, folder, entries)
    shutil.rmtree(folder, ignore_errors=True)


def _move(root: Path, folder: Path, entries: list[dict[str, str]]) -> None:
    for each in entries:
        (folder / each["new"]).replace((root / each["path"]).resolve())


def _put(path: Path, content: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _journal_folder(project: Project) -> Path:
    """In the git folder, where it is on the same disk and in nobody's way; else beside the files."""
    git = project.root / ".git"
    return git / FOLDER if git.is_dir() else project.root / f".{FOLDER}"
