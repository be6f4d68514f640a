"""Files are written whole or not at all, with the mode and in the place that a user expects."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from syncprobe import files
from syncprobe.errors import SyncprobeError


@pytest.fixture
def umask():
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_writing_replaces_a_file_whole_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "p.json"
    files.write_text(path, "one")
    first = path.stat().st_ino
    files.write_text(path, "two")
    assert path.read_text(encoding="utf-8") == "two"
    assert path.stat().st_ino != first, "replaced, so that no reader ever sees half of it"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_on_the_way_are_made(tmp_path):
    files.write_text(tmp_path / "deep" / "er" / "p.json", "text")
    assert (tmp_path / "deep" / "er" / "p.json").read_text(encoding="utf-8") == "text"


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_allows(mask, expected, umask, tmp_path):
    umask(mask)
    files.write_text(tmp_path / "p.json", "text")
    assert mode(tmp_path / "p.json") == expected


@pytest.mark.parametrize("kept", [0o600, 0o664, 0o755])
def test_an_existing_file_keeps_its_mode(kept, umask, tmp_path):
    path = tmp_path / "p.json"
    path.write_text("before", encoding="utf-8")
    path.chmod(kept)
    files.write_text(path, "after")
    assert mode(path) == kept
    assert path.read_text(encoding="utf-8") == "after"


def test_writing_through_a_link_keeps_the_link_and_replaces_what_is_behind_it(tmp_path):
    real, link = tmp_path / "there" / "real.json", tmp_path / "link.json"
    real.parent.mkdir()
    real.write_text("before", encoding="utf-8")
    link.symlink_to(Path("there") / "real.json")
    first = real.stat().st_ino
    files.write_text(link, "after")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "after"
    assert real.stat().st_ino != first
    assert sorted(tmp_path.rglob("*")) == [link, real.parent, real]


def test_a_link_to_nothing_gets_its_file(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "later" / "real.json")
    files.write_text(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "later" / "real.json").read_text(encoding="utf-8") == "text"


def test_links_in_a_circle_are_refused_and_stay(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(second)
    second.symlink_to(first)
    with pytest.raises(SyncprobeError, match=r"Could not write .*first"):
        files.write_text(first, "text")
    assert first.is_symlink()
    assert second.is_symlink()


def test_the_longest_name_there_is_can_be_written(tmp_path):
    for name in ("n" * 250, "n" * 255):
        files.write_text(tmp_path / name, "one")
        files.write_text(tmp_path / name, "two")
        assert (tmp_path / name).read_text(encoding="utf-8") == "two"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path, tmp_path / "file" / "p.json", tmp_path / ("n" * 300)):
        with pytest.raises(SyncprobeError, match="Could not write") as caught:
            files.write_text(path, "text")
        assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


TOO_MUCH = """
import pathlib, resource, sys
from syncprobe import errors, files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write_text(pathlib.Path(sys.argv[1]), "x" * 100_000)
except errors.SyncprobeError as error:
    print(error)
"""


def test_when_there_is_no_room_the_old_file_stays(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("before", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", TOO_MUCH, str(path)], check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith(f"Could not write {path}: File too large.")
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    path = tmp_path / "p.json"
    path.write_text("before", encoding="utf-8")
    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_text(path, "after")
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, pathlib, signal, sys
from syncprobe import files

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(os, sys.argv[2], killed)
files.write_text(pathlib.Path(sys.argv[1]), "after" * 100_000)
"""


@pytest.mark.skipif(
    files._open_unnamed(Path(tempfile.gettempdir())) is None, reason="files need names here"
)
@pytest.mark.parametrize("moment", ["fchmod", "link"])
def test_a_write_that_is_killed_leaves_nothing_behind(tmp_path, moment):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("before", encoding="utf-8")
    link.symlink_to(real)
    done = subprocess.run([sys.executable, "-c", KILLED, str(link), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert real.read_text(encoding="utf-8") == "before"
    assert sorted(tmp_path.iterdir()) == [link, real]


def test_what_a_kill_has_left_is_removed_by_the_next_write(tmp_path):
    old, young, other = (
        tmp_path / name
        for name in (f".syncprobe-{'a' * 32}", f".syncprobe-{'b' * 32}", ".syncprobe-mine")
    )
    for path in (old, young, other):
        path.write_text("left", encoding="utf-8")
    for path in (old, other):
        os.utime(path, (1, 1))
    files.write_text(tmp_path / "p.json", "text")
    assert sorted(tmp_path.iterdir()) == [young, other, tmp_path / "p.json"]


def test_files_are_written_where_all_of_them_have_names(tmp_path, monkeypatch, umask):
    umask(0o077)
    monkeypatch.setattr(files, "_open_unnamed", lambda _: None)
    path = tmp_path / "p.json"
    files.write_text(path, "one")
    files.write_text(path, "two")
    assert path.read_text(encoding="utf-8") == "two"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


PRINTING = """
import pathlib, sys
from syncprobe import files
files.write_text(pathlib.Path("/dev/stdout"), "written\\n")
print("printed")
"""


def test_standard_output_can_be_named_whatever_is_behind_it(tmp_path):
    piped = subprocess.run([sys.executable, "-c", PRINTING], check=True, capture_output=True)
    assert piped.stdout == b"written\nprinted\n"
    path = tmp_path / "out.txt"
    with path.open("ab") as stream:
        subprocess.run([sys.executable, "-c", PRINTING], check=True, stdout=stream)
    assert path.read_bytes() == b"written\nprinted\n"
