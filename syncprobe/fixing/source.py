"""A parsed file that remedies look at, and the changes they make to it; formatting and comments stay."""

from __future__ import annotations

import functools
import keyword
import re
from typing import TYPE_CHECKING, Any, Final, cast

import libcst as cst
from libcst import matchers
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS: Final = (cst.FunctionDef, cst.Lambda)
LOOPS: Final = (cst.For, cst.While)
COMPREHENSIONS: Final = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


class SourceFile:
    """One file as libcst sees it.

    Args:
        text: The file's text.
    """

    def __init__(self, text: str) -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.text = text
        self.module = wrapper.module
        self._positions = wrapper.resolve(PositionProvider)
        self._parents = wrapper.resolve(ParentNodeProvider)

    def code(self, node: cst.CSTNode) -> str:
        """A part as it is written, without the comments above it."""
        return self.module.code_for_node(node).strip()

    def first_line(self, node: cst.CSTNode) -> int:
        """Where a part begins."""
        return cast("Any", self._positions[node]).start.line  # type: ignore[no-any-return]  # libcst leaves it open

    def covers(self, node: cst.CSTNode, line: int) -> bool:
        """The part is written on this line, maybe on others too."""
        place = cast("Any", self._positions[node])
        return bool(place.start.line <= line <= place.end.line)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What the part belongs to; None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What the part belongs to, innermost first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def statement(self, node: cst.CSTNode) -> cst.BaseStatement | None:
        """The statement, one of a block, that the part is in."""
        return next(
            (each for each in (node, *self.ancestors(node)) if isinstance(each, cst.BaseStatement)),
            None,
        )

    def block(self, statement: cst.BaseStatement) -> tuple[cst.BaseStatement, ...]:
        """The statements of the block that a statement is in, itself included."""
        around = self.parent(statement)
        if not isinstance(around, (cst.IndentedBlock, cst.Module)):
            return ()
        return tuple(around.body)

    def scope(self, node: cst.CSTNode) -> cst.FunctionDef | cst.Module:
        """The function that the part is in, or the module."""
        around = (each for each in self.ancestors(node) if isinstance(each, cst.FunctionDef))
        return next(around, self.module)

    def on_line(self, line: int, *kinds: type[Any]) -> list[Any]:
        """The parts of some kinds that cover a line, outermost first."""
        return [
            node
            for node in walk(self.module)
            if isinstance(node, kinds) and self.covers(node, line)
        ]

    @functools.cached_property
    def torch(self) -> str:
        """What the file calls torch: ``th`` after ``import torch as th``; empty if it does not import it."""
        for node in walk(self.module):
            for alias in node.names if isinstance(node, cst.Import) else ():
                name = self.code(alias.name)
                if name == "torch" and alias.asname is not None:
                    return self.code(alias.asname.name)
                if name.partition(".")[0] == "torch" and alias.asname is None:
                    return "torch"
        return ""

    def is_torch(self, call: cst.CSTNode, *names: str) -> bool:
        """``torch.tensor(...)`` and the like."""
        wanted = matchers.OneOf(*(matchers.Name(name) for name in names))
        made = matchers.Attribute(value=matchers.Name(self.torch), attr=wanted)
        return matchers.matches(call, matchers.Call(func=made))

    def free_name(self, node: cst.CSTNode, ending: str) -> str:
        """A name that the file does not use yet, made from what a part says."""
        words = re.findall(r"[A-Za-z_]\w*", self.code(node))
        stem = next((word for word in reversed(words) if len(word) > 1), "read")
        used = set(re.findall(r"\w+", self.text))
        candidates = (f"{stem}_{ending}{number}" for number in ("", *range(2, 99)))
        return next(name for name in candidates if name not in used and not keyword.iskeyword(name))


