"""Two revisions of a program are compared, whatever it does, and the repository is none the wiser."""

from __future__ import annotations

import hashlib
import json
import multiprocessing.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

import syncprobe
from syncprobe.cli import main
from syncprobe.comparison.programs import processes
from syncprobe.comparison.programs.judging import Ended, verdict_of
from syncprobe.targets.places import git
from syncprobe.targets.places.scratch import PREFIX, scratch_folder, sweep
from syncprobe.targets.running import RunOptions, run
from tests.comparison.programs.history import make_repository

TRAIN = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = torch.nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    loss = model(torch.ones(4, 3, device=device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step(){extra}
with open("model.txt", "a") as file:
    file.write("x")
"""
READS = "\n    loss.item()"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_repository(tmp_path, [TRAIN.format(extra=""), TRAIN.format(extra=READS)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _own_temporary_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others on this machine may be running programs, too."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    monkeypatch.setenv("TMPDIR", folder)
    monkeypatch.setattr(tempfile, "tempdir", folder)


def contents(folder: Path) -> dict[str, str]:
    """Every file of a repository, git's own included."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def leftovers() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*")}


def test_two_revisions_are_compared_and_commented_on(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "notes.txt").write_text("not committed")
    before, comment = contents(repository), tmp_path_factory.mktemp("out") / "comment.md"
    words = ["compare", "main~1..main", "--rounds", "1", "--comment", str(comment), "--json"]
    assert main([*words, "--", "train.py"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"]["summary"] == "identical (all 6 optimizer steps, bit for bit)"
    assert data["verdict"]["remarks"] == ["Uncommitted changes are not compared: notes.txt."]
    assert data["speedup"]["ratio"]["rounds"] == 1
    assert data["before"]["run"]["revision"].startswith("main~1 (")
    assert [site["line"] for site in data["appeared"]] == [12]
    text = comment.read_text()
    assert text.startswith("### syncprobe: MORE syncs (0, then 1); trains the same")
    assert "train.py:12: loss.item()" in text
    assert len(text.splitlines()) < 40, "one screen"
    assert contents(repository) == before
    assert not leftovers()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["mains..main", "--", "train.py"], "There is no revision 'mains'"),
        (["mains..main", "--", "train.py"], "Did you mean 'main'?"),
        (["--rev", "--upload-pack=x", "--", "train.py"], "expected one argument"),
        (["main~1..main"], "Which program?"),
        (["--rev", "main", "train.py"], "the program follows '--'"),
        (["train.py"], "Two things are compared"),
        (["main~1..main", "--", "missing.py"], "There is no script missing.py"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(
    words: list[str], reason: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert reason in lines[-1]
    assert not leftovers()


def test_a_folder_without_git_has_no_revisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "main..HEAD", "--", "train.py"]) == 2
    assert "is not in a git repository" in capsys.readouterr().err


def test_a_program_that_is_not_deterministic_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged from runs in this process, which draw differently because nothing is seeded."""
    monkeypatch.chdir(tmp_path)
    text = TRAIN.format(extra="").replace("torch.manual_seed(0)", "torch.seed()")
    Path("train.py").write_text(text)
    runs = [
        Ended(fingerprints=run("train.py", RunOptions(device="cpu")).fingerprints) for _ in range(3)
    ]
    verdict = verdict_of(*runs)
    assert verdict.is_equivalent is None
    assert "it is not deterministic, first in " in verdict.summary


def test_what_takes_another_time_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        TRAIN.format(extra="") + "import time\nprint('took', time.time(), 's')\n"
    )
    runs = [
        Ended(fingerprints=run("train.py", RunOptions(device="cpu")).fingerprints) for _ in range(3)
    ]
    assert verdict_of(*runs).summary == "identical (all 6 optimizer steps, bit for bit)"


def test_a_program_that_fails_or_asks_is_told() -> None:
    well, ill = (
        Ended(fingerprints=None),
        Ended(fingerprints=None, interruption="raised ValueError: x"),
    )
    assert verdict_of(well, ill).is_equivalent is False
    assert "only the second program fails: raised ValueError: x" in verdict_of(well, ill).summary
    asking = Ended(fingerprints=None, interruption="raised EOFError: EOF when reading a line")
    found = verdict_of(asking, asking)
    assert found.is_equivalent is None
    assert "it asks for input" in found.summary


def write_seeded(folder: Path) -> None:
    """Two programs that differ under seed 5 only."""
    seeded = "import os\n" + TRAIN.replace("manual_seed(0)", "manual_seed(int(os.environ['SEED']))")
    rate = "lr=0.1 + 0.1 * (os.environ['SEED'] == '5')"
    (folder / "a.py").write_text(seeded.format(extra=""))
    (folder / "b.py").write_text(seeded.replace("lr=0.1", rate).format(extra=""))


@pytest.mark.slow  # two processes for each seed
@pytest.mark.parametrize(("seeds", "found"), [("5", [False]), ("3,5", [True, False])])
def test_programs_are_verified_under_seeds(
    seeds: str, found: list[bool], repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_seeded(repository)
    assert main(["verify", "a.py", "b.py", "--seeds", seeds, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [each["equivalent"] for each in data["seeds"]] == found
    assert "differs first in parameter model.weight at step 1 by " in data["seeds"][-1]["summary"]
    assert not (repository / "model.txt").exists()


@pytest.mark.slow  # four processes
def test_a_budget_is_held_against_a_revision(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "pyproject.toml").write_text(
        "[tool.syncprobe.budget.train]\n"
        'target = "train.py"\nmax_regression = 0\nagainst = "git:main~1"\n'
    )
    assert main(["gate"]) == 1
    assert "up from 0 in git:main~1" in capsys.readouterr().out
    (repository / "train.py").write_text(TRAIN.format(extra=""))
    assert main(["gate"]) == 0
    assert not leftovers()


def test_what_a_killed_process_left_behind_is_removed_by_the_next() -> None:
    with scratch_folder() as folder:
        (folder.parent.parent / f"{PREFIX}gone").mkdir(exist_ok=True)
        with scratch_folder():
            assert leftovers() >= {folder.parent.name}
            assert f"{PREFIX}gone" not in leftovers()
    assert not leftovers()


def test_a_folder_that_is_swept_before_it_is_held_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, made = tempfile.mkdtemp, []

    def swept(*args: Any, **rest: Any) -> str:
        made.append(original(*args, **rest))
        if len(made) == 1:
            sweep()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept)
    with scratch_folder() as folder:
        assert [Path(each).exists() for each in made] == [False, True]
        assert folder.parent == Path(made[1]).resolve()


@pytest.mark.parametrize("function", ["mkdtemp", "rmtree"])
def test_an_interrupt_leaves_no_folder_behind(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the folder was just made, or is about to be removed."""
    module = tempfile if function == "mkdtemp" else shutil
    original = getattr(module, function)

    def interrupting(*args: Any, **rest: Any) -> Any:
        monkeypatch.setattr(module, function, original)
        made = original(*args, **rest) if function == "mkdtemp" else None
        signal.raise_signal(signal.SIGINT)
        return made or original(*args, **rest)

    monkeypatch.setattr(module, function, interrupting)
    with pytest.raises(KeyboardInterrupt), scratch_folder() as folder:
        (folder / "train.py").touch()
    assert not leftovers()


@pytest.mark.parametrize(
    ("module", "function"),
    [(subprocess, "_fork_exec"), (multiprocessing.util, "spawnv_passfds")],
    ids=["git", "runner"],
)
def test_an_interrupt_while_a_process_starts_leaves_none_behind(
    module: Any, function: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would go on writing into a folder that is being removed."""
    started: list[int] = []
    original = getattr(module, function)

    def interrupting(*args: Any) -> int:
        started.append(original(*args))
        signal.raise_signal(signal.SIGINT)
        return started[-1]

    place = processes.Place(folder=repository)
    resource_tracker.ensure_running()  # otherwise it would be what is started
    monkeypatch.setattr(module, function, interrupting)
    with pytest.raises(KeyboardInterrupt), processes.runner(place, "this"):
        git.revision("main", repository)
    [process] = started
    assert not Path(f"/proc/{process}").exists()


def interrupted(
    repository: Path, number: signal.Signals, is_time: Callable[[subprocess.Popen[bytes]], bool]
) -> None:
    """A comparison that is ended when it is time."""
    words = ["compare", "main~1..main", "--rounds", "1", "--", "train.py"]
    # Shells start what is in the background without, and whoever is started here inherits that.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "syncprobe", *words],
        cwd=repository,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    while not is_time(process):
        time.sleep(0.02)
    process.send_signal(number)
    process.wait()
    signal.signal(signal.SIGINT, handler)
    # Only who is killed cannot clean up.
    assert number is signal.SIGKILL or not leftovers()


def clean_up() -> None:
    """The next run does, or one after it: what a killed one had started may still be writing."""
    while leftovers():
        with scratch_folder():
            pass


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda each: each.name)
def test_whoever_ends_it_finds_the_repository_as_it_was(
    number: signal.Signals, repository: Path
) -> None:
    before = contents(repository)
    interrupted(repository, number, lambda process: bool(leftovers()) or process.poll() is not None)
    assert contents(repository) == before
    clean_up()


@pytest.mark.slow  # minutes
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda each: each.name)
def test_whenever_it_is_ended_the_repository_is_as_it_was(
    number: signal.Signals, repository: Path
) -> None:
    before, chance = contents(repository), random.Random(12)
    for _ in range(50):
        end = time.monotonic() + chance.uniform(0.2, 5.0)
        interrupted(repository, number, lambda _, end=end: time.monotonic() > end)
        assert contents(repository) == before
    clean_up()


@pytest.mark.slow  # what it adds to the others is how a revision is named
def test_revisions_can_be_named_beside_profiles(repository: Path) -> None:
    profile = syncprobe.run("train.py", device="sim")
    comparison = syncprobe.compare("git:main", profile, target="train.py")
    assert comparison.before.run.revision is not None
    assert comparison.before.run.revision.startswith("main (")
    assert comparison.verdict is not None
    assert comparison.verdict.is_equivalent
