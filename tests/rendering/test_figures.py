"""Numbers and names as people read them."""

from __future__ import annotations

import unicodedata

import pytest

from syncprobe.rendering import figures


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (5.0, "5"),
        (0.25, "0.25"),
        (0.1, "0.1"),
        (13.333, "13.33"),
        (1234.5, "1,234.5"),
        (0.0004, "0.0004"),
        (1.004, "1.004"),
        (0.9999, "0.9999"),
        (1.5, "1.5"),
        (2.00000001, "2"),
    ],
)
def test_number(value, text):
    assert figures.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.123, "0.12"), (12.34, "12.3"), (1234.5, "1,234")]
)
def test_duration(value, text):
    assert figures.duration(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0%"), (0.0001, "<0.1%"), (0.031, "3.1%"), (0.8, "80%"), (1, "100%")],
)
def test_percent(value, text):
    assert figures.percent(value) == text


@pytest.mark.parametrize(("value", "text"), [(1.034, "1.03x"), (12.3, "12x"), (1e6, "over 1,000x")])
def test_speedup(value, text):
    assert figures.speedup(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.1, "3.1x faster"),
        (4, "4x faster"),
        (12.3, "12x faster"),
        (0.8, "1.25x slower"),
        (1.004, "no faster"),
        (1e6, "over 1,000x faster"),
    ],
)
def test_ratios_of_speeds_in_words(value, text):
    assert figures.faster(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1260, "1.26 kB"), (5e9, "5 GB"), (2e15, "2,000.0 TB")],
)
def test_nbytes(value, text):
    assert figures.nbytes(value) == text


@pytest.mark.parametrize(
    ("value", "noun", "text"),
    [
        (1, "sync", "1 sync"),
        (2, "sync", "2 syncs"),
        (40, "launch", "40 launches"),
        (0, "step", "0 steps"),
    ],
)
def test_noun(value, noun, text):
    assert figures.noun(value, noun) == text


def test_long_paths_keep_their_end_and_long_texts_their_beginning():
    assert figures.shortened_left("legacy/policy/agent.py:12", 12) == "…agent.py:12"
    assert figures.shortened("a long sentence", 7) == "a long…"
    assert figures.shortened("short", 7) == figures.shortened_left("short", 7) == "short"


def test_what_a_terminal_acts_on_is_spelt_out_and_nothing_else():
    """Characters one by one: a text without such ones takes a shorter way."""
    for code in range(0x3100):
        shown = figures.printable(chr(code))
        acts = unicodedata.category(chr(code))[0] == "C" or chr(code) in "\u2028\u2029"
        assert (shown != chr(code)) is acts
        assert figures.printable(f"a{chr(code)}b\x1b") == f"a{shown}b\\x1b"
