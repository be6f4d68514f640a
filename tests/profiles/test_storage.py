"""Profiles survive being written, match the shipped schema, and bad files are refused in one line."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncprobe.errors import SyncprobeError
from syncprobe.events import CallSite, EventKind
from syncprobe.profiles import storage
from syncprobe.profiles.host import HotCall, HotSpot, Outside, OwnTime
from syncprobe.profiles.model import (
    Caller,
    Ceiling,
    Digest,
    Finding,
    Profile,
    Region,
    RegionSpan,
    Run,
    Site,
    SourceLine,
    Span,
    Spread,
    SyncClass,
    Time,
    Timeline,
)
from syncprobe.profiles.storage import ProfileFormatError
from tests.rendering import factories

SCHEMA = json.loads(
    resources.files("syncprobe").joinpath("profile.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

names = st.text(max_size=12)
whole = st.integers(0, 10**12)
amounts = st.floats(0, 1e12, allow_nan=False)
call_sites = st.builds(CallSite, path=names, line=whole, function=names)
counts = st.fixed_dictionaries(dict.fromkeys(factories.KINDS, whole))
rates = st.fixed_dictionaries(
    dict.fromkeys(("syncs", *factories.KINDS, "bytes_to_host", "bytes_to_device"), amounts)
)
runs = st.builds(
    Run,
    target=names,
    agent=st.none() | names,
    pipeline=st.none() | names,
    robots=st.none() | whole,
    cores=st.none() | whole,
    obstacles=st.none() | whole,
    seed=st.none() | whole,
    patches=st.lists(st.integers(1, 5), max_size=5).map(tuple),
    device=names,
    gpu=names,
    steps=whole,
    warmup=whole,
    torch=names,
    python=names,
    command=names,
    is_complete=st.booleans(),
    exit_code=st.integers(-255, 255),
    interruption=st.none() | names,
    step_on=st.sampled_from(["mark", "optimizer", "env", "batch", "none", None]),
    notes=st.lists(names, max_size=2).map(tuple),
)
sites = st.builds(
    Site,
    site=call_sites,
    kind=st.sampled_from(EventKind),
    operation=names,
    entry=names,
    region=names,
    is_blocking=st.booleans(),
    count=whole,
    per_step=amounts,
    nbytes=whole,
    stall_us_modelled=amounts,
    host_us_modelled=amounts,
    needed_per_step=amounts,
    sync_class=st.none() | st.sampled_from(SyncClass),
    rule=st.none() | names,
    plan_step=st.none() | st.integers(1, 5),
    callers=st.lists(
        st.builds(Caller, stack=st.lists(call_sites, max_size=2).map(tuple), count=whole),
        max_size=2,
    ).map(tuple),
)
regions = st.builds(
    Region,
    counts=counts,
    per_step=rates,
    measured_ms_per_step=st.none() | amounts,
    modelled_ms_per_step=st.none() | amounts,
)
times = st.builds(
    Time,
    measured_ms_per_step=st.none() | st.builds(Spread, median=amounts, p10=amounts, p90=amounts),
    modelled_ms_per_step=st.none() | amounts,
    device_busy=st.none() | st.floats(0, 1),
    spec=st.none() | names,
    own=st.none()
    | st.builds(
        OwnTime,
        ms_per_step=amounts,
        low_ms=amounts,
        high_ms=amounts,
        source=st.sampled_from(["watched", "calibrated"]),
        steps=whole,
        by_region=st.dictionaries(names, amounts, max_size=2),
    ),
    outside=st.none() | st.builds(Outside, before_ms=amounts, between_ms=amounts, after_ms=amounts),
)
findings = st.builds(
    Finding,
    rule=names,
    title=names,
    site=call_sites,
    region=names,
    count=whole,
    per_step=amounts,
    plan_step=st.integers(1, 5),
    advice=names,
    cost_us_modelled=amounts,
    is_allowed=st.booleans(),
)
digests = st.builds(
    Digest,
    actions=names,
    rewards=names,
    episode_rewards=st.lists(st.floats(-1e9, 1e9), max_size=3).map(tuple),
    is_perturbed=st.booleans(),
)
timelines = st.builds(
    Timeline,
    step=whole,
    duration_us=amounts,
    regions=st.lists(
        st.builds(RegionSpan, region=names, start_us=amounts, duration_us=amounts), max_size=2
    ).map(tuple),
    spans=st.lists(
        st.builds(
            Span,
            site=call_sites,
            kind=st.sampled_from(EventKind),
            operation=names,
            region=names,
            is_blocking=st.booleans(),
            nbytes=whole,
            start_us=amounts,
            host_us=amounts,
            stall_us=amounts,
            device_start_us=amounts,
            device_us=amounts,
        ),
        max_size=3,
    ).map(tuple),
    spans_left_out=whole,
)
profiles = st.builds(
    Profile,
    syncprobe=names,
    created=names,
    run=runs,
    counts=counts,
    per_step=rates,
    regions=st.dictionaries(names, regions, max_size=2),
    sites=st.lists(sites, max_size=3).map(tuple),
    time=times,
    ceiling=st.lists(
        st.builds(Ceiling, what=names, share=st.floats(0, 1), speedup_if_free=st.floats(1, 1e6)),
        max_size=2,
    ).map(tuple),
    findings=st.lists(findings, max_size=2).map(tuple),
    digest=st.none() | digests,
    unknown_ops=st.lists(names, max_size=2).map(tuple),
    lines=st.lists(
        st.builds(
            SourceLine,
            site=call_sites,
            text=names,
            hits_per_step=amounts,
            measured_us_per_step=amounts,
        ),
        max_size=2,
    ).map(tuple),
    hot_spots=st.lists(
        st.builds(HotSpot, site=call_sites, is_function=st.booleans(), share=st.floats(0, 1)),
        max_size=2,
    ).map(tuple),
    hot_calls=st.lists(
        st.builds(
            HotCall,
            site=call_sites,
            depth=st.integers(0, 40),
            share=st.floats(0, 1),
            own_share=st.floats(0, 1),
        ),
        max_size=2,
    ).map(tuple),
    timeline=st.none() | timelines,
)


def document(**changes):
    return {**storage.to_json(factories.profile()), **changes}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(profiles)
def test_any_profile_comes_back_as_it_was_and_matches_the_schema(profile):
    text = storage.dumps(profile)
    assert storage.loads(text) == profile
    VALIDATOR.validate(json.loads(text))


@pytest.mark.parametrize(
    "profile", [factories.profile(), factories.host_bound_profile(), factories.empty_profile()]
)
def test_a_saved_profile_is_valid_and_loads_equal(profile, tmp_path):
    path = tmp_path / "deep" / "er" / "profile.json"
    storage.save(profile, path)
    assert storage.load(path) == storage.load(str(path)) == profile
    VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))


def test_the_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        {"sites": [{"path": "x"}]},
        {"extra": 1},
        {"counts": {}},
        {"schema": "syncprobe.profile/2"},
        {"time": {}},
    ],
)
def test_the_schema_refuses_what_is_never_written(change):
    assert not VALIDATOR.is_valid(document(**change))


def test_rows_are_on_lines_of_their_own_and_strings_stay_as_they_are():
    odd = ("a  b", "[", "]  [", "{ \n  }")
    timeline = factories.timeline(spans=(factories.span(),))
    profile = replace(factories.profile(), unknown_ops=odd, timeline=timeline)
    text = storage.dumps(profile)
    assert storage.loads(text) == profile
    assert sum("aten::" in line and line.strip().startswith("[") for line in text.splitlines()) == 1


def test_file_names_that_are_no_text_survive(tmp_path):
    profile = factories.profile(sites=(factories.site(path="bad\udc80name.py"),))
    storage.save(profile, tmp_path / "p.json")
    assert storage.load(tmp_path / "p.json") == profile


def test_entries_of_a_later_minor_version_are_ignored():
    data = document(schema="syncprobe.profile/1.4", ranks=[1, 2])
    data["run"]["later"] = True
    data["ceiling"][0]["later"] = True
    assert storage.loads(json.dumps(data)) == factories.profile()


def test_entries_that_an_older_file_lacks_get_their_defaults():
    data = document()
    for key in ("exit_code", "interruption", "complete"):
        del data["run"][key]
    for site in data["sites"]:
        del site["callers"], site["entry"]
    del data["timeline"]
    loaded = storage.loads(json.dumps(data))
    assert loaded.run == factories.run()
    assert loaded.sites[0].callers == ()


WHOLE = storage.dumps(factories.profile())


def site_with(**changes):
    return [{**storage.to_json(factories.profile())["sites"][0], **changes}]


BAD_DOCUMENTS = {
    "empty": "",
    "no JSON": "hello",
    "truncated": WHOLE[: len(WHOLE) // 2],
    "a list": "[]",
    "null": "null",
    "no schema": "{}",
    "another schema": '{"schema": "speedscope/1"}',
    "a schema without a number": '{"schema": "syncprobe.profile/x"}',
    "a schema with a strange digit": '{"schema": "syncprobe.profile/²"}',
    "a schema of another type": '{"schema": 1}',
    "only the schema": '{"schema": "syncprobe.profile/1"}',
    "deeply nested": "[" * 100_000,
    "run is a list": json.dumps(document(run=[])),
    "run lacks its target": json.dumps(document(run={"patches": []})),
    "counts is a list": json.dumps(document(counts=[1])),
    "a count is text": json.dumps(document(counts={"launch": "many"})),
    "a rate is a bool": json.dumps(document(per_step={"syncs": True})),
    "a line is text": json.dumps(document(sites=site_with(line="ten"))),
    "a count is a fraction": json.dumps(document(sites=site_with(count=1.5))),
    "a path is a number": json.dumps(document(sites=site_with(path=3))),
    "an unknown kind": json.dumps(document(sites=site_with(kind="nap"))),
    "an unknown class": json.dumps(document(sites=site_with(**{"class": "nice"}))),
    "a site is text": json.dumps(document(sites=["x"])),
    "sites is a number": json.dumps(document(sites=3)),
    "regions is a list": json.dumps(document(regions=[])),
    "a region is empty": json.dumps(document(regions={"act": {}})),
    "a time is text": json.dumps(document(time={**document()["time"], "spec": 5})),
    "not a number": json.dumps(document(per_step={"syncs": math.nan})),
    "infinite": json.dumps(document(per_step={"syncs": 0.5})).replace("0.5", "1e999"),
    "a digest of another type": json.dumps(document(digest="abc")),
    "unknown operations are numbers": json.dumps(document(unknown_ops=[1])),
}


@pytest.mark.parametrize("text", BAD_DOCUMENTS.values(), ids=BAD_DOCUMENTS)
def test_a_damaged_file_is_refused_in_one_line_that_names_it(text, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileFormatError) as caught:
        storage.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert "bad.json" in message
    assert len(message) < 400


def test_a_newer_schema_says_to_update():
    with pytest.raises(
        ProfileFormatError, match=r"newer schema 'syncprobe\.profile/2'.*Update syncprobe"
    ):
        storage.loads(json.dumps(document(schema="syncprobe.profile/2")))


def test_binary_files_are_refused(tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(b"PK\x03\x04\xff\xfe\x00")
    with pytest.raises(ProfileFormatError, match="not a text file"):
        storage.load(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless file")
def test_an_endless_file_is_refused(monkeypatch):
    monkeypatch.setattr(storage, "MOST_CHARACTERS", 10_000)
    with pytest.raises(storage.ProfileFormatError, match="over 10,000 characters"):
        storage.load("/dev/zero")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(SyncprobeError, match="There is no file"):
        storage.load(tmp_path / "nosuch.json")
    with pytest.raises(SyncprobeError, match="Could not read"):
        storage.load(tmp_path)


def test_a_figure_that_is_no_number_is_not_written(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(ValueError, match="not JSON compliant"):
        storage.save(factories.profile(per_step={"syncs": math.nan}), path)
    assert path.read_text(encoding="utf-8") == "before"
