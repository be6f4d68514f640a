"""What to write instead of a line, where a rule can tell from the line alone."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.findings import operations
from syncprobe.findings.editing import Draft
from syncprobe.findings.scopes.assignments import Bindings
from syncprobe.findings.scopes.branches import ends_loop
from syncprobe.findings.syntax import called_name
from syncprobe.findings.usage import reads_on

if TYPE_CHECKING:
    from syncprobe.events import CallSite
    from syncprobe.findings.rule import Rule
    from syncprobe.findings.source import SourceLines
    from syncprobe.findings.syntax import CodeLine

Rewriter = Callable[["CodeLine", Draft], "str | None"]
"""Edits the draft and returns its text, or some other text; None if the line is not of the usual form."""

_FILLS: Final = {
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), "zero_()"),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), "fill_(1)"),
}
"""What fills a tensor again with what a function made it of."""
_CONSTANTS: Final = operations.RANGES | operations.FILLED | operations.TENSOR_CALLS
_EX_VARIANTS: Final = frozenset({"inv", "cholesky", "solve", "lu_factor", "ldl_factor"})


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code as it is and as it should be."""

    before: str
    after: str


def snippet(rule: Rule, site: CallSite, source: SourceLines) -> Snippet:
    """The line's own statement and what to write instead of it; else the rule's example."""
    general = Snippet(rule.example, rule.instead)
    line, rewrite = source.line(site), _REWRITERS.get(rule.id)
    if line is None or rewrite is None:
        return general
    draft = Draft(line, source.lines(site.path))
    after = rewrite(line, draft)
    if after is None or after == draft.before:
        return general
    return Snippet(draft.before, after)


def _without_reads(line: CodeLine, draft: Draft, ending: str = "") -> str | None:
    """``loss.item()`` becomes ``loss``, with an ending; casts and ``.numpy()`` after it go too."""
    reads = reads_on(line) if draft.is_whole else []
    if not reads or not all(draft.holds(read) for read in reads):
        return None
    for read in reads:
        value = read.func.value if isinstance(read.func, ast.Attribute) else read.args[0]
        text = draft.text(value)
        whole = _whole_read(read, line)
        draft.replace(whole, text if not ending or text.endswith(ending) else text + ending)
    return draft.after


def _whole_read(read: ast.expr, line: CodeLine) -> ast.expr:
    """``x.cpu().numpy()`` for the ``x.cpu()`` in it."""
    parent = line.module.parents[read]
    while isinstance(parent, ast.Attribute) and parent.attr in {"numpy", "tolist", "item"}:
        call = line.module.parents[parent]
        if not isinstance(call, ast.Call):
            break
        read, parent = call, line.module.parents[call]
    return read


def _detached(line: CodeLine, draft: Draft) -> str | None:
    if not line.call_names.isdisjoint(operations.LOG_CALLS):
        return _now_and_then(line, draft)
    return _without_reads(line, draft, ".detach()")


def _now_and_then(line: CodeLine, draft: Draft) -> str | None:
    del line
    return "if step % 100 == 0:\n" + textwrap.indent(draft.before, "    ")


def _read_at_once(line: CodeLine, draft: Draft) -> str | None:
    """``max(t.item() for t in td)`` becomes ``max(td.tolist())``."""
    for node in line.own_nodes:
        if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or len(node.generators) != 1:
            continue
        generator, element = node.generators[0], node.elt
        is_read = isinstance(element, ast.Call) and called_name(element) in {"item", "float"}
        if is_read and not generator.ifs and ast.unparse(generator.target) in _operand(element):
            draft.replace(_with_brackets(node, line), f"{draft.text(generator.iter)}.tolist()")
            return draft.after
    return None


def _operand(element: ast.expr) -> tuple[str, ...]:
    assert isinstance(element, ast.Call), "only reads are asked about"
    owner = element.func.value if isinstance(element.func, ast.Attribute) else None
    return tuple(ast.unparse(node) for node in (owner, *element.args) if node is not None)


