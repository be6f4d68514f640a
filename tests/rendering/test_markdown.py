"""The Markdown report: exact text, safe whatever the names, and small enough for a comment."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from syncprobe.rendering import FORMATS
from syncprobe.rendering.markdown import code, escape
from tests.rendering import factories

COMMENT_LIMIT = 64_000
EXPECTED = Path(__file__).parent / "expected"


def render(*profiles):
    return FORMATS["md"].render(profiles)


def tables(text):
    """The cells of all tables, as a Markdown reader sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    rows: list[list[Token]] = []
    is_inside = False
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        is_inside = token.type == "tr_open" or (is_inside and token.type != "tr_close")
        if is_inside and token.type == "inline":
            rows[-1].append(token)
    return rows


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


def test_hostile_prose_makes_no_html():
    hostile = "</details><img src=x onerror=alert(1)> **bold** `code` | pipe"
    profile = factories.profile(
        run=factories.run(target=hostile, command=hostile, is_complete=False, interruption=hostile),
        findings=(factories.finding(title=hostile, advice=hostile),),
    )
    text = render(profile)
    assert "<img" not in text
    assert text.count("<details>") == text.count("</details>")


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


def test_many_profiles_fit_in_a_comment():
    text = render(*[factories.profile()] * 100)
    assert len(text.encode()) < COMMENT_LIMIT
    assert "Cut: the rest does not fit" in text


def test_warnings_come_first_and_bold():
    profile = factories.profile(run=factories.run(is_complete=False, interruption="interrupted"))
    lines = render(profile).splitlines()
    assert lines[2] == "**INCOMPLETE: the program did not run to its end (interrupted).**"
