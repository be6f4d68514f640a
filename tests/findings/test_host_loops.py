from __future__ import annotations

import pytest

from syncprobe.events import EventKind
from syncprobe.findings.rules.host_loops import LOADED, VECTORISED, HostRemedy
from syncprobe.rendering.answer.todo import is_rewritten
from tests.findings.conftest import Project, launch, region, site


def test_host_work_that_is_half_of_the_step_is_the_dearest_finding(project: Project) -> None:
    regions = {
        "env": region(modelled_ms_per_step=26.0),
        "act": region(modelled_ms_per_step=2.0),
    }
    found = project.examine(site(cost=500.0), regions=regions)
    assert [finding.rule for finding in found.findings] == ["SP601", "SP100"]
    finding = found.findings[0]
    assert (finding.region, finding.site.line) == ("env", 0)
    assert finding.cost_us_modelled == 26_000
    assert "93% of the modelled step" in finding.advice


@pytest.mark.parametrize(("name", "remedy"), [("data", LOADED), ("env", VECTORISED)])
def test_batches_are_left_to_workers_and_other_work_is_vectorised(
    project: Project, name: str, remedy: HostRemedy
) -> None:
    (finding,) = project.examine(regions={name: region(modelled_ms_per_step=26.0)}).findings
    assert finding.advice.startswith(remedy.advice)
    assert (finding.before, finding.after) == (remedy.example, remedy.instead)
    assert not is_rewritten(finding)


def test_waiting_for_the_device_is_no_host_work(project: Project) -> None:
    regions = {"act": region(modelled_ms_per_step=10.0), "env": region(modelled_ms_per_step=1.0)}
    found = project.examine(site(cost=9000.0), regions=regions)
    assert [finding.rule for finding in found.findings] == ["SP100"]


def test_small_shares_are_no_finding(project: Project) -> None:
    regions = {name: region(modelled_ms_per_step=1.0) for name in ("act", "env", "learn")}
    assert project.examine(regions=regions).findings == ()


def test_without_a_model_only_regions_without_launches_are_judged(project: Project) -> None:
    per_step = {str(EventKind.LAUNCH): 700.0}
    regions = {
        "env": region(measured_ms_per_step=5.0),
        "learn": region(measured_ms_per_step=5.0, per_step=per_step),
    }
    found = project.examine(launch(region="learn", cost=0.0), regions=regions)
    assert [(finding.rule, finding.region) for finding in found.findings] == [("SP601", "env")]
    assert "50% of the measured step" in found.findings[0].advice


def test_regions_without_times_are_no_finding(project: Project) -> None:
    assert project.examine(regions={"env": region()}).findings == ()


@pytest.mark.parametrize("name", ["other", "backward", "optimizer"])
def test_what_no_mark_covers_and_torchs_own_code_are_not_judged(
    project: Project, name: str
) -> None:
    assert project.examine(regions={name: region(modelled_ms_per_step=9.0)}).findings == ()
