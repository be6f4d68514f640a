"""``syncprobe explain``: the text behind a finding, or what is known about an operator."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from syncprobe.cli import output
from syncprobe.findings import FAMILIES, all_rules, explain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from syncprobe.cuda.rule import Source


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``explain``."""
    parser.add_argument(
        "rule",
        nargs="?",
        metavar="RULE",
        help="such as SP101, or an operator such as aten::nonzero; none lists all rules",
    )


def run(arguments: Namespace) -> int:
    """Print one rule's text, an operator's facts, or the list of rules."""
    if arguments.rule is not None and "::" in arguments.rule:
        text = _operator(arguments.rule, as_json=arguments.json)
    elif arguments.rule is not None:
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


def _operator(name: str, *, as_json: bool) -> str:
    from syncprobe.cuda.rules import facts_of  # it imports torch

    facts = facts_of(name)
    if as_json:
        places = {
            key: None if place is None else place._asdict()
            for key, place in (("source", facts.source), ("backward", facts.backward))
        }
        return json.dumps(facts._asdict() | places, indent=1)
    lines = [
        f"# {facts.operator} on CUDA",
        f"The host waits: {facts.waits}.",
        f"Kernels: {facts.launches}.",
        f"Host tensors that it takes next to device tensors: {facts.host_operands}.",
    ]
    if facts.source is not None:
        lines.append(f"Source: {_place(facts.source)}")
    if facts.backward is not None:
        lines.append(f"Its backward pass: {_place(facts.backward)}")
    return "\n\n".join(lines)


def _place(source: Source) -> str:
    since = f" Since torch {source.since}." if source.since else ""
    says = f": {source.says}." if source.says else "."
    return f"{source.file}{says}{since}"


def _list() -> Iterator[str]:
    for digit, family in FAMILIES.items():
        yield f"SP{digit}xx {family}"
        for rule in all_rules():
            if rule.id.startswith(f"SP{digit}"):
                yield f"  {rule.id}  {rule.title}"
    yield "'syncprobe explain RULE' tells more, and so it does about operators: aten::nonzero."
