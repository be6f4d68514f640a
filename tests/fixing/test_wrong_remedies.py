"""Remedies that wait less and do something else: every one must be found out by running it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from syncprobe.findings import RULES
from syncprobe.fixing import searching
from syncprobe.fixing.remedy import Remedy
from syncprobe.fixing.searching import NOTHING_GAINED
from syncprobe.fixing.source import Draft, SourceFile
from syncprobe.registry import Registry
from tests.fixing.conftest import NAME, Workshop

PROGRAM = """\
import random

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
random.seed(1)
np.random.seed(2)
device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
history = []
for step in range(6):
    batch = torch.tensor(np.random.rand(8, 4), dtype=torch.float32)
    noise = torch.randn(8, 4) * random.random()
    target = torch.zeros(8, dtype=torch.int64)
    output = model((batch + noise).to(device))
    scale = torch.tensor(0.5, device=device)
    loss = nn.functional.cross_entropy(output, target.to(device)) * scale
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    row = output.detach()[0]
    values = [t.item() for t in row]
    count = (output.argmax(1) == target.to(device)).sum()
    history.append(loss.item())
    print(step, values, count.item())
print(sum(history), max(history))
"""
GOOD = ("values = [t.item() for t in row]", "values = row.tolist()")
"""What is right about each of them, so that it waits less."""

WRONG = {
    "another value": ("torch.tensor(0.5, device=device)", "torch.full((), 0.25, device=device)"),
    "another dtype of a constant": (
        "torch.tensor(0.5, device=device)",
        "torch.full((), 0.5, dtype=torch.float64, device=device)",
    ),
    "half precision in between": ("loss.backward()", "loss.half().float().backward()"),
    "input rounded": ("dtype=torch.float32)", "dtype=torch.bfloat16).float()"),
    "no draw on the host": ("* random.random()", "* 0.5"),
    "one draw more": ("noise = torch", "random.random(); noise = torch"),
    "draws in another order": (
        "    noise = torch.randn(8, 4) * random.random()\n",
        "    torch.rand(1); noise = torch.randn(8, 4) * random.random()\n",
    ),
    "draws of numpy in another order": (
        "np.random.rand(8, 4)",
        "np.random.rand(4, 8).T.copy()",
    ),
    "another distribution": ("torch.randn(8, 4) *", "torch.rand(8, 4) *"),
    "dropout left out": ("nn.Dropout(0.1)", "nn.Dropout(0.0)"),
    "clipping left out": ("    nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n", ""),
    "gradients not cleared": ("    optimizer.zero_grad()\n", ""),
    "gradients filled with zeros late": (
        "    optimizer.zero_grad()\n    loss.backward()\n",
        "    loss.backward()\n    optimizer.zero_grad()\n",
    ),
    "momentum forgotten": ("momentum=0.9", "momentum=0.0"),
    "sum in single precision": ("print(sum(history)", "print(float(np.float32(sum(history)))"),
    "losses one step late": (
        "history.append(loss.item())",
        "history.append(history[-1] if history else loss.item())",
    ),
    "a list in another order": ("row.tolist()", "row.tolist()[::-1]"),
    "a value left out": ("row.tolist()", "row.tolist()[:-1]"),
    "integers printed as floats": ("count.item()", "float(count)"),
    "one step fewer": ("range(6)", "range(5)"),
    "a file besides": (
        "print(sum",
        "__import__('pathlib').Path('extra.txt').write_text('x'); print(sum",
    ),
    "an error at the end": ("print(sum", "raise SystemExit(3); print(sum"),
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory):
    workshop = Workshop(tmp_path_factory.mktemp("wrong"))
    return workshop, workshop.yardstick(PROGRAM)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_remedies_are_rejected(name: str, measured, monkeypatch) -> None:
    workshop, yardstick = measured
    wrong = wrong_program(name)
    assert wrong != PROGRAM.replace(*GOOD)
    search = planted(wrong, workshop, yardstick, monkeypatch)
    assert search.kept == []
    assert search.texts == {NAME: PROGRAM}
    assert [each.reason for each in search.rejected] != [NOTHING_GAINED]
    assert search.rejected


def test_the_right_remedy_is_kept_where_wrong_ones_are_rejected(measured, monkeypatch) -> None:
    search = planted(PROGRAM.replace(*GOOD), *measured, monkeypatch)
    assert [each.remedy for each in search.kept] == ["planted"]


def wrong_program(name: str) -> str:
    """The program with a wrong remedy in it, beside the right one."""
    return PROGRAM.replace(*GOOD).replace(*WRONG[name])


def planted(wrong: str, workshop: Workshop, yardstick, monkeypatch) -> searching.Search:
    draft = Draft(SourceFile(wrong))

    def propose(source: SourceFile, line: int) -> Iterator[Draft]:
        if source.text == PROGRAM:
            yield draft

    remedies: Registry[Remedy] = Registry("remedy")
    remedies.add(
        "planted",
        Remedy(name="planted", cures=frozenset(RULES), title="planted", propose=propose),
    )
    monkeypatch.setattr(searching, "REMEDIES", remedies)
    (workshop.folder / "extra.txt").unlink(missing_ok=True)
    search = searching.Search(
        run=workshop.run,
        yardstick=yardstick,
        texts={NAME: PROGRAM},
        evidence=yardstick.original,
        paths=lambda path: path if path == NAME else None,
    )
    search.exhaust()
    return search
