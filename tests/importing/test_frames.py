"""Whose code a frame of a trace is, and what a moment of a thread is charged to."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncprobe.events import CallSite
from syncprobe.importing import import_trace
from syncprobe.importing.frames import NOWHERE, is_user_code, origin_of, parsed
from tests.importing import traces


@pytest.mark.parametrize(
    "path",
    [
        *("train.py", "policy/agent.py", "stable_baselines3/ppo/ppo.py", "/home/me/train.py"),
        *("/opt/venv/lib/python3.11/site-packages/stable_baselines3/ppo.py", "code/train.py"),
        *("<stdin>", "<ipython-input-3-abc>", "torchrl/envs/common.py", "profile/run.py"),
    ],
)
def test_user_code(path):
    assert is_user_code(path)


@pytest.mark.parametrize(
    "path",
    [
        *("torch/nn/modules/linear.py", "numpy/core/fromnumeric.py", "tensordict/base.py"),
        *("contextlib.py", "threading.py", "multiprocessing/pool.py", "importlib/__init__.py"),
        *("/usr/lib/python3.11/contextlib.py", "<string>", "<frozen importlib._bootstrap>"),
        *("/x/lib/python3.12/site-packages/torch/_tensor.py", "syncprobe/recording/session.py"),
    ],
)
def test_library_code(path):
    assert not is_user_code(path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train.py(12): main", CallSite("train.py", 12, "main")),
        ("a (copy)/train.py(3): <lambda>", CallSite("a (copy)/train.py", 3, "<lambda>")),
        ("src\\train.py(12): main", CallSite("src/train.py", 12, "main")),
        ("<ipython-input-3>(1): <module>", CallSite("<ipython-input-3>", 1, "<module>")),
        ("<built-in method item of Tensor object at 0x7f>", None),
        ("nn.Module: Linear_0", None),
        ("(12): main", None),
        ("", None),
    ],
)
def test_frames_are_parsed(name, expected):
    assert parsed(name) == expected


def test_the_entry_is_the_library_function_that_the_user_called():
    names = [
        "<built-in method item of Tensor object at 0x7f>",
        "torch/distributions/distribution.py(40): __init__",
        "torch/distributions/one_hot_categorical.py(30): __init__",
        "agent.py(10): act",
        "contextlib.py(78): inner",
        "train.py(5): main",
    ]
    origin = origin_of(names)
    assert origin.entry == "OneHotCategorical.__init__"
    assert [frame.function for frame in origin.stack] == ["act", "main"]


def test_no_user_frame_is_nowhere():
    assert origin_of(["torch/_tensor.py(1): backward"]) is NOWHERE


def test_paths_are_relative_to_the_root():
    assert origin_of(["/home/me/a/train.py(5): main"], "/home/me/").site.path == "a/train.py"


def test_old_traces_carry_the_stack_in_the_operation(tmp_path):
    stack = "torch/_tensor.py(1): item;agent.py(25): act;train.py(7): main;"
    events = [
        traces.operator("aten::item", 0, 10, args={"Call stack": stack}),
        traces.call("cudaStreamSynchronize", 5),
    ]
    (site,) = import_trace(traces.write(tmp_path, *events)).sites
    assert site.site == CallSite("agent.py", 25, "act")
    assert site.callers[0].stack == (CallSite("train.py", 7, "main"),)


@pytest.mark.parametrize("is_ours", [True, False])
def test_lines_of_files_outside_the_project_do_not_get_into_the_profile(
    tmp_path, monkeypatch, is_ours
):
    """A trace may name any file of whoever imports it."""
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(project)
    file = (project if is_ours else elsewhere) / "train.py"
    file.write_text("def main():\n    for secret in secrets:\n        rows = secret.nonzero()\n")
    events = [
        traces.frame(f"{file}(3): main", 0, 100),
        traces.operator("aten::nonzero", 40, 60),
        traces.call("cudaStreamSynchronize", 50),
    ]
    profile = import_trace(traces.write(tmp_path, *events))
    (finding,) = profile.findings
    assert finding.source == ("rows = secret.nonzero()" if is_ours else None)


def test_threads_do_not_lend_each_other_their_stacks(tmp_path):
    events = [
        traces.frame("train.py(1): main", 0, 100),
        traces.call("cudaLaunchKernel", 50, tid=2),
    ]
    imported = import_trace(traces.write(tmp_path, *events))
    assert imported.sites[0].site == NOWHERE.site
    assert any("no Python stacks" in note for note in imported.run.notes)


def test_steps_and_regions_hold_for_threads_that_mark_none(tmp_path):
    events = [
        traces.mark("ProfilerStep#1", 0, 100),
        traces.mark("learn", 10, 90),
        traces.mark("inner", 40, 60),
        traces.mark("Optimizer.step#Adam.step", 45, 55),
        traces.call("cudaLaunchKernel", 50, tid=2),
        traces.call("cudaLaunchKernel", 95, tid=2),
        traces.call("cudaLaunchKernel", 150, tid=2),
    ]
    profile = import_trace(traces.write(tmp_path, *events))
    assert {site.region: site.per_step for site in profile.sites} == {"inner": 1, "other": 1}
    assert profile.counts["launch"] == 3


def test_steps_that_overlap_are_cut_where_the_next_begins(tmp_path):
    events = [traces.mark("ProfilerStep#1", 0, 150), traces.mark("ProfilerStep#2", 100, 200)]
    spread = import_trace(traces.write(tmp_path, *events)).time.measured_ms_per_step
    assert (spread.median, spread.p90) == (0.1, 0.1)


def test_the_root_defaults_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    events = [
        traces.frame(f"{Path.cwd().as_posix()}/train.py(1): main", 0, 100),
        traces.call("cudaLaunchKernel", 50),
    ]
    (site,) = import_trace(traces.write(tmp_path, *events)).sites
    assert site.site.path == "train.py"