def _with_brackets(node: ast.expr, line: CodeLine) -> ast.expr:
    """A generator that is a call's only argument shares its brackets, and is then written without."""
    call = line.module.parents[node]
    is_alone = isinstance(call, ast.Call) and call.args == [node] and not call.keywords
    if isinstance(node, ast.GeneratorExp) and is_alone:
        inner = ast.Name("", lineno=node.lineno, col_offset=node.col_offset + 1)
        inner.end_lineno, inner.end_col_offset = node.end_lineno, (node.end_col_offset or 1) - 1
        return inner
    return node


def _stacked(line: CodeLine, draft: Draft) -> str | None:
    return _each_call(line, draft, operations.TENSOR_CALLS, lambda call: f"torch.stack({call[0]})")


def _drawn_on_device(line: CodeLine, draft: Draft) -> str | None:
    """``torch.rand(8).to(device)`` becomes ``torch.rand(8, device=device)``."""
    for move in line.calls:
        made = move.func.value if isinstance(move.func, ast.Attribute) else None
        if isinstance(made, ast.Call) and called_name(made) in operations.RANDOM:
            place = draft.text(move.args[0]) if move.args else '"cuda"'
            draft.replace(move, f"{draft.text(made)[:-1]}, device={place})")
            return draft.after
    return None


def _unvalidated(line: CodeLine, draft: Draft) -> str | None:
    for call in line.calls:
        if called_name(call) in operations.DISTRIBUTIONS:
            draft.replace(call, f"{draft.text(call)[:-1]}, validate_args=False)")
            return draft.after
    return None


def _chosen(line: CodeLine, draft: Draft) -> str | None:
    """``x[mask] -= 1`` becomes ``x = torch.where(mask, x - 1, x)``."""
    statement = line.statement
    target = getattr(statement, "target", None) or getattr(statement, "targets", [None])[0]
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not isinstance(
        target, ast.Subscript
    ):
        return None
    place, mask = draft.text(target.value), draft.text(target.slice)
    value = statement.value
    if isinstance(value, ast.Subscript) and draft.text(value.slice) == mask:
        value = value.value
    new = draft.text(value)
    if mask in new:
        return None
    if isinstance(statement, ast.AugAssign):
        sign = ast.unparse(ast.BinOp(ast.Name("x"), statement.op, ast.Name("y")))[2:-2]
        new = f"{place} {sign} {new}"
    return f"{place} = torch.where({mask}, {new}, {place})"


def _asked_seldom(line: CodeLine, draft: Draft) -> str | None:
    """``while error.item() > limit:`` asks in every tenth turn, and so does what breaks off a loop."""
    statement = line.statement
    if isinstance(statement, ast.While) and draft.holds(statement.test):
        draft.replace(statement.test, f"turn % 10 or {draft.text(statement.test)}")
        return f"turn = 0\n{draft.after}\n    turn += 1"
    if isinstance(statement, ast.If) and ends_loop(statement) and draft.holds(statement.test):
        test = draft.text(statement.test)
        is_choice = isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.Or)
        draft.replace(statement.test, f"turn % 10 == 0 and {f'({test})' if is_choice else test}")
        return draft.after
    return None


def _sized(line: CodeLine, draft: Draft) -> str | None:
    for call in line.calls:
        name = called_name(call)
        if name == "bincount":
            return _counted(call, draft)
        size = {"one_hot": "num_classes=class_count", "repeat_interleave": "output_size=total"}
        if name in size:
            draft.replace(call, f"{draft.text(call)[:-1]}, {size[name]})")
            return draft.after
    return None


def _counted(call: ast.Call, draft: Draft) -> str | None:
    """``torch.bincount(x, minlength=n)`` becomes additions to n zeros."""
    is_method = isinstance(call.func, ast.Attribute) and draft.text(call.func.value) != "torch"
    values = [call.func.value] if is_method and isinstance(call.func, ast.Attribute) else []
    given = dict(zip(("input", "weights", "minlength"), [*values, *call.args], strict=False))
    given |= {word.arg: word.value for word in call.keywords if word.arg}
    if "input" not in given:
        return None
    counted = draft.text(given["input"])
    size = draft.text(given["minlength"]) if "minlength" in given else "value_count"
    weights = draft.text(given["weights"]) if "weights" in given else f"torch.ones_like({counted})"
    zeros = f"torch.zeros({size}, dtype={weights}.dtype, device={counted}.device)"
    if "weights" not in given:
        zeros = f"torch.zeros({size}, dtype=torch.int64, device={counted}.device)"
    draft.replace(call, f"{zeros}.scatter_add_(0, {counted}, {weights})")
    return draft.after


