"""Which long gaps of a run without steps are the program's, and which are noise of the machine."""

from __future__ import annotations

import random

import pytest

from syncprobe.events import DEFAULT_REGION, EventKind, EventSum
from syncprobe.recording.callsite import UNKNOWN_ORIGIN
from syncprobe.recording.kept.tally import SPIKE_NS, Tally

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


@pytest.mark.parametrize("every", [1, 5, 50])
def test_what_comes_regularly_is_the_programs(every):
    gaps = dict.fromkeys(range(0, EVENTS, every), SPIKE)
    assert host_ns(gaps) == len(gaps) * SPIKE


def test_what_is_long_is_the_programs_however_rare_and_noise_beside_it_is_not():
    noise = dict.fromkeys(random.Random(1).sample(range(EVENTS), 20), SPIKE)
    long = dict.fromkeys((100, 700), 10 * SPIKE_NS)
    assert host_ns(noise | long) == 20 * SPIKE_NS
