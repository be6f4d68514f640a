"""Looking at steps stays within its share of a run's time."""

from __future__ import annotations

import pytest

from syncprobe.recording.fingerprinting import sampling


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        return self.now


@pytest.mark.parametrize("step_ns", [100_000, 1_000_000, 50_000_000])
def test_looking_costs_less_than_five_percent_of_a_long_run(
    step_ns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look takes a millisecond here, ten times a step at worst."""
    clock = Clock()
    monkeypatch.setattr(sampling, "time", clock)
    sampler = sampling.Sampler(is_thorough=False)
    looks = 0
    while clock.now < 20_000_000_000:
        clock.now += step_ns
        if sampler.next_step():
            looks += 1
            with sampler.working():
                clock.now += 1_000_000
    assert looks * 1_000_000 < 0.05 * clock.now
    assert looks >= 50, "a short run is looked at closely in any case"


def test_every_step_is_looked_at_where_that_is_asked_for() -> None:
    sampler = sampling.Sampler(is_thorough=True)
    assert all(sampler.next_step() for _ in range(100))


def test_the_stopwatch_stands_while_somebody_looks() -> None:
    heard: list[str] = []

    class Watch:
        def pause(self) -> None:
            heard.append("pause")

        def resume(self) -> None:
            heard.append("resume")

    with sampling.Sampler(is_thorough=True, stopwatch=Watch()).working():
        heard.append("work")
    assert heard == ["pause", "work", "resume"]
