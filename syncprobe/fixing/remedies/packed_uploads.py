"""Small uploads that can travel as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.effects import touches
from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedies.repeated_reads import runs
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, names_in, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.source import SourceFile

_RULES: Final = ("SP200", "SP204", "SP206", "SP400", "SP401")
_MAKERS: Final = ("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor", "LongTensor")
_SHAPING: Final = frozenset({"unsqueeze", "reshape", "view"})
_ON_THE_WAY: Final = frozenset({"float", "long", "double"}) | _SHAPING
"""Methods of a host tensor between its making and its upload."""
SHORT: Final = 60
"""What is no longer is written on one line."""
Upload = tuple[cst.BaseStatement, cst.Call, cst.Call]
"""A statement, the call in it that uploads, and what makes the host tensor."""


@remedy("packed-uploads", *_RULES, title="one upload in place of several")
def packed(source: SourceFile, line: int) -> Iterator[Draft]:
    """Pack tensors that are uploaded one after the other into one, and take it apart on the device.

    Before: ``a = torch.tensor(x).float().to(device)`` and ``b = torch.tensor(y).float().to(device)``; after:
    both are made on the host, travel as one vector and become two views of it. All must have the same dtype.
    """
    for run in runs(source, line):
        group: list[Upload] = []
        for statement in run:
            for move, made in _uploads(source, statement):
                before = run[run.index(group[0][0]) : run.index(statement)] if group else []
                is_same = not group or source.code(move.args[0]) == source.code(group[0][1].args[0])
                if is_same and not touches(before, names_in(made)):
                    group.append((statement, move, made))
        # Those that are made alike are more likely to have one dtype than all of them.
        for chosen in (group, *_made_alike(group)):
            if len(chosen) > 1 and any(source.covers(move, line) for _, move, _ in chosen):
                yield _as_one(source, chosen)


def _made_alike(group: list[Upload]) -> Iterator[list[Upload]]:
    ways = dict.fromkeys(_way(made) for _, _, made in group)
    if len(ways) > 1:
        for way in ways:
            yield [each for each in group if _way(each[2]) == way]


def _way(made: cst.Call) -> tuple[str, ...]:
    """What decides about a dtype: how the tensor is made, and what it is cast to."""
    links, inner = [called(made)], owner(made)
    while isinstance(inner, cst.Call) and links[-1] in _ON_THE_WAY:
        made, inner = inner, owner(inner)
        links.append(called(made))
    return tuple(link for link in links if link not in _SHAPING)


def _as_one(source: SourceFile, group: list[Upload]) -> Draft:
    draft = Draft(source)
    first, move, made = group[0]
    whole, parts = source.free_name(_data(made), "rows"), source.free_name(_data(made), "uploaded")
    device = guarded("device", source.code(move.args[0].value))
    codes = [source.code(each) for _, _, each in group]
    short, long = f"[{', '.join(codes)}]", "".join(f"    {code},\n" for code in codes)
    rows = guarded("packable", short if len(short) <= SHORT else f"[\n{long}]")
    draft.add_before(
        first,
        f"{whole} = {rows}\n"
        f"{parts} = {source.torch}.cat([each.flatten() for each in {whole}]).to({device})\n"
        f"{parts} = {parts}.split([each.numel() for each in {whole}])\n",
    )
    for index, (_, each, _) in enumerate(group):
        draft.replace(each, f"{parts}[{index}].view({whole}[{index}].shape)")
    return draft


def _uploads(source: SourceFile, node: cst.CSTNode) -> Iterator[tuple[cst.Call, cst.Call]]:
    """Uploads of tensors that are made on the spot: the whole call, and what makes the host tensor."""
    if isinstance(node, (cst.Lambda, cst.GeneratorExp, cst.ListComp, cst.IfExp)):
        return
    made = owner(node)
    if isinstance(node, cst.Call) and called(node) == "to" and isinstance(made, cst.Call):
        is_plain = len(node.args) == 1 and node.args[0].keyword is None
        if is_plain and source.is_torch(_maker(made), *_MAKERS) and not _has_device(made):
            yield node, made
            return
    for child in node.children:
        yield from _uploads(source, child)


def _maker(made: cst.Call) -> cst.CSTNode:
    inner = owner(made)
    while isinstance(inner, cst.Call) and called(made) in _ON_THE_WAY:
        made, inner = inner, owner(inner)
    return made


def _data(made: cst.Call) -> cst.CSTNode:
    maker = cst.ensure_type(_maker(made), cst.Call)
    return maker.args[0].value


def _has_device(made: cst.Call) -> bool:
    return any(
        isinstance(each, cst.Arg) and each.keyword is not None and each.keyword.value == "device"
        for each in walk(made)
    )
