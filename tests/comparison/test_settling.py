"""The same own time for the same code: what is noise stays out of the difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncprobe.comparison.settling import settled
from syncprobe.comparison.side_by_side import compare
from syncprobe.events import EventKind
from syncprobe.profiles.model import Profile, Time
from tests.rendering import factories

SPREAD = 0.05


def program(
    own_ms: float,
    *,
    syncs: float = 40,
    launches: float = 20,
    stall_us: float = 14.0,
    env_ms: float = 0.0,
    busy_ms: float = 0.2,
    spec: str = "t4",
) -> Profile:
    """One region with syncs and launches, another with own code only; bounds 5 % to either side."""
    sites = (
        factories.site(per_step=syncs, us=syncs * stall_us),
        factories.site(EventKind.LAUNCH, line=11, per_step=launches, us=launches * 5.0),
    )
    events_ms = sum(site.host_us_modelled for site in sites) / 1e3
    whole_ms = own_ms + env_ms
    return factories.profile(
        sites=sites,
        per_step=factories.rates(syncs=syncs, scalar_read=syncs, launch=launches),
        regions={
            "act": factories.region(own_ms + events_ms, syncs=syncs, launch=launches),
            "env": factories.region(env_ms),
        },
        time=Time(
            modelled_ms_per_step=whole_ms + events_ms,
            device_busy=busy_ms / (whole_ms + events_ms),
            spec=spec,
            own=replace(
                factories.own_time(whole_ms, (1 - SPREAD) * whole_ms, (1 + SPREAD) * whole_ms),
                by_region={"act": own_ms, "env": env_ms},
            ),
        ),
    )


def modelled(profile: Profile) -> float:
    assert profile.time.modelled_ms_per_step is not None
    return profile.time.modelled_ms_per_step


@pytest.mark.parametrize("noise", [0.85, 1.0, 1.1, 1.2])
def test_fewer_syncs_are_never_slower_whatever_the_noise_of_own_time(noise):
    before, after = program(2.0), program(2.0 * noise, syncs=6)
    comparison = compare(before, after)
    assert comparison.own is not None
    assert not comparison.own.is_decided
    assert comparison.own.low_ms < 0 < comparison.own.high_ms
    assert modelled(comparison.before) - modelled(comparison.after) == pytest.approx(34 * 0.014)
    assert (comparison.events_ms.before, comparison.events_ms.after) == pytest.approx((0.66, 0.184))


def at_speed(profile: Profile, yardstick_ns: float) -> Profile:
    """The profile as it is recorded while the simplest call takes so long."""
    assert profile.time.own is not None
    own = replace(profile.time.own, yardstick_ns=yardstick_ns)
    return replace(profile, time=replace(profile.time, own=own))


def test_what_a_slower_machine_adds_is_no_change_of_own_code():
    before, after = at_speed(program(2.0), 1_000), at_speed(program(3.4), 1_600)
    comparisons = compare(before, after), compare(after, before)
    assert [each.own is not None and each.own.is_decided for each in comparisons] == [False, False]
    at_one_speed = compare(before, at_speed(program(3.4), 1_000)).own
    assert at_one_speed is not None
    assert at_one_speed.is_decided
    nobody_knows = compare(program(2.0), at_speed(program(3.4), 1_600)).own
    assert nobody_knows is not None
    assert nobody_knows.is_decided


def test_own_code_that_is_beyond_what_the_machine_explains_has_changed():
    own = compare(at_speed(program(2.0), 1_000), at_speed(program(8.0), 1_600)).own
    assert own is not None
    assert own.is_decided
    assert own.low_ms > 0


def test_own_code_that_really_changed_changes_the_modelled_step():
    comparison = compare(program(2.0, env_ms=30.0), program(2.1, env_ms=3.0))
    own = comparison.own
    assert own is not None
    assert own.is_decided
    assert own.regions == ("env",)
    assert (own.before_ms, own.after_ms) == pytest.approx((32.0, 5.0)), "act stays at 2 ms"
    assert own.low_ms < -27.0 < own.high_ms < 0
    assert modelled(comparison.after) == pytest.approx(5.66)
    assert comparison.after.regions["env"].modelled_ms_per_step == pytest.approx(3.0)
    assert comparison.after.time.device_busy == pytest.approx(0.2 / 5.66, abs=1e-5)


def test_own_code_that_takes_longer_beyond_doubt_is_slower():
    comparison = compare(program(2.0), program(6.0, syncs=6))
    assert comparison.own is not None
    assert comparison.own.low_ms > 0
    assert modelled(comparison.after) > modelled(comparison.before)


def test_many_calls_make_own_time_less_certain():
    few, many = (
        compare(program(0.2, launches=count), program(0.5, launches=count)) for count in (1, 200)
    )
    assert few.own is not None
    assert many.own is not None
    assert few.own.is_decided
    assert not many.own.is_decided, "2 us per operator is 0.4 ms on either side"


def test_equal_events_cost_the_same_however_long_the_host_was_seen_to_wait():
    before, after = program(2.0), program(2.0, stall_us=14.6)
    assert modelled(compare(before, after).after) == pytest.approx(modelled(before))


@pytest.mark.parametrize("more", [{"launches": 21}, {"busy_ms": 0.4}, {"spec": "h100"}])
def test_waiting_is_believed_where_there_is_more_to_wait_for(more):
    before, after = program(2.0), program(2.0, stall_us=14.6, **more)
    assert modelled(compare(before, after).after) > modelled(before)


def test_levels_do_not_rise_unless_launches_do():
    levels = settled(
        [
            program(2.0, env_ms=36.0, syncs=21),
            program(2.4, env_ms=39.0, syncs=6),
            program(1.8, env_ms=41.0, syncs=5, stall_us=14.3),
            program(2.2, env_ms=38.0, syncs=5, stall_us=14.5),
            program(2.1, env_ms=3.0, syncs=1),
            program(2.3, env_ms=3.3, syncs=1, launches=22),
        ]
    )
    times = [modelled(level) for level in levels]
    assert times[:5] == sorted(times[:5], reverse=True)
    assert times[5] - times[4] == pytest.approx(2 * 0.005), "two launches, and nothing else"


def test_profiles_that_do_not_know_how_far_off_they_are_decide_nothing():
    old, new = (
        replace(each, time=replace(each.time, own=None)) for each in (program(2.0), program(9.0))
    )
    comparison = compare(old, new)
    assert comparison.own is not None
    assert not comparison.own.is_decided
    assert modelled(comparison.after) == pytest.approx(modelled(old))


def test_steps_are_not_held_against_whole_runs():
    run = replace(program(9.0), run=factories.run(steps=0))
    comparison = compare(program(2.0), run)
    assert comparison.own is None
    assert comparison.after == run
