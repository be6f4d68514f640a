"""Two profiles side by side, and what their digests alone can say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncprobe.comparison.side_by_side import Change, compare, unlike, verdict_from_digests
from syncprobe.events import EventKind
from syncprobe.profiles.model import Digest, Time
from tests.rendering import factories


def test_rates_are_paired_by_name():
    after = factories.profile(per_step=factories.rates(syncs=1.0, launch=20.0))
    comparison = compare(factories.profile(), after)
    changes = {change.name: change for change in comparison.rates}
    assert (changes["syncs"].before, changes["syncs"].after) == (20.25, 1.0)
    assert changes["launch"].factor == 2.0
    assert changes["copy_to_host"].factor is None, "nothing is left to divide by"


def test_a_factor_needs_both_figures():
    assert Change(name="x", before=None, after=2.0).factor is None
    assert Change(name="x", before=3.0, after=2.0).factor == 1.5


def test_regions_that_only_one_variant_has_are_shown_too():
    after = factories.profile(
        regions={"act": factories.region(0.1, 0.2, syncs=1), "new": factories.region(1.0)}
    )
    regions = {region.name: region for region in compare(factories.profile(), after).regions}
    assert list(regions) == ["act", "env", "learn", "new"]
    assert (regions["act"].syncs.before, regions["act"].syncs.after) == (20, 1)
    assert (regions["env"].measured_ms.before, regions["env"].measured_ms.after) == (1.05, None)
    assert regions["new"].modelled_ms.after == 1.0


def test_sites_appear_and_disappear_by_line_kind_and_region():
    kept, gone, new = (
        factories.site(line=line, source=f"value_{line}.item()") for line in (1, 2, 3)
    )
    moved = replace(gone, region="learn")
    launch = factories.site(EventKind.LAUNCH, line=1, source=kept.source)
    comparison = compare(
        factories.profile(sites=(kept, gone)), factories.profile(sites=(kept, new, moved, launch))
    )
    assert comparison.disappeared == (gone,)
    assert comparison.appeared == (new, moved, launch)


def test_two_inserted_comment_lines_change_nothing():
    lines = [factories.site(line=line, source=f"value_{line}.item()") for line in (4, 7, 9)]
    moved = [replace(each, site=replace(each.site, line=each.site.line + 2)) for each in lines]
    comparison = compare(
        factories.profile(sites=tuple(lines)), factories.profile(sites=tuple(moved))
    )
    assert comparison.appeared == comparison.disappeared == ()


def test_a_line_that_says_something_else_is_another_line():
    old, new = (factories.site(line=4, source=text) for text in ("a.item()", "b.item()"))
    comparison = compare(factories.profile(sites=(old,)), factories.profile(sites=(new,)))
    assert comparison.disappeared == (old,)
    assert comparison.appeared == (new,)


def test_a_line_that_calls_another_operation_of_its_kind_is_the_same_line():
    old, new = (
        factories.site(EventKind.LAUNCH, operation=name, source="x.step()")
        for name in ("aten::add", "aten::add_")
    )
    comparison = compare(factories.profile(sites=(old,)), factories.profile(sites=(new,)))
    assert comparison.appeared == comparison.disappeared == ()


def test_two_scripts_are_two_versions_of_one_file():
    before, after = (
        factories.profile(
            run=factories.run(target=f"work/{name}", agent=None),
            sites=(
                factories.site(path=f"work/{name}", line=line, source="loss.item()"),
                factories.site(path="work/model.py", line=3, source="x.cpu()"),
            ),
        )
        for name, line in (("slow.py", 5), ("fast.py", 8))
    )
    comparison = compare(before, after)
    assert comparison.appeared == comparison.disappeared == ()


def test_times_that_are_missing_stay_missing():
    comparison = compare(factories.profile(time=Time()), factories.profile())
    assert [(change.before, change.after) for change in comparison.time] == [
        (None, 2.5),
        (None, 2.0),
        (None, 0.08),
    ]


def test_equal_digests_are_identical_whatever_the_patches():
    patched = factories.profile(run=factories.run(patches=(1, 2), device="cpu"))
    verdict = verdict_from_digests(factories.profile(), patched)
    assert verdict.is_equivalent is True
    assert verdict.summary == "identical (digests of all actions and rewards, 42 steps)"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"digest": None}, "not both profiles have digests"),
        ({"digest": Digest(actions="x", rewards="y")}, "actions or rewards differ in some bit"),
        ({"run": factories.run(seed=1)}, "the runs differ in seed 0 and 1"),
        ({"run": factories.run(seed=1), "digest": None}, "the runs differ in seed 0 and 1"),
    ],
)
def test_other_digests_prove_nothing(changes, reason):
    verdict = verdict_from_digests(factories.profile(), factories.profile(**changes))
    assert verdict.is_equivalent is None
    assert verdict.summary.startswith(f"not checked: {reason}")


def test_patches_and_device_do_not_make_another_scenario():
    assert unlike(factories.run(), factories.run(patches=(3,), device="cuda", gpu="h100")) == ()
    assert unlike(factories.run(), factories.run(robots=6)) == ("robots 5 and 6",)
