"""Files are all as before or all as after, whoever is killed on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from syncprobe.errors import SyncprobeError
from syncprobe.fixing import applying
from syncprobe.fixing.scratch import Project, find_project

BEFORE = {f"part{number}.py": f"x = {number}\n" for number in range(6)}
AFTER = {name: text + "y = 1\n" for name, text in BEFORE.items()}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name, text in BEFORE.items():
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    return find_project(tmp_path)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def texts(project: Project) -> dict[str, str]:
    return {name: (project.root / name).read_text() for name in BEFORE}


def test_all_files_are_written_and_keep_their_modes(project: Project) -> None:
    (project.root / "part1.py").chmod(0o755)
    git(project.root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "mode")
    applying.apply(project, BEFORE, AFTER)
    assert texts(project) == AFTER
    assert (project.root / "part1.py").stat().st_mode & 0o777 == 0o755
    assert not (project.root / ".git" / applying.FOLDER).exists()


def test_files_that_git_could_not_give_back_are_refused(project: Project) -> None:
    (project.root / "part2.py").write_text("x = 'mine'\n")
    now = {**BEFORE, "part2.py": "x = 'mine'\n"}
    with pytest.raises(SyncprobeError, match=r"part2\.py has changes that are not committed"):
        applying.apply(project, now, AFTER)
    assert texts(project) == now
    applying.apply(project, now, AFTER, allows_dirty=True)
    assert texts(project) == AFTER


def test_files_without_git_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(SyncprobeError, match="is not in git"):
        applying.apply(Project(tmp_path, is_in_git=False), {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"})
    assert (tmp_path / "a.py").read_text() == "x = 1\n"


def test_a_file_that_was_edited_meanwhile_is_left_alone(project: Project) -> None:
    (project.root / "part0.py").write_text("x = 'newer'\n")
    with pytest.raises(SyncprobeError, match="edited while it was being fixed"):
        applying.apply(project, BEFORE, AFTER, allows_dirty=True)
    assert texts(project) == {**BEFORE, "part0.py": "x = 'newer'\n"}


def journal(project: Project, *, moved: int) -> None:
    """What a power cut leaves behind after so many files were moved into place."""
    folder = project.root / ".git" / applying.FOLDER
    folder.mkdir()
    entries = []
    for number, (name, text) in enumerate(AFTER.items()):
        place = project.root / name if number < moved else folder / str(number)
        place.write_text(text)
        entries.append({"path": name, "new": str(number)})
    (folder / applying.JOURNAL).write_text(json.dumps(entries))


@pytest.mark.parametrize(("moved", "expected"), [(0, BEFORE), (1, AFTER), (5, AFTER), (6, AFTER)])
def test_what_a_power_cut_left_is_finished_or_forgotten(
    project: Project, moved: int, expected: dict[str, str]
) -> None:
    journal(project, moved=moved)
    applying.recover(project)
    assert texts(project) == expected
    assert not (project.root / ".git" / applying.FOLDER).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="asks for orphans as only Linux can")
def test_killed_at_any_moment_files_are_as_before_or_as_after(project: Project) -> None:
    """A hundred times: SIGKILL or SIGINT after ever longer waits; the first writes nothing, the last is let be."""
    script = textwrap.dedent("""
        import contextlib, ctypes, json, os, signal, sys, time
        from pathlib import Path
        from syncprobe.fixing import applying
        from syncprobe.fixing.scratch import Project

        before, after = json.loads(sys.stdin.read())
        project = Project(Path(sys.argv[1]), is_in_git=True)

        # PR_SET_CHILD_SUBREAPER: whoever moves the files, killed parent or not, is waited for here.
        assert not ctypes.CDLL(None).prctl(36, 1)

        def put_back():
            with contextlib.suppress(ChildProcessError):
                while True:
                    os.waitpid(-1, 0)
            found = {name: (project.root / name).read_text() for name in before}
            assert found in (before, after), found
            assert not (project.root / ".git" / applying.FOLDER).exists()
            for name, text in before.items():
                (project.root / name).write_text(text)
            return found == after

        start = time.monotonic()
        applying.apply(project, before, after, allows_dirty=True)
        usual_s = time.monotonic() - start
        assert put_back()
        written = 0
        for turn in range(100):
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                os.close(reading)
                os.write(writing, b"x")
                try:
                    if turn:
                        applying.apply(project, before, after, allows_dirty=True)
                finally:
                    os._exit(0)
            os.close(writing)
            os.read(reading, 1)
            if turn < 99:
                time.sleep(turn / 70 * usual_s)
                os.kill(child, signal.SIGKILL if turn % 2 else signal.SIGINT)
            os.waitpid(child, 0)
            os.close(reading)
            written += put_back()
        print(written)
    """)
    done = subprocess.run(
        [sys.executable, "-c", script, str(project.root)],
        input=json.dumps([BEFORE, AFTER]),
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout) < 100
    assert git(project.root, "status", "--porcelain") == ""
