"""The Perfetto trace: every span inside its parent, every modelled event there, nothing unlabelled."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syncprobe
from syncprobe.events import EventKind
from syncprobe.profiles.model import RegionSpan, Time, Timeline
from syncprobe.rendering import FORMATS
from syncprobe.rendering.traces.perfetto import NoTimelineError
from tests.rendering import factories

HOST, DEVICE = 1, 2


def trace_of(*profiles):
    return json.loads(FORMATS["perfetto"].render(profiles), parse_float=Decimal)


def events_of(timeline, **fields):
    return trace_of(factories.profile(timeline=timeline, **fields))["traceEvents"]


def slices(events):
    """What a trace reader makes of the begins and ends: (track, depth, name, start, end, parent)."""
    stacks = defaultdict(list)
    done = []
    for event in events:
        stack = stacks[event["pid"], event.get("tid")]
        if event["ph"] == "B":
            stack.append((event, stack[-1][0] if stack else None))
        elif event["ph"] == "E":
            begun, parent = stack.pop()
            done.append((begun, Decimal(event["ts"]), parent))
    assert not any(stacks.values()), "a slice was begun and never ended"
    return done


def named(events, phase):
    return [event for event in events if event["ph"] == phase]


def test_a_step_is_drawn_on_two_tracks():
    found = [
        (begun["tid"], begun["name"], begun["ts"], end, parent and parent["name"])
        for begun, end, parent in slices(events_of(factories.timeline()))
    ]
    assert found == [
        (HOST, "aten::addmm", 10, 15, "act"),
        (HOST, "stall", 16, 35, "scalar_read: aten::_local_scalar_dense"),
        (HOST, "scalar_read: aten::_local_scalar_dense", 16, 35, "act"),
        (HOST, "act", 0, 40, "step 3"),
        (HOST, "env", 40, 100, "step 3"),
        (HOST, "step 3", 0, 100, None),
        (DEVICE, "aten::addmm", 15, 23, None),
        (DEVICE, "scalar_read: aten::_local_scalar_dense", Decimal("34.999"), 35, None),
    ]


def test_a_conversion_takes_no_modelled_time_and_is_an_instant():
    (instant,) = named(events_of(factories.timeline()), "i")
    assert (instant["name"], instant["ts"], instant["tid"]) == ("conversion: torch.tensor", 8, HOST)


def test_arguments_name_line_operation_and_bytes():
    events = named(events_of(factories.timeline()), "B")
    read = next(event for event in events if event["cat"] == "scalar_read")
    assert read["args"] == {
        "site": "policy/agent.py:10",
        "function": "Agent.act",
        "operation": "aten::_local_scalar_dense",
        "region": "act",
        "bytes": 4,
        "blocking": True,
    }


def test_counters_grow_with_syncs_and_bytes_and_the_queue_empties():
    points = defaultdict(list)
    for event in named(events_of(factories.timeline()), "C"):
        points[event["name"]].append((event["ts"], event["args"]))
    assert points["syncs so far"] == [(0, {"syncs": 0}), (35, {"syncs": 1})]
    assert points["bytes moved so far"] == [
        (0, {"to_host": 0, "to_device": 0}),
        (16, {"to_host": 4, "to_device": 0}),
    ]
    assert [(at, args["waiting"]) for at, args in points["device queue depth"]] == [
        (0, 0),
        (10, 1),
        (16, 2),
        (23, 1),
        (35, 0),
    ]


def test_everything_says_that_it_is_modelled_and_for_what():
    trace = trace_of(factories.profile(timeline=factories.timeline(spans_left_out=7)))
    metadata = named(trace["traceEvents"], "M")
    names = [event["args"]["name"] for event in metadata if event["name"].endswith("_name")]
    assert names[0].startswith("modelled step (t4): train, AC-IQN")
    assert names[1:] == ["host, modelled", "device, modelled"]
    assert trace["otherData"]["profiles"] == [
        {
            "modelled": True,
            "spec": "t4",
            "command": "syncprobe profile train --steps 10",
            "syncprobe": "0.1.0",
            "events_left_out": 7,
        }
    ]


def test_several_profiles_are_several_processes():
    profile = factories.profile(timeline=factories.timeline())
    assert {event["pid"] for event in trace_of(profile, profile)["traceEvents"]} == {1, 2}


def test_a_run_without_steps_is_called_a_run():
    events = events_of(factories.timeline(), run=factories.run(steps=0))
    assert events[0]["args"]["name"].startswith("modelled run (t4)")
    assert named(events, "B")[0]["name"] == "run"


@pytest.mark.parametrize(
    ("device", "why"), [("cpu", "simulated device only, not on cpu"), ("sim", "before timelines")]
)
def test_a_profile_without_a_modelled_step_is_refused_with_the_reason(device, why):
    profile = factories.profile(run=factories.run(device=device))
    with pytest.raises(NoTimelineError, match=why) as refused:
        trace_of(profile)
    assert "--device sim" in str(refused.value)
    assert "\n" not in str(refused.value)


MICROSECONDS = st.floats(0, 1e9, allow_nan=False)
SHORT = st.floats(0, 50, allow_nan=False)
SPANS = st.builds(
    factories.span,
    st.sampled_from(EventKind),
    start_us=SHORT | MICROSECONDS,
    host_us=SHORT,
    stall_us=SHORT,
    device_start_us=SHORT | MICROSECONDS,
    device_us=SHORT,
    is_blocking=st.booleans(),
    nbytes=st.integers(0, 10**9),
    operation=st.text(),
)
REGIONS = st.builds(
    RegionSpan, region=st.text(), start_us=SHORT | MICROSECONDS, duration_us=SHORT | MICROSECONDS
)
TIMELINES = st.builds(
    Timeline,
    step=st.integers(0, 5),
    duration_us=SHORT | MICROSECONDS,
    regions=st.lists(REGIONS, max_size=6).map(tuple),
    spans=st.lists(SPANS, max_size=25).map(tuple),
)


@given(TIMELINES)
@settings(max_examples=200, deadline=None)
def test_any_timeline_nests_strictly_and_loses_nothing(timeline):
    events = events_of(timeline)
    found = slices(events)
    last_end: dict[object, Decimal] = {}
    for begun, end, parent in found:
        assert begun["ts"] <= end
        # To the nanosecond, and no finer: readers count in whole ones.
        assert end * 1000 == int(end * 1000)
        if parent is not None:
            parent_end = next(until for other, until, _ in found if other is parent)
            assert parent["ts"] <= begun["ts"] <= end <= parent_end
        # Siblings do not overlap: they are ended in order, each begun after the one before has ended.
        key = (begun["tid"], id(parent))
        assert begun["ts"] >= last_end.get(key, Decimal(0))
        last_end[key] = end
    drawn = [event for event in events if event["ph"] in {"B", "i"} and event.get("tid") == HOST]
    kinds = {str(kind) for kind in EventKind}
    assert sum(event["cat"] in kinds for event in drawn) == len(timeline.spans)
    worked = sum(span.device_us > 0 for span in timeline.spans)
    assert sum(begun["tid"] == DEVICE for begun, _, _ in found) == worked


@given(TIMELINES)
@settings(max_examples=50, deadline=None)
def test_any_queue_is_never_negative_and_empties(timeline):
    depths = [
        event["args"]["waiting"]
        for event in named(events_of(timeline), "C")
        if event["name"] == "device queue depth"
    ]
    assert min(depths) >= 0
    assert depths[-1] == 0


def test_a_recorded_program_can_be_drawn():
    import torch

    with syncprobe.record(device="sim", gpu="a100") as recording:
        for _ in range(2):
            with recording.step():
                with recording.region("act"):
                    value = torch.ones(8, device="cuda").sum().item()
                with recording.region("env"):
                    assert value == 8.0
    profile = recording.profile()
    assert profile.timeline is not None
    trace = trace_of(profile)
    assert trace["otherData"]["profiles"][0]["spec"] == "a100"
    found = slices(trace["traceEvents"])
    parents = {begun["cat"]: parent["name"] for begun, _, parent in found if parent is not None}
    assert parents["scalar_read"] == "act"
    assert parents["stall"].startswith("scalar_read")
    assert {begun["name"] for begun, _, _ in found if begun["cat"] == "region"} >= {"act"}


def test_no_spec_falls_back_to_the_gpu_of_the_run():
    events = events_of(factories.timeline(), time=Time())
    assert events[0]["args"]["name"].startswith("modelled step (t4)")
