"""What two runs print proves something, but for the numbers that no two runs agree on."""

from __future__ import annotations

from dataclasses import replace

import pytest

import syncprobe
from syncprobe.errors import SyncprobeError
from syncprobe.fixing.likeness import yardstick
from syncprobe.fixing.trial import Trial


@pytest.fixture
def printed():
    """Trial of a run that did nothing but print."""
    with syncprobe.record(device="sim") as recording:
        pass
    empty = Trial(profile=recording.profile(), draws={}, output="", files={})
    return lambda *lines: replace(empty, output="\n".join(lines))


def test_a_rate_that_was_equal_by_chance_is_still_a_rate(printed) -> None:
    found = yardstick(
        printed("loss 1.5 at 10 steps/s", "loss 1.25 at 11 steps/s", "SPS: 8"),
        printed("loss 1.5 at 12 steps/s", "loss 1.25 at 11 steps/s", "SPS: 8"),
        "train.py",
    )
    other = printed("loss 1.5 at 9 steps/s", "loss 1.25 at 7 steps/s", "SPS: 8")
    assert found.difference(other) is None
    assert found.notes[0].startswith("Numbers on 2 of the lines")
    assert "1 line of output" in found.proof


def test_other_numbers_of_such_a_line_still_count(printed) -> None:
    found = yardstick(printed("loss 1.5 in 10 s"), printed("loss 1.5 in 12 s"), "train.py")
    difference = found.difference(printed("loss 1.25 in 10 s"))
    assert difference == "it prints 'loss 1.25 in 10 s' in place of 'loss 1.5 in 10 s'"


def test_bare_numbers_are_taken_line_by_line(printed) -> None:
    found = yardstick(printed("3", "0.5"), printed("4", "0.5"), "train.py")
    assert found.difference(printed("5", "0.5")) is None
    assert found.difference(printed("3", "0.25")) == "it prints '0.25' in place of '0.5'"


def test_other_words_are_no_variation(printed) -> None:
    with pytest.raises(SyncprobeError, match="not deterministic"):
        yardstick(printed("left"), printed("right"), "train.py")


def test_files_named_after_the_time_are_counted_and_not_read(printed) -> None:
    def run(*files: tuple[str, str]):
        return replace(printed("done"), files=dict(files))

    found = yardstick(
        run(("runs/17/events.1", "a"), ("model.pt", "m")),
        run(("runs/18/events.2", "b"), ("model.pt", "m")),
        "train.py",
    )
    assert found.difference(run(("runs/19/events.3", "c"), ("model.pt", "m"))) is None
    assert "runs/17/events.1" in found.notes[0]
    assert found.proof.endswith("1 file")
    assert found.difference(run(("runs/19/events.3", "c"), ("model.pt", "n"))) == (
        "it leaves another model.pt behind"
    )
    more = run(("runs/19/events.3", "c"), ("runs/19/events.4", "c"), ("model.pt", "m"))
    assert "2 files like runs/0/events.0" in (found.difference(more) or "")
