"""A gate's result in the ways GitHub shows it: annotations beside lines, and a job summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.rendering import markdown
from syncprobe.rendering.gates.remarks import remarks
from syncprobe.rendering.gates.result import FOUND, failure_section, headline, rows
from syncprobe.rendering.tables import Column, Section

if TYPE_CHECKING:
    from syncprobe.budgets.judgement import GateResult
    from syncprobe.rendering.gates.remarks import Remark

MOST_ANNOTATIONS: Final = 10
"""GitHub shows no more errors than that per step."""
COLUMNS: Final = (
    Column(title="budget", is_name=True, is_code=True),
    Column(title="figure", is_name=True),
    *FOUND,
)


def error_commands(result: GateResult) -> str:
    """Workflow commands that put the worst lines beside the source, one per line; empty if all is well."""
    return "".join(f"{_command(remark)}\n" for remark in remarks(result)[:MOST_ANNOTATIONS])


def summary(result: GateResult) -> str:
    """The job summary, in Markdown: all figures in one table, then what is too much and where."""
    table = tuple(
        (judgement.budget.name, *row) for judgement in result.judgements for row in rows(judgement)
    )
    sections = [Section(title="Budgets", columns=COLUMNS, rows=table)]
    sections += [failure_section(judgement) for judgement in result.failed]
    sections += [
        Section(title=f"NOT JUDGED {each.budget}", notes=(each.reason,)) for each in result.unjudged
    ]
    return markdown.render_sections(headline(result), (), sections)


def _command(remark: Remark) -> str:
    properties = {"title": remark.title}
    if remark.share is not None and remark.share.site.line:
        site = remark.share.site
        properties = {"file": site.path, "line": str(site.line), **properties}
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {shown}::{_data(remark.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