class Draft:
    """Changes to a file: parts replaced, statements added before and after others.

    Args:
        source: What is changed.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self._replaced: dict[cst.CSTNode, cst.CSTNode] = {}
        self._before: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        self._after: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        self.concerned: set[int] = set()
        """Lines that say what they said, and do something else."""

    def concerns(self, node: cst.CSTNode) -> None:
        """A part that is not written otherwise, and still is what the changes are for."""
        self.concerned.add(self.source.first_line(node))

    def replace(self, node: cst.CSTNode, code: str) -> None:
        """Write another expression in place of one."""
        self._replaced[node] = cst.parse_expression(code)

    def replace_statement(self, statement: cst.BaseStatement, code: str) -> None:
        """Write another statement in place of one; the comments above it stay."""
        made = cst.ensure_type(self._parsed(code)[0], cst.SimpleStatementLine)
        old = cst.ensure_type(statement, cst.SimpleStatementLine)
        self._replaced[statement] = made.with_changes(
            leading_lines=old.leading_lines, trailing_whitespace=old.trailing_whitespace
        )

    def replace_node(self, node: cst.CSTNode, other: cst.CSTNode) -> None:
        """Put another node in place of one."""
        self._replaced[node] = other

    def remove(self, statement: cst.BaseStatement) -> None:
        """Leave a statement out."""
        self._replaced[statement] = cst.FlattenSentinel([])  # type: ignore[assignment]  # what libcst takes for nothing

    def add_before(self, statement: cst.BaseStatement, code: str) -> None:
        """Write statements before one; the comments above that one come first."""
        self._before.setdefault(statement, []).extend(self._parsed(code))

    def add_after(self, statement: cst.BaseStatement, code: str) -> None:
        """Write statements after one."""
        self._after.setdefault(statement, []).extend(self._parsed(code))

    @property
    def text(self) -> str:
        """The file with all changes made."""
        return self.source.module.visit(_Changes(self._replaced, self._before, self._after)).code

    def _parsed(self, code: str) -> list[cst.BaseStatement]:
        config = self.source.module.config_for_parsing
        return list(cast("Any", cst.parse_module(code, config).body))


class _Changes(cst.CSTTransformer):
    def __init__(
        self,
        replaced: dict[cst.CSTNode, cst.CSTNode],
        before: dict[cst.CSTNode, list[cst.BaseStatement]],
        after: dict[cst.CSTNode, list[cst.BaseStatement]],
    ) -> None:
        super().__init__()
        self._replaced, self._before, self._after = replaced, before, after

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        if original_node in self._replaced:
            updated_node = self._replaced[original_node]
        before = self._before.get(original_node, [])
        after = self._after.get(original_node, [])
        if not before and not after:
            return updated_node
        if before and hasattr(updated_node, "leading_lines"):
            before = [before[0].with_changes(leading_lines=updated_node.leading_lines), *before[1:]]
            updated_node = updated_node.with_changes(leading_lines=())
        middle = [] if isinstance(updated_node, cst.FlattenSentinel) else [updated_node]
        return cst.FlattenSentinel([*before, *middle, *after])


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything in it, outermost first."""
    yield node
    for child in node.children:
        yield from walk(child)


def called(node: cst.CSTNode) -> str:
    """``item`` for ``loss.item()`` and ``tensor`` for ``torch.tensor(...)``; empty if it is no call."""
    if not isinstance(node, cst.Call):
        return ""
    if isinstance(node.func, cst.Attribute):
        return node.func.attr.value
    return node.func.value if isinstance(node.func, cst.Name) else ""


def owner(call: cst.CSTNode) -> cst.BaseExpression | None:
    """What a method is called on."""
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        return call.func.value
    return None


def names_in(node: cst.CSTNode) -> set[str]:
    """The names that a part mentions; of attributes and keywords only what they belong to counts."""
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Attribute):
        return names_in(node.value)
    if isinstance(node, cst.Arg):
        return names_in(node.value)
    return set().union(*(names_in(child) for child in node.children))


def root_name(node: cst.CSTNode) -> str | None:
    """``self`` for ``self.critic.loss[0]``; None if it begins with a call or a literal."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else None


def is_plain(node: cst.CSTNode) -> bool:
    """A name, or attributes of one: asking for it twice gives the same and does nothing."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)
