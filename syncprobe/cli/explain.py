"""``syncprobe explain``: the text behind a finding."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from syncprobe.cli import output
from syncprobe.findings import FAMILIES, all_rules, explain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``explain``."""
    parser.add_argument("rule", nargs="?", metavar="RULE", help="such as SP101; none lists all")


def run(arguments: Namespace) -> int:
    """Print one rule's text, or the list of rules."""
    if arguments.rule is not None:
        chosen = explain(arguments.rule)
        text = (
            json.dumps(dataclasses.asdict(chosen), indent=1) if arguments.json else chosen.markdown
        )
    elif arguments.json:
        text = json.dumps([dataclasses.asdict(explain(rule.id)) for rule in all_rules()], indent=1)
    else:
        text = "\n".join(_list())
    output.put(text)
    return 0


def _list() -> Iterator[str]:
    for digit, family in FAMILIES.items():
        yield f"SP{digit}xx {family}"
        for rule in all_rules():
            if rule.id.startswith(f"SP{digit}"):
                yield f"  {rule.id}  {rule.title}"
    yield "'syncprobe explain RULE' tells more."
