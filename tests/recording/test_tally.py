"""Which long gaps of a run without steps are the program's, and which are noise of the machine."""

from __future__ import annotations

import random

import pytest

from syncprobe.events import DEFAULT_REGION, EventKind, EventSum
from syncprobe.recording.callsite import UNKNOWN_ORIGIN
from syncprobe.recording.kept.tally import HICCUP_NS, SPIKE_NS, TELLABLE_NS, Tally

EVENTS = 1_000
SPIKE = SPIKE_NS // 2


def host_ns(gaps: dict[int, int]) -> float:
    """What is left of the host time if there were gaps before these events of one line."""
    tally = Tally()
    event = EventSum(EventKind.LAUNCH, "aten::mul", UNKNOWN_ORIGIN, DEFAULT_REGION, False)
    for number in range(EVENTS):
        event.count += 1
        tally.operations += 1
        if number in gaps:
            tally.long_ns = gaps[number]
            tally.add_host_time(DEFAULT_REGION, tally.long_ns)
            tally.note_long(event)
    return tally.settled([event], has_steps=False).regions[DEFAULT_REGION].host_ns


def test_what_comes_now_and_then_at_random_is_noise():
    places = random.Random(0).sample(range(EVENTS), 30)
    assert host_ns(dict.fromkeys(places, SPIKE)) == 0


@pytest.mark.parametrize(
    ("every", "gap_ns"), [(1, SPIKE), (5, SPIKE), (50, SPIKE), (200, 2 * SPIKE_NS)]
)
def test_what_comes_regularly_is_the_programs(every, gap_ns):
    gaps = dict.fromkeys(range(0, EVENTS, every), gap_ns)
    assert host_ns(gaps) == len(gaps) * gap_ns


@pytest.mark.parametrize("gap_ns", [SPIKE_NS + 1, HICCUP_NS])
def test_what_takes_longer_is_noise_only_while_it_hardly_matters(gap_ns):
    few = TELLABLE_NS * EVENTS // gap_ns
    places = random.Random(2).sample(range(EVENTS), few + 1)
    assert host_ns(dict.fromkeys(places[:few], gap_ns)) == 0
    assert host_ns(dict.fromkeys(places, gap_ns)) == (few + 1) * gap_ns


def test_what_is_long_is_the_programs_however_rare_and_noise_beside_it_is_not():
    noise = dict.fromkeys(random.Random(1).sample(range(EVENTS), 20), SPIKE)
    long = dict.fromkeys((100, 700), 10 * SPIKE_NS)
    assert host_ns(noise | long) == 20 * SPIKE_NS
