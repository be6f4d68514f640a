"""The rules find what is known to be wrong with the built-in code base, at its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import syncprobe

if TYPE_CHECKING:
    from syncprobe.profiles.model import Profile

pytest.importorskip("gymnasium", reason="the built-in code base needs the 'rl' extra")


@pytest.fixture(scope="module")
def sac() -> Profile:
    return syncprobe.run(target="train", agent="SAC", steps=4, device="sim")


@pytest.fixture(scope="module")
def rainbow() -> Profile:
    return syncprobe.run(target="train", agent="Rainbow", steps=4, device="sim")


def test_every_sync_has_a_rule_and_a_class(sac: Profile, rainbow: Profile) -> None:
    blocking = [site for site in (*sac.sites, *rainbow.sites) if site.is_blocking]
    assert blocking
    assert all(site.rule and site.sync_class and site.plan_step for site in blocking)


def test_sac_validates_three_times_per_forward(sac: Profile) -> None:
    found = [f for f in sac.findings if f.rule == "SP301" and f.region == "act"]
    assert {finding.site.function for finding in found} == {"Actor.compute_action"}
    (read_back,) = [f for f in sac.findings if f.rule == "SP201" and f.region == "act"]
    assert sum(finding.count for finding in found) == 3 * read_back.count


def test_states_are_converted_and_uploaded_list_by_list(sac: Profile) -> None:
    found = _functions(sac, "SP401", "act")
    assert found == {"Agent.state_to_tensor"}


def test_batches_come_from_the_host(sac: Profile) -> None:
    assert _functions(sac, "SP204", "learn") == {"Agent.state_to_tensor", "sample_continuous"}


def test_nobody_reads_the_losses(sac: Profile) -> None:
    assert _functions(sac, "SP102", "learn") == {"to_host"}


def test_robots_are_asked_one_at_a_time(sac: Profile) -> None:
    (finding,) = [f for f in sac.findings if f.rule == "SP501"]
    assert finding.site.path == "legacy_marinenav/policy/trainer.py"


def test_rainbow_updates_through_masks_and_host_indices(rainbow: Profile) -> None:
    assert _functions(rainbow, "SP303", "learn") == {"project_distribution"}
    assert _functions(rainbow, "SP402", "learn") == {"project_distribution"}
    assert "train_rainbow" in _functions(rainbow, "SP203", "learn")


def test_rainbow_reads_one_action_at_a_time(rainbow: Profile) -> None:
    assert _functions(rainbow, "SP101", "act") == {"Agent.act_rainbow"}


def _functions(profile: Profile, rule: str, region: str) -> set[str]:
    return {f.site.function for f in profile.findings if f.rule == rule and f.region == region}