def _reparametrised(line: CodeLine, draft: Draft) -> str | None:
    for call in line.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "sample":
            owner, given = draft.text(call.func.value), draft.text(call)
            draft.replace(call, f"{owner}.r{given[len(owner) + 1 :]}")
            return draft.after
    return None


def _scaled(line: CodeLine, draft: Draft) -> str | None:
    def instead(given: list[str]) -> str:
        mean, spread = given[:2]
        start = "" if mean in {"0", "0.0"} else f"{mean} + "
        return f"{start}{spread} * torch.randn_like({spread})"

    return _each_call(line, draft, frozenset({"normal"}), instead, arguments=2)


def _compared(line: CodeLine, draft: Draft) -> str | None:
    if line.is_test:
        return None

    def instead(given: list[str]) -> str:
        return f"torch.isclose({', '.join(given)}).all()"

    return _each_call(line, draft, frozenset({"allclose"}), instead) or _each_call(
        line, draft, frozenset({"equal"}), lambda given: f"({' == '.join(given[-2:])}).all()"
    )


def _unchecked(line: CodeLine, draft: Draft) -> str | None:
    for call in line.calls:
        if called_name(call) in _EX_VARIANTS:
            name = draft.text(call.func)
            draft.replace(call, f"{name}_ex{draft.text(call)[len(name) :]}[0]")
            return draft.after
    return None


def _removed(line: CodeLine, draft: Draft) -> str | None:
    del line, draft
    return "# nothing: reads wait by themselves"


def _made_once(line: CodeLine, draft: Draft) -> str | None:
    if not isinstance(line.statement, ast.Assign):
        return None
    node: ast.expr = line.statement.value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if called_name(node) in _CONSTANTS:
            return f"# once, before the loop\n{draft.before}"
        node = node.func.value
    return None


def _refilled(line: CodeLine, draft: Draft) -> str | None:
    statement = line.statement
    fill = next((_FILLS[name] for name in line.call_names if name in _FILLS), None)
    if not isinstance(statement, ast.Assign) or fill is None:
        return None
    name, value = draft.text(statement.targets[0]), draft.text(statement.value)
    if _is_bound_again(name, line):
        return f"# once, before the loop\ninitial = {value}\n\n# in the loop\n{name} = initial"
    return f"# once, before the loop\n{draft.before}\n\n# in the loop\n{name}.{fill}"


def _is_bound_again(name: str, line: CodeLine) -> bool:
    """The name gets another tensor later; what it had is never written to."""
    bindings = line.of_scope(Bindings)
    own = line.statement
    is_written = any(node is not own for node in bindings.added_to.get(name, ()))
    return not is_written and any(node is not own for node in bindings.bound.get(name, ()))


def _each_call(
    line: CodeLine,
    draft: Draft,
    names: frozenset[str],
    instead: Callable[[list[str]], str],
    *,
    arguments: int = 1,
) -> str | None:
    """Replace the first call of one of these names by what is made of its arguments."""
    for call in line.calls:
        if called_name(call) in names and len(call.args) >= arguments:
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            is_method = owner is not None and ast.unparse(owner) != "torch"
            given = [draft.text(owner)] if is_method and owner is not None else []
            given += [draft.text(argument) for argument in call.args]
            given += [f"{word.arg}={draft.text(word.value)}" for word in call.keywords if word.arg]
            draft.replace(call, instead(given))
            return draft.after
    return None


_REWRITERS: Final[dict[str, Rewriter]] = {
    "SP100": _without_reads,
    "SP101": _read_at_once,
    "SP102": lambda line, draft: _without_reads(line, draft, ".detach()"),
    "SP103": _detached,
    "SP105": _now_and_then,
    "SP106": _asked_seldom,
    "SP107": _stacked,
    "SP205": _drawn_on_device,
    "SP301": _unvalidated,
    "SP303": _chosen,
    "SP304": _sized,
    "SP305": _reparametrised,
    "SP306": _scaled,
    "SP309": _compared,
    "SP310": _removed,
    "SP311": _unchecked,
    "SP402": _made_once,
    "SP403": _refilled,
}
