"""The speedscope file: valid by its schema, outermost frame first, and the weights add up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from syncprobe.events import EventKind
from syncprobe.profiles.model import Caller, Time
from syncprobe.rendering import FORMATS
from tests.rendering import factories

SCHEMA = Path(__file__).parents[1] / "data" / "speedscope" / "file-format-schema.json"
VALIDATOR = Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
TITLE = "train, AC-IQN, 5 robots, baseline, seed 0, 10 steps, device sim (t4)"


def document_of(*profiles):
    document = json.loads(FORMATS["speedscope"].render(profiles))
    VALIDATOR.validate(document)
    return document


def stacks(document, graph):
    """Names from the outside in, with their weight."""
    names = [frame["name"] for frame in document["shared"]["frames"]]
    samples = ([names[number] for number in sample] for sample in graph["samples"])
    return list(zip(samples, graph["weights"], strict=True))


def test_the_schema_can_fail():
    assert not VALIDATOR.is_valid({"shared": {"frames": []}})


def test_there_is_a_graph_for_each_weight_and_its_name_says_what_is_modelled():
    graphs = document_of(factories.profile())["profiles"]
    assert [(graph["name"], graph["unit"]) for graph in graphs] == [
        (f"syncs, in all: {TITLE}", "none"),
        (f"bytes moved, in all: {TITLE}", "bytes"),
        (f"host time per step, modelled (t4): {TITLE}", "microseconds"),
    ]


def test_weights_add_up_to_what_the_profile_says():
    profile = factories.profile()
    syncs, moved, time = document_of(profile)["profiles"]
    assert sum(syncs["weights"]) == sum(site.count for site in profile.sites if site.is_blocking)
    assert (
        sum(moved["weights"]) == 400 + 12_600 + 10
    )  # what launches read on the device stays there
    assert sum(time["weights"]) == pytest.approx(800.0)
    assert syncs["endValue"] == sum(syncs["weights"])


def test_stacks_run_from_the_outermost_caller_to_the_operation():
    inner = factories.call_site("policy/trainer.py", 88, "Trainer.learn")
    outer = factories.call_site("train.py", 5, "main")
    site = factories.site(callers=(Caller(stack=(inner, outer), count=50),))
    document = document_of(factories.profile(sites=(site,)))
    ((stack, weight),) = stacks(document, document["profiles"][0])
    leaf = "scalar_read: aten::_local_scalar_dense"
    assert stack == ["main", "Trainer.learn", "Agent.act", leaf]
    assert weight == 50
    assert document["shared"]["frames"][1:3] == [
        {"name": "main", "file": "train.py", "line": 5},
        {"name": "Trainer.learn", "file": "policy/trainer.py", "line": 88},
    ]


def test_callers_share_a_site_by_their_counts_and_the_rest_is_shown_as_others():
    first = Caller(stack=(factories.call_site(function="f"),), count=30)
    second = Caller(stack=(factories.call_site(function="g"),), count=10)
    site = factories.site(callers=(first, second), nbytes=100)
    document = document_of(factories.profile(sites=(site,)))
    outermost = [(names[0], weight) for names, weight in stacks(document, document["profiles"][1])]
    assert outermost == [("f", 60), ("g", 20), ("(other callers)", 20)]


def test_a_frame_is_listed_once_over_all_graphs_and_profiles():
    frames = document_of(factories.profile(), factories.profile())["shared"]["frames"]
    assert len({json.dumps(frame) for frame in frames}) == len(frames)


def test_without_a_model_there_is_no_graph_of_time():
    graphs = document_of(factories.profile(time=Time()))["profiles"]
    assert [graph["unit"] for graph in graphs] == ["none", "bytes"]


def test_a_program_that_did_nothing_is_an_empty_graph():
    graphs = document_of(factories.empty_profile())["profiles"]
    assert [graph["samples"] for graph in graphs] == [[], []]


SITES = st.builds(
    factories.site,
    st.sampled_from(EventKind),
    path=st.text(),
    function=st.text(st.characters()),
    operation=st.text(),
    line=st.integers(0, 10**6),
    count=st.integers(0, 1000),
    nbytes=st.integers(0, 10**12),
    callers=st.lists(
        st.builds(
            Caller,
            stack=st.lists(st.builds(factories.call_site, function=st.text()), max_size=3).map(
                tuple
            ),
            count=st.integers(0, 500),
        ),
        max_size=4,
    ).map(tuple),
)


@given(st.lists(SITES, max_size=6))
def test_any_sites_make_a_valid_file_that_loses_no_sync(sites):
    syncs = document_of(factories.profile(sites=tuple(sites)))["profiles"][0]
    expected = sum(site.count for site in sites if site.is_blocking)
    assert sum(syncs["weights"]) == pytest.approx(expected)
