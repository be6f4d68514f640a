"""Operators of one's own: counted as declared, listed as unknown if nobody declared them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import syncprobe
from syncprobe.cuda.declarations import DeclarationError

NAMES = ("quiet", "busy", "undeclared", "waiting", "reading")


@pytest.fixture(scope="module", autouse=True)
def _operators() -> Iterator[None]:
    library = torch.library.Library("syncprobe_test", "DEF")
    for name in NAMES:
        library.define(f"{name}(Tensor values) -> Tensor")
        library.impl(name, lambda values: values + 1, "CPU")
    syncprobe.declare_operator("syncprobe_test::quiet", launches=0)
    syncprobe.declare_operator("syncprobe_test::busy", launches=3)
    syncprobe.declare_operator("syncprobe_test::waiting", waits=True)
    syncprobe.declare_operator("syncprobe_test::reading", reads=2)
    yield
    library._destroy()


@pytest.mark.parametrize(("name", "launches"), [("quiet", 0), ("busy", 3), ("undeclared", 1)])
def test_an_operator_counts_as_declared(name, launches):
    with syncprobe.record(device="sim") as recording:
        values = torch.zeros(3, device="cuda")
        before = recording.counts["launch"]
        result = getattr(torch.ops.syncprobe_test, name)(values)
        counted = recording.counts["launch"] - before
        assert result.device.type == "cuda"
        assert result.cpu().tolist() == [1, 1, 1]
    assert counted == launches
    unknown = recording.profile().unknown_ops
    assert unknown == (("syncprobe_test::undeclared",) if name == "undeclared" else ())


@pytest.mark.parametrize("name", ["scan", "::scan", "mine::", "aten::add", "prims::mul"])
def test_what_is_no_operator_of_ones_own_is_refused(name):
    with pytest.raises(DeclarationError, match="mylibrary::scan"):
        syncprobe.declare_operator(name)


def test_a_negative_number_of_launches_is_refused():
    with pytest.raises(DeclarationError, match="0 or more"):
        syncprobe.declare_operator("mine::scan", launches=-1)


@pytest.mark.parametrize(
    ("name", "kind", "count"), [("waiting", "implicit_sync", 1), ("reading", "scalar_read", 2)]
)
def test_an_operator_waits_and_reads_as_declared(name, kind, count):
    with syncprobe.record(device="sim") as recording:
        getattr(torch.ops.syncprobe_test, name)(torch.zeros(3, device="cuda"))
    assert recording.counts[kind] == count
    assert recording.syncs == count
    assert recording.profile().unknown_ops == ()


def test_a_negative_number_of_reads_is_refused():
    with pytest.raises(DeclarationError, match="cannot read -1 values"):
        syncprobe.declare_operator("mine::scan", reads=-1)
