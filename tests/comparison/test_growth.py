"""Lines are recognised although they have moved."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from syncprobe.budgets.update import committable, update_of
from syncprobe.comparison.growth import pairs
from syncprobe.events import EventKind
from tests.rendering import factories


def profile(*lines):
    """Each line is its number, what it does, and how often."""
    return factories.profile(
        sites=tuple(
            factories.site(line=number, operation=operation, per_step=rate, function="f")
            for number, operation, rate in lines
        )
    )


def paired_lines(before, after):
    return {
        (
            None if pair.before is None else pair.before.site.line,
            None if pair.after is None else pair.after.site.line,
        )
        for pair in pairs(before, after)
    }


def test_an_added_line_is_one_new_line():
    before = profile((10, "a", 1), (20, "b", 1), (30, "c", 2))
    after = profile((10, "a", 1), (15, "item", 1), (22, "b", 1), (32, "c", 2))
    assert paired_lines(before, after) == {(10, 10), (None, 15), (20, 22), (30, 32)}


def test_a_removed_line_is_one_line_less():
    before = profile((10, "a", 1), (15, "item", 1), (22, "b", 1))
    after = profile((10, "a", 1), (20, "b", 1))
    assert paired_lines(before, after) == {(10, 10), (15, None), (22, 20)}


def test_a_line_that_does_one_thing_more_is_still_the_same_line():
    read = factories.site(line=10, per_step=1)
    launch = factories.site(EventKind.LAUNCH, line=10, operation="aten::sum", per_step=1)
    before, after = factories.profile(sites=(launch,)), factories.profile(sites=(launch, read))
    assert [(pair.before, pair.after) for pair in pairs(before, after)] == [
        (launch, launch),
        (None, read),
    ]


def test_equal_lines_stay_where_they_are():
    before = profile((10, "a", 1), (20, "a", 1))
    after = profile((10, "a", 1), (15, "a", 1), (20, "a", 1))
    assert paired_lines(before, after) == {(10, 10), (None, 15), (20, 20)}


def test_files_are_told_apart():
    before = factories.profile(sites=(factories.site(path="a.py"),))
    after = factories.profile(sites=(factories.site(path="b.py"),))
    assert len(pairs(before, after)) == 2


@settings(max_examples=100, deadline=None)
@given(
    *(
        st.lists(
            st.tuples(st.integers(1, 8), st.sampled_from("abc"), st.integers(1, 3)),
            unique_by=lambda line: line[:2],
        )
        for _ in range(2)
    )
)
def test_every_site_of_both_profiles_is_there_once(first, second):
    before, after = profile(*first), profile(*second)
    found = pairs(before, after)
    key = lambda site: (site.site, site.operation)  # noqa: E731
    assert sorted((pair.before for pair in found if pair.before), key=key) == sorted(
        before.sites, key=key
    )
    assert sorted((pair.after for pair in found if pair.after), key=key) == sorted(
        after.sites, key=key
    )


def test_the_same_counts_are_no_update():
    before, after = factories.profile(), factories.profile(created="2030-01-01T00:00:00+00:00")
    update = update_of("b", "p.json", before, after)
    assert (update.is_written, update.figures, update.sites) == (False, (), ())


def test_lines_that_moved_are_written_but_are_no_difference():
    update = update_of("b", "p.json", profile((10, "a", 1)), profile((11, "a", 1)))
    assert (update.is_written, update.figures, update.sites) == (True, (), ())


def test_an_update_lists_figures_and_sites():
    before = profile((10, "a", 1), (20, "b", 1))
    after = factories.profile(
        sites=profile((10, "a", 2), (20, "b", 1)).sites, per_step=factories.rates(syncs=3.0)
    )
    update = update_of("b", "p.json", before, after)
    assert update.is_written
    changes = {change.name: (change.before, change.after) for change in update.figures}
    assert changes["syncs"] == (20.25, 3.0)
    assert [pair.after.site.line for pair in update.sites] == [10]


def test_what_is_committed_has_no_stacks_and_no_timeline():
    kept = committable(factories.profile())
    assert kept.timeline is None
    assert all(not site.callers for site in kept.sites)
    assert kept.per_step == factories.profile().per_step
