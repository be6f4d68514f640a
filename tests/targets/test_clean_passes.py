"""Clean passes in turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncprobe.errors import SyncprobeError
from syncprobe.profiles.model import Digest
from syncprobe.recording import marks
from syncprobe.targets.base import Outcome
from syncprobe.targets.clean_passes import CleanPass, clean_pass, in_turns, pooled


class Steps:
    """A target of two steps that notes when it is run."""

    warmup, steps, root, is_timed_by_default, step_on = 0, 2, Path(), True, None

    def __init__(self, name, log, interruption=None):
        self.name, self._log, self._interruption = name, log, interruption

    def execute(self, device):
        self._log.append((self.name, device))
        for _ in range(2):
            with marks.step(), marks.region("work"):
                pass
        return Outcome(
            digest=Digest(actions=self.name, rewards=""), interruption=self._interruption
        )


def test_targets_take_turns_after_a_round_that_does_not_count():
    log, heard = [], []
    targets = {"a": Steps("A", log), "b": Steps("B", log)}
    passes = in_turns(targets, "sim", 2, lambda *news: heard.append(news))
    assert [name for name, _ in log] == ["A", "B"] * 3
    assert {device for _, device in log} == {"cpu"}
    assert [len(each) for each in passes.values()] == [2, 2]
    assert passes["b"][0].digest == Digest(actions="B", rewards="")
    assert heard[0] == ("timing in turns", 0, 6)


def test_a_real_gpu_is_timed_where_it_is():
    log = []
    clean_pass(Steps("A", log), "cuda")
    assert log == [("A", "cuda")]


def test_a_pass_that_does_not_finish_is_refused():
    with pytest.raises(SyncprobeError, match="did not finish"):
        clean_pass(Steps("A", [], interruption="boom"), "cpu")
    assert marks.active() is None


def test_the_mean_counts_steps_that_learn():
    passes = [
        CleanPass(steps=[{"act": 1_000_000}, {"act": 1_000_000, "learn": 6_000_000}], digest=None),
        CleanPass(steps=[{"act": 4_000_000}], digest=None),
    ]
    assert passes[0].ms_per_step == 4.0
    assert len(pooled(passes).steps) == 3
