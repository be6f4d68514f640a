"""Traces that torch.profiler records here and now, on the CPU."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest

from syncprobe.events import CallSite, EventKind
from syncprobe.importing import import_trace

PROGRAM = """\
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule


def decide(observation):
    tensor = torch.tensor(observation)
    return torch.as_tensor(tensor).sum().item()


def run(**options):
    with profile(activities=[ProfilerActivity.CPU], **options) as profiler:
        for _ in range(4):
            with record_function("act"):
                decide([1.0, 2.0])
            with record_function("learn"):
                weights = torch.ones(3, requires_grad=True)
                (weights * 2).sum().backward()
            profiler.step()


def written(path):
    return lambda profiler: profiler.export_chrome_trace(path)


run(
    with_stack=True,
    schedule=schedule(wait=0, warmup=2, active=2),
    on_trace_ready=written("stepped.json"),
)
run(with_stack=True, on_trace_ready=written("whole.json.gz"))
run(on_trace_ready=written("bare.json"))
"""
DECIDE = CallSite("program.py", 5, "decide")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    # In a process of its own: the profiler follows every Python frame, and a test runner has many.
    folder = tmp_path_factory.mktemp("traces")
    (folder / "program.py").write_text(PROGRAM)
    subprocess.run([sys.executable, "program.py"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def imported(folder):
    return import_trace(folder / "stepped.json", root=folder)


def test_conversions_are_charged_to_the_function_that_made_them(imported):
    (site,) = imported.sites
    assert (site.kind, site.operation, site.region) == (EventKind.CONVERSION, "torch.tensor", "act")
    assert (site.count, site.per_step) == (2, 1)
    assert site.site == DECIDE
    assert [frame.function for frame in site.callers[0].stack] == ["run", "<module>"]


def test_steps_and_regions_are_measured(imported):
    time, regions = imported.time, imported.regions
    assert imported.run.steps == 2
    assert set(regions) == {"act", "learn", "other"}
    mean_ms = sum(region.measured_ms_per_step for region in regions.values())
    assert 0 < time.measured_ms_per_step.p10 <= mean_ms <= time.measured_ms_per_step.p90 * 1.3


def test_what_a_trace_without_a_device_cannot_tell_is_said_and_not_made_up(imported):
    assert imported.run.device == "cpu"
    assert imported.per_step["syncs"] == 0  # item() of a host tensor waits for nobody
    assert "no device in it" in imported.doubts[0]


def test_a_compressed_trace_says_the_same(folder, imported, tmp_path):
    path = tmp_path / "stepped.json.gz"
    path.write_bytes(gzip.compress((folder / "stepped.json").read_bytes()))
    assert import_trace(path, root=folder).sites == imported.sites


def test_a_trace_without_steps_counts_by_run(folder):
    imported = import_trace(folder / "whole.json.gz", root=folder)
    assert imported.run.steps == 0
    assert imported.per_step["conversion"] == 4
    assert any("marks no steps" in note for note in imported.run.notes)


def test_without_stacks_nothing_is_charged_to_a_line(folder):
    imported = import_trace(folder / "bare.json", root=folder)
    (site,) = imported.sites
    assert (site.operation, site.site.line) == ("aten::lift_fresh", 0)
    assert any("with_stack=True" in note for note in imported.run.notes)
