"""Every rule of the table says where it was read."""

from __future__ import annotations

import pytest
import torch

from syncprobe.cuda import rules
from syncprobe.cuda.versions import torch_is_at_least


@pytest.mark.parametrize("name", sorted(rules._SPECIAL))
def test_a_rule_names_a_file_of_torch(name):
    source = rules._SPECIAL[name].source
    assert source is not None
    assert source.file.startswith(("aten/src/ATen/", "torch/csrc/", "c10/"))


@pytest.mark.parametrize("name", sorted(rules._SPECIAL))
def test_a_rule_is_for_an_operator_that_torch_has(name):
    packet, _, overload = name.partition(".")
    overloads = getattr(torch.ops.aten, packet).overloads()
    assert overload in overloads if overload else overloads


@pytest.mark.parametrize("name", ["add", "sum", "mm", "conv2d", "gelu", "view", "empty", "sort"])
def test_ordinary_operators_have_one_too(name):
    packet = getattr(torch.ops.aten, name)
    rule = rules.rule_for(getattr(packet, packet.overloads()[0]))
    assert rule.source is not None or not rule.is_known


@pytest.mark.parametrize(
    ("running", "asked", "is_so"),
    [
        ("2.13.0+cpu", "2.13", True),
        ("2.13.0+cpu", "2.14", False),
        ("2.14.0a0+git12", "2.14", True),
        ("3.0", "2.14", True),
        ("2.9.1", "2.10", False),
    ],
)
def test_versions_are_compared_by_number(running, asked, is_so, monkeypatch):
    monkeypatch.setattr(torch, "__version__", running)
    assert torch_is_at_least(asked) is is_so
