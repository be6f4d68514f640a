"""Distributions of torch that check their arguments, or draw with a check, on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from syncprobe.findings.operations import DISTRIBUTIONS
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.source import SourceFile


@remedy(
    "no-validation",
    "SP301",
    title="validate_args=False for a distribution that is built over and over",
)
def unvalidated(source: SourceFile, line: int) -> Iterator[Draft]:
    """Leave out the validation of arguments that are right.

    Before: ``Normal(mean, std)``; after: ``Normal(mean, std, validate_args=False)``. Wrong arguments are
    no longer refused, so it is for programs whose arguments are right wherever they were run.
    """
    named = ("torch.distributions", "torch import distributions", f"{source.torch}.distributions")
    if not any(name in source.text for name in named):
        return
    for scope in (source.on_line(line, cst.Call), _made_in_scope(source, line)):
        for call in scope:
            if called(call) in DISTRIBUTIONS and not _says(call, "validate_args"):
                draft = Draft(source)
                more = cst.Arg(
                    keyword=cst.Name("validate_args"),
                    value=cst.Name("False"),
                    equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
                )
                draft.replace_node(call, call.with_changes(args=(*call.args, more)))
                yield draft


@remedy("reparametrised", "SP305", title="rsample() without gradients in place of sample()")
def reparametrised(source: SourceFile, line: int) -> Iterator[Draft]:
    """Draw by scaling noise, which gives the same bits and does not look at the spread.

    Before: ``action = policy.sample()``; after: the same with ``rsample`` under ``torch.no_grad()``.
    """
    for statement in source.on_line(line, cst.SimpleStatementLine):
        for call in walk(statement):
            if called(call) != "sample" or owner(call) is None:
                continue
            assert isinstance(call, cst.Call)
            renamed = source.code(call).replace(".sample(", ".rsample(", 1)
            draft = Draft(source)
            if _is_without_gradients(source, statement):
                draft.replace(call, renamed)
                yield draft
            elif len(statement.body) == 1 and source.torch:
                value = getattr(statement.body[0], "value", None)
                if value is call:
                    code = source.code(statement).replace(source.code(call), renamed)
                    draft.add_before(statement, f"with {source.torch}.no_grad():\n    {code}\n")
                    draft.remove(statement)
                    yield draft


def _made_in_scope(source: SourceFile, line: int) -> Iterator[cst.Call]:
    """Distributions of the function that a line is in: ``log_prob`` validates for the one it belongs to."""
    for statement in source.on_line(line, cst.SimpleStatementLine):
        if any(called(node) in {"log_prob", "cdf", "icdf"} for node in walk(statement)):
            for node in walk(source.scope(statement)):
                if isinstance(node, cst.Call):
                    yield node


def _says(call: cst.Call, keyword: str) -> bool:
    return any(
        argument.star or (argument.keyword is not None and argument.keyword.value == keyword)
        for argument in call.args
    )


def _is_without_gradients(source: SourceFile, node: cst.CSTNode) -> bool:
    return any(
        called(item.item) in {"no_grad", "inference_mode"}
        for around in source.ancestors(node)
        if isinstance(around, cst.With)
        for item in around.items
    )
