"""Batches of a DataLoader that are uploaded from pageable memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, names_in, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.source import SourceFile

_RULES: Final = ("SP200", "SP202", "SP204", "SP206", "SP208")
_TIGHT: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


@remedy(
    "pinned-batches", *_RULES, title="batches pinned by the DataLoader and uploaded without waiting"
)
def pinned(source: SourceFile, line: int) -> Iterator[Draft]:
    """Pin the batches of a loader, and let the host go on while they travel.

    Before: ``DataLoader(data)`` and ``x.to(device)``; after: ``DataLoader(data, pin_memory=True)`` and
    ``x.to(device, non_blocking=True)``, for all batches of that loader. The loader is made in the same file.
    """
    for loop in source.on_line(line, cst.For):
        names = names_in(loop.iter)
        made = [call for name in names for call in _loaders(source, name)]
        copies = _copies(loop)
        if len(made) == 1 and any(source.covers(call, line) for call in copies):
            draft = Draft(source)
            if not _says(made[0], "pin_memory"):
                draft.replace_node(made[0], _with(made[0], "pin_memory"))
            for call in copies:
                draft.replace_node(call, _with(call, "non_blocking"))
            yield draft


def _loaders(source: SourceFile, name: str) -> Iterator[cst.Call]:
    """The loaders that a name of the file is given."""
    for node in walk(source.module):
        if isinstance(node, cst.Assign) and called(node.value) == "DataLoader":
            targets = [target.target for target in node.targets]
            if any(isinstance(each, cst.Name) and each.value == name for each in targets):
                yield cst.ensure_type(node.value, cst.Call)


def _copies(loop: cst.For) -> list[cst.Call]:
    """The copies of the loop's batches: ``x.to(device)`` of a name that the loop gives out."""
    batch = names_in(loop.target)
    return [
        call
        for call in walk(loop.body)
        if isinstance(call, cst.Call)
        and called(call) in {"to", "cuda"}
        and not _says(call, "non_blocking")
        and owner(call) is not None
        and not names_in(owner(call) or call).isdisjoint(batch)
    ]


def _with(call: cst.Call, keyword: str) -> cst.Call:
    more = cst.Arg(keyword=cst.Name(keyword), value=cst.Name("True"), equal=_TIGHT)
    return call.with_changes(args=(*call.args, more))


def _says(call: cst.Call, keyword: str) -> bool:
    return any(each.keyword is not None and each.keyword.value == keyword for each in call.args)
