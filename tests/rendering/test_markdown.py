"""The Markdown report: exact text, safe whatever the names, and small enough for a comment."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from syncprobe.profiles.model import Ceiling
from syncprobe.rendering import FORMATS
from syncprobe.rendering.markdown import _parts, code, escape, render_sections
from syncprobe.rendering.tables import Column, Section
from tests.rendering import factories

COMMENT_LIMIT = 65_536
EXPECTED = Path(__file__).parent / "expected"


def render(*profiles):
    return FORMATS["md"].render(profiles)


def parsed(text):
    return MarkdownIt("commonmark").enable("table").parse(text)


def tables(text):
    """The cells of all tables, as a Markdown reader sees them."""
    tokens = parsed(text)
    rows: list[list[Token]] = []
    is_inside = False
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        is_inside = token.type == "tr_open" or (is_inside and token.type != "tr_close")
        if is_inside and token.type == "inline":
            rows[-1].append(token)
    return rows


def raw_html(text):
    """Every piece of HTML that a Markdown reader would pass on."""
    tokens = parsed(text)
    inside = [child for token in tokens for child in token.children or ()]
    return [token.content for token in (*tokens, *inside) if token.type.startswith("html")]


def table_rows(text):
    """How many rows there are by the number of their cells."""
    return Counter(len(row) for row in tables(text))


def test_a_small_run_is_shown_word_for_word():
    expected = (EXPECTED / "profile.md").read_text(encoding="utf-8")
    assert render(factories.profile()) == expected


@pytest.mark.parametrize(
    "hostile",
    [
        "a|b",
        "`x`",
        "``",
        "<script>",
        "*b*",
        "_i_",
        "[a](b)",
        "a\\|b",
        "two\nlines",
        "@you",
        "#1",
        "~~x~~",
        "https://evil.example/x",
        "WWW.evil.example",
        "&lt;b&gt;",
        "مرحبا بالعالم",
    ],
)
def test_a_name_is_one_cell_that_reads_as_itself(hostile):
    site = factories.site(path=hostile, function=hostile, operation=hostile, region=hostile)
    text = render(factories.profile(sites=(site,), findings=(), ceiling=(), regions={}))
    row = next(row for row in tables(text) if len(row) == 10 and row[0].content != "line")
    shown = hostile.replace("\n", "\\n")
    function = "".join(child.content for child in row[8].children)
    assert function == shown
    assert {child.type for child in row[8].children} <= {"text", "text_special", "code_inline"}


HOSTILE = (
    "</details><img src=x onerror=alert(1)> **bold** `code` | pipe\r\n| new | row |\n\n<script>"
    "\u202egnp.exe\u2066 [a](javascript:alert(1)) ``` <!-- \x00\x1b[31m"
)


def hostile_profile(text=HOSTILE):
    name = factories.call_site(path=text, function=text)
    return factories.profile(
        run=factories.run(target=text, command=text, is_complete=False, interruption=text),
        sites=(factories.site(path=text, function=text, operation=text, region=text, entry=text),),
        regions={text: factories.region(1.0, 1.0, syncs=1)},
        findings=(factories.finding(title=text, advice=text, site=name, region=text, rule=text),),
        ceiling=(Ceiling(what=text, share=0.5, speedup_if_free=2.0),),
        lines=(factories.source_line(10, text, 1.0, 1.0),),
        unknown_ops=(text,),
    )


def test_hostile_names_leave_every_table_and_fold_as_it_is_with_tame_ones():
    tame, hostile = render(hostile_profile("x")), render(hostile_profile())
    assert table_rows(hostile) == table_rows(tame)
    assert [token.type for token in parsed(hostile)] == [token.type for token in parsed(tame)]


def test_hostile_names_make_no_html():
    pieces = raw_html(render(hostile_profile()))
    assert pieces, "the folds themselves are HTML"
    for piece in pieces:
        assert re.fullmatch(r"(<details>\n<summary>[^<>]*</summary>|</details>)\n?", piece)


def test_what_turns_text_around_is_spelt_out():
    assert "\u202e" not in render(hostile_profile())
    assert r"\u202egnp.exe" in escape("\u202egnp.exe").replace("&#92;", "\\")


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_name_is_one_cell(name):
    hostile, tame = render(hostile_profile(name)), render(hostile_profile("x"))
    assert table_rows(hostile) == table_rows(tame)
    assert all(piece.startswith(("<details>", "</details>")) for piece in raw_html(hostile))


def test_escape_leaves_ordinary_names_readable():
    assert escape("legacy_marinenav/policy/agent.py:12") == "legacy_marinenav/policy/agent.py:12"
    assert code("a_b.py:3") == "`a_b.py:3`"
    assert code("a`b") == "a&#96;b"


def test_five_thousand_sites_fit_in_a_comment_and_the_rest_is_counted():
    sites = tuple(
        factories.site(
            path=f"some/rather/long/path/to/module_{line}.py", line=line, function="f" * 90
        )
        for line in range(1, 5001)
    )
    text = render(factories.profile(sites=sites))
    assert len(text.encode()) < COMMENT_LIMIT
    assert "more; `--format json` has them all." in text


def test_names_of_any_length_fit_in_a_comment():
    monster = "|" * 200_000
    sites = tuple(
        factories.site(path=monster, line=line, function=monster) for line in range(1, 60)
    )
    findings = tuple(
        factories.finding(rule=f"SP{n}", title=monster, advice=monster) for n in range(90)
    )
    profile = factories.profile(
        sites=sites,
        findings=findings,
        run=factories.run(target=monster),
        unknown_ops=(monster,) * 50,
    )
    assert len(render(profile).encode()) < COMMENT_LIMIT


def test_many_profiles_fit_in_a_comment_and_what_is_left_out_is_counted():
    profiles = [factories.profile()] * 100
    text = render(*profiles)
    assert len(text.encode()) < COMMENT_LIMIT
    *kept, note = text.splitlines()
    assert text.count("<details>") == text.count("</details>")
    found = re.fullmatch(r"… ([\d,]+) more lines left out: .* `--format json` has it all.", note)
    assert found is not None
    shortest = [line for part in _parts(profiles, 0) for line in part if line]
    left_out = int(found[1].replace(",", ""))
    assert left_out == len(shortest) - len([line for line in kept if line]) > 0


def test_many_hostile_profiles_with_many_sites_fit_in_a_comment():
    monster = "\U0010ffff|é" * 5_000
    sites = tuple(factories.site(path=monster, line=line) for line in range(1, 200))
    profile = dataclasses.replace(hostile_profile(monster), sites=sites)
    text = render(*[profile] * 20)
    assert len(text.encode()) < COMMENT_LIMIT
    assert text.startswith("## syncprobe: ")
    assert "more lines left out" in text


def test_a_comparison_of_many_rows_fits_in_a_comment():
    section = Section(
        title="x",
        columns=(Column(title="name", is_name=True), Column(title="figure")),
        rows=tuple(("|" * 300, str(number)) for number in range(5000)),
        notes=("note" * 300,) * 500,
    )
    text = render_sections("title", ["paragraph"] * 3, [section] * 30)
    assert len(text.encode()) < COMMENT_LIMIT
    assert set(table_rows(text)) == {2}
    assert "… and 4,992 more" in text
    assert "… and 497 more" in text


@pytest.mark.parametrize("after", ["x = 1", "a\n```\n# Title", "````\n<b>", "\n" * 500, "|" * 900])
def test_code_to_write_cannot_leave_its_block(after):
    finding = factories.finding(before="x", after=after)
    text = render(factories.profile(findings=(finding,)))
    assert len(text.encode()) < COMMENT_LIMIT
    blocks = [token for token in parsed(text) if token.type == "fence"]
    assert len(blocks) == 1
    assert blocks[0].content.split()[:2] == after[:120].split()[:2] or after == "|" * 900
    assert "<b>" not in " ".join(raw_html(text))


def test_warnings_come_first_and_bold():
    profile = factories.profile(run=factories.run(is_complete=False, interruption="interrupted"))
    lines = render(profile).splitlines()
    assert lines[2] == "**INCOMPLETE: the program did not run to its end (interrupted).**"
