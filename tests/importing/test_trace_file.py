"""Files that are no traces are refused in one line; damaged entries are counted and left out."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncprobe.errors import SyncprobeError
from syncprobe.importing import import_trace
from syncprobe.profiles import storage
from tests.importing import traces
from tests.slowness import examples


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not valid JSON"),
        (b"hello", "not valid JSON"),
        (b'{"traceEvents": [{"ph": "X",', "cut off"),
        (b"\xff\xfe\x00\x01", "not valid JSON"),
        (b"[" * 100_000, "JSON|nested"),
        (b"1" * 10_000, "not valid JSON"),
        (b"{}", "no list of 'traceEvents'"),
        (b'{"traceEvents": {}}', "no list of 'traceEvents'"),
        (b'"text"', "no list of 'traceEvents'"),
        (b"[]", "nothing that torch.profiler recorded"),
        (b'[{"ph": "X", "cat": "v8", "name": "f", "ts": 1, "dur": 1}]', "nothing that torch"),
        (b"\x1f\x8bgarbage", "compressed and damaged"),
        # Without the time of day, which would give the test another name on each worker.
        (gzip.compress(b'{"traceEvents": []}' * 99, mtime=0)[:-12], "compressed and damaged"),
        (gzip.compress(b"hello", mtime=0), "not valid JSON"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path, content, problem):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(SyncprobeError, match=problem) as refused:
        import_trace(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(SyncprobeError, match="There is no file"):
        import_trace(tmp_path / "none.json")
    with pytest.raises(SyncprobeError, match="Could not read"):
        import_trace(tmp_path)


def test_compression_is_known_by_the_content_not_the_name(tmp_path):
    path = tmp_path / "odd.json"
    path.write_bytes(gzip.compress(traces.GPU_TRACE.read_bytes()))
    assert import_trace(path).run.steps == 2


def test_a_bare_list_of_events_is_a_trace(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([traces.call("cudaLaunchKernel", 0)]))
    assert import_trace(path).counts["launch"] == 1


@pytest.mark.parametrize(
    "damage",
    [
        *({"ts": None}, {"ts": "soon"}, {"ts": True}, {"ts": 1e30}, {"dur": -1}, {"dur": []}),
        *({"name": None}, {"name": 3}, {"ts": 10**400}),
    ],
    ids=lambda damage: str(damage)[:20],
)
def test_a_damaged_event_is_left_out_and_counted(tmp_path, damage):
    good = traces.call("cudaLaunchKernel", 0)
    imported = import_trace(traces.write(tmp_path, good, {**good, **damage}))
    assert imported.counts["launch"] == 1
    assert "1 damaged entries of the trace were left out." in imported.run.notes


@pytest.mark.parametrize(
    "oddity", [{"args": 3}, {"pid": {}}, {"tid": None}, {"args": {"bytes": "x"}}]
)
def test_an_odd_event_still_counts(tmp_path, oddity):
    good = traces.call("cudaLaunchKernel", 0)
    assert import_trace(traces.write(tmp_path, {**good, **oddity})).counts["launch"] == 1


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_time_is_no_event(tmp_path, constant):
    path = tmp_path / "trace.json"
    path.write_text(f'[{{"ph":"X","cat":"kernel","name":"k","ts":{constant},"dur":1}}]')
    with pytest.raises(SyncprobeError, match="nothing that torch"):
        import_trace(path)


NAMES = st.sampled_from(
    [
        *(
            "aten::item",
            "aten::_local_scalar_dense",
            "aten::copy_",
            "aten::lift_fresh",
            "aten::index",
        ),
        *(
            "cudaLaunchKernel",
            "cudaMemcpyAsync",
            "cudaStreamSynchronize",
            "cudaMemcpy",
            "cuda",
            "cu",
        ),
        *("Memcpy DtoH (Device -> Pageable)", "Memcpy", "ProfilerStep#1", "ProfilerStep#", "act"),
        *(
            "train.py(12): main",
            "(1): f",
            "torch/_tensor.py(1): backward",
            "x.py(999999999): \ud800",
        ),
        "<built-in method run_backward of torch._C._EngineBase object at 0x0>",
    ]
)
NUMBERS = st.integers(-5, 60) | st.floats() | st.integers()
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=5)
JUNK = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
CATEGORIES = st.sampled_from(
    [
        *("cpu_op", "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset"),
        *("python_function", "user_annotation", "Runtime", "other"),
    ]
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "correlation": st.integers(0, 3) | JUNK,
        "bytes": st.integers(0, 99) | JUNK,
        "Call stack": st.just("a.py(1): f;b.py(2): g") | JUNK,
    },
)
EVENTS = st.fixed_dictionaries(
    {"ph": st.just("X"), "cat": CATEGORIES},
    optional={
        "name": NAMES | JUNK,
        "ts": NUMBERS | JUNK,
        "dur": NUMBERS | JUNK,
        "pid": st.integers(0, 1) | JUNK,
        "tid": st.integers(0, 1) | JUNK,
        "args": ARGUMENTS | JUNK,
    },
)
LIKELY = st.builds(
    lambda category, name, start, duration, thread, arguments: {
        "ph": "X",
        "cat": category,
        "name": name,
        "ts": start,
        "dur": duration,
        "pid": 0,
        "tid": thread,
        "args": arguments,
    },
    *(CATEGORIES, NAMES, st.integers(0, 60), st.integers(0, 60), st.integers(0, 1), ARGUMENTS),
)
DOCUMENTS = (
    JUNK
    | st.lists(EVENTS | LIKELY | JUNK, max_size=12)
    | st.fixed_dictionaries(
        {"traceEvents": st.lists(LIKELY | EVENTS, max_size=30)},
        optional={"deviceProperties": JUNK | st.lists(st.dictionaries(st.just("name"), JUNK))},
    )
)


@given(DOCUMENTS)
@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_json_is_a_profile_or_a_clear_refusal(tmp_path, document):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(document))
    try:
        profile = import_trace(path)
    except SyncprobeError:
        return
    assert storage.loads(storage.dumps(profile)) == profile
    assert sum(profile.counts.values()) == sum(site.count for site in profile.sites)
    assert all(
        site.per_step * max(profile.run.steps, 1) <= site.count + 1e-3 for site in profile.sites
    )


@given(st.binary(max_size=200))
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_bytes_are_refused_clearly(tmp_path, content):
    path = tmp_path / "trace.json.gz"
    path.write_bytes(b"\x1f\x8b" + content)
    with pytest.raises(SyncprobeError):
        import_trace(path)
