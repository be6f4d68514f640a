"""Ten commits to a DQN script: each is judged for what it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from syncprobe.cli import main
from syncprobe.comparison.programs.judging import Ended, verdict_of
from syncprobe.equivalence.verdict import Verdict
from syncprobe.profiles.model import Profile
from syncprobe.targets.running import RunOptions, run
from tests.comparison.programs.history import HISTORY, Change, make_repository, versions

Write = Callable[[str], Profile]


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> list[Profile]:
    """Every version, recorded in this process, which takes a second and not a minute."""
    folder = tmp_path_factory.mktemp("versions")
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for text in versions():
            Path("train.py").write_text(text)
            found.append(run("train.py", RunOptions(device="sim", is_thorough=True)))
    return found


def judged(change: Change, verdict: Verdict, before: float, after: float) -> None:
    assert verdict.summary.startswith(change.verdict)
    assert verdict.is_equivalent is not change.verdict.startswith("NOT")
    assert (after > before) - (after < before) == change.syncs


@pytest.mark.parametrize("number", range(len(HISTORY)), ids=lambda n: HISTORY[n].message)
def test_a_change_is_judged_by_what_was_computed(number: int, profiles: list[Profile]) -> None:
    before, after = profiles[number : number + 2]
    verdict = verdict_of(
        Ended(fingerprints=before.fingerprints), Ended(fingerprints=after.fingerprints)
    )
    judged(HISTORY[number], verdict, before.per_step["syncs"], after.per_step["syncs"])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    make_repository(folder, versions())
    return folder


@pytest.mark.slow  # nine times four processes
@pytest.mark.parametrize("number", range(len(HISTORY)), ids=lambda n: HISTORY[n].message)
def test_a_commit_is_judged_right(
    number: int,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(repository)
    last = len(HISTORY) - number
    revisions = f"main~{last}..main~{last - 1}"
    code = main(["compare", revisions, "--rounds", "1", "--json", "--", "train.py"])
    data = json.loads(capsys.readouterr().out)
    change = HISTORY[number]
    verdict = Verdict(
        is_equivalent=data["verdict"]["equivalent"], summary=data["verdict"]["summary"]
    )
    syncs = data["per_step"]["syncs"]
    judged(change, verdict, syncs["before"], syncs["after"])
    assert code == (verdict.is_equivalent is False)
