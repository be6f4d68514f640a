"""A trace of a GPU, event by event: every count, byte and line of it is known."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from syncprobe.events import CallSite, EventKind
from syncprobe.importing import import_trace
from syncprobe.profiles import storage
from tests.importing.traces import GPU_TRACE

ACT = CallSite("agent.py", 10, "act")
LEARN = CallSite("agent.py", 30, "learn")
MAIN = CallSite("train.py", 40, "main")
READ = "aten::_local_scalar_dense"


@pytest.fixture(scope="module")
def imported():
    # Findings read source under the root: there is none of this program.
    return import_trace(GPU_TRACE, root=Path("/nowhere"))


@pytest.fixture(scope="module")
def profile(imported):
    return imported


def test_the_run_is_described_by_what_the_trace_says(profile):
    run = profile.run
    assert (run.target, run.device, run.gpu) == ("gpu_trace.json", "cuda", "Tesla T4")
    assert (run.steps, run.torch, run.python) == (2, "unknown", "unknown")


def test_every_event_is_there_with_its_line_region_and_size(profile):
    found = {
        (site.site, site.kind, site.operation, site.region, site.is_blocking): (
            site.count,
            site.per_step,
            site.nbytes,
        )
        for site in profile.sites
    }
    launches = {
        (line, EventKind.LAUNCH, operation, region, False): (2, 1, 0)
        for line, operation, region in [
            (ACT, "aten::addmm", "act"),
            (ACT, "aten::argmax", "act"),
            (LEARN, "aten::nonzero", "learn"),
            (LEARN, "aten::mm", "learn"),  # by autograd's own thread
            (LEARN, "aten::_foreach_add_", "learn"),  # through the driver
            (LEARN, "aten::zero_", "learn"),  # a fill
            (LEARN, "aten::copy_", "learn"),  # from the device to itself
        ]
    }
    assert found == {
        **launches,
        (ACT, EventKind.CONVERSION, "torch.tensor", "act", False): (2, 1, 0),
        (ACT, EventKind.COPY_TO_DEVICE, "aten::to", "act", True): (2, 1, 960),
        (ACT, EventKind.SCALAR_READ, READ, "act", True): (2, 1, 16),
        (LEARN, EventKind.COPY_TO_DEVICE, "aten::to", "learn", False): (2, 1, 8192),
        (LEARN, EventKind.IMPLICIT_SYNC, "aten::index", "learn", True): (2, 1, 16),
        (LEARN, EventKind.SCALAR_READ, READ, "learn", True): (2, 1, 2),
        (LEARN, EventKind.EXPLICIT_SYNC, "cudaDeviceSynchronize", "learn", True): (2, 1, 0),
        (MAIN, EventKind.COPY_TO_DEVICE, "aten::to", "other", True): (1, 0, 1000),
        (MAIN, EventKind.EXPLICIT_SYNC, "cudaDeviceSynchronize", "other", True): (1, 0, 0),
    }


def test_totals_count_everything_and_rates_only_the_steps(profile):
    assert profile.counts["explicit_sync"] == 3
    assert profile.per_step["explicit_sync"] == 1
    assert profile.per_step["syncs"] == 5
    assert profile.per_step["launch"] == 7
    assert profile.per_step["bytes_to_host"] == 8 + 1
    assert profile.per_step["bytes_to_device"] == 480 + 4096


def test_time_is_measured_by_step_and_innermost_region(profile):
    assert profile.time.measured_ms_per_step.median == pytest.approx(1.0)
    measured = {name: region.measured_ms_per_step for name, region in profile.regions.items()}
    assert measured == pytest.approx({"act": 0.37, "env": 0.08, "learn": 0.47, "other": 0.08})


def test_nothing_is_called_modelled(profile):
    assert profile.time.modelled_ms_per_step is None
    assert profile.time.device_busy is None
    assert profile.timeline is None
    assert not any(site.host_us_modelled for site in profile.sites)


def test_callers_and_the_library_function_in_between_are_kept(profile):
    reads = {site.site: site for site in profile.sites if site.kind is EventKind.SCALAR_READ}
    assert reads[ACT].callers[0].stack == (MAIN,)
    assert reads[ACT].entry == ""
    assert reads[LEARN].entry == "Normal.__init__"
    (backward,) = (site for site in profile.sites if site.operation == "aten::mm")
    assert backward.entry == "Tensor.backward"


def test_what_shares_a_function_is_not_taken_for_one_statement(profile):
    rules = Counter((finding.rule, finding.site) for finding in profile.findings)
    assert rules == {
        ("SP100", ACT): 1,
        ("SP206", ACT): 1,
        ("SP400", ACT): 1,
        ("SP301", LEARN): 1,
        ("SP302", LEARN): 1,
        ("SP310", LEARN): 1,
    }


def test_notes_say_what_lines_mean_and_how_busy_the_device_was(imported):
    lines, busy = imported.run.notes
    assert "where functions begin" in lines
    # 10 + 20 + 10 + 2 + 10 + 5 + 2 + 1 + 20 + 10 + 2 + 4 microseconds of a thousand
    assert busy == "The device was busy 10% of the steps, measured on the traced machine."


def test_the_profile_can_be_saved_and_read(profile):
    assert storage.loads(storage.dumps(profile)) == profile


def test_the_order_of_the_file_does_not_matter(profile, tmp_path):
    import json

    document = json.loads(GPU_TRACE.read_text())
    random.Random(0).shuffle(document["traceEvents"])
    shuffled = tmp_path / GPU_TRACE.name
    shuffled.write_text(json.dumps(document))
    again = import_trace(shuffled, root=Path("/nowhere"))
    assert sorted(again.sites, key=repr) == sorted(profile.sites, key=repr)
    assert again.per_step == profile.per_step


def test_an_allow_comment_at_the_function_excuses_it(tmp_path):
    text = "\n" * 8 + "# syncprobe: allow[SP100] the environment needs it\ndef act():\n    pass\n"
    (tmp_path / "agent.py").write_text(text)
    findings = import_trace(GPU_TRACE, root=tmp_path).findings
    assert [finding.rule for finding in findings if finding.is_allowed] == ["SP100"]
