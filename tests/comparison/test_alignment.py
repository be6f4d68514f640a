"""Files of any length are put side by side, and what is skipped changes nothing."""

from __future__ import annotations

import cProfile

from hypothesis import given, settings
from hypothesis import strategies as st

from syncprobe.comparison import alignment
from syncprobe.comparison.alignment import Line, aligned
from tests.rendering import factories

SITE = factories.site(per_step=1)
MANY = 3000


def line(number, text, operation="a"):
    doing = ("scalar_read", operation, "act", True)
    return Line(number=number, function="f", text=text, sites={doing: SITE})


def numbered(found):
    return [tuple(None if each is None else each.number for each in pair) for pair in found]


texts = st.lists(st.sampled_from(["x", "y", "z"]), max_size=8)


@settings(max_examples=100, deadline=None)
@given(texts, texts)
def test_skipping_what_did_not_change_is_exact(first, second):
    before = [line(number, text) for number, text in enumerate(first)]
    after = [line(number, text) for number, text in enumerate(second)]
    assert aligned(before, after) == alignment._most_alike(before, after)


def test_one_line_more_in_a_long_file_is_one_new_line():
    before = [line(number, f"line {number}") for number in range(MANY)]
    after = [*before[:1000], line(1000, "new", "b")]
    after += [line(each.number + 1, each.text) for each in before[1000:]]
    alone = [pair for pair in numbered(aligned(before, after)) if None in pair]
    assert alone == [(None, 1000)]


def test_two_long_files_with_nothing_in_common_end():
    before = [line(number, "x", "a") for number in range(MANY)]
    after = [line(number + MANY, "y", "b") for number in range(MANY)]
    found = aligned(before, after)
    assert len(found) == 2 * MANY
    assert {each.number for pair in found for each in pair if each} == set(range(2 * MANY))


def test_comparing_grows_with_the_lines():
    def calls(lines):
        before = [line(number, "same") for number in range(lines)]
        after = [line(number + 1, "same") for number in range(lines)]
        watch = cProfile.Profile()
        watch.runcall(aligned, before, after)
        return sum(entry.callcount for entry in watch.getstats())

    assert calls(4000) <= 2.2 * calls(2000)
