"""The simulated device and the watch of a real one classify by one table, in one place.

The watch is a dispatch mode. It is laid over the simulated device here, so that it sees every operator
with its device tensors, and must report what the simulated device reports for the same operator.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch

from syncprobe.cuda import rules
from syncprobe.cuda.rule import DeviceRule, always
from syncprobe.recording.cuda import ClassifyingMode
from syncprobe.simgpu.tensors.dispatch import PLACEMENT
from tests.simgpu import test_confirmed, test_further_places, test_truth_table
from tests.simgpu.conftest import Recorded, RecordingSink
from tests.slowness import is_in_share, slow_unless

if TYPE_CHECKING:
    from tests.simgpu.rows import Row

CROSSINGS = frozenset({"scalar_read", "copy_to_host", "copy_to_device"})


class Watch(ClassifyingMode):
    """The watch, taking from the simulated device what each operator made it report."""

    def __init__(self, own: RecordingSink, simulated: RecordingSink) -> None:
        super().__init__(own, PLACEMENT)
        self._simulated = simulated
        self.taken: list[Recorded] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        before = len(self._simulated.events)

        def run(*given: Any, **named: Any) -> Any:
            result = func(*given, **named)
            self.taken += self._simulated.events[before:]
            return result

        run._schema = func._schema  # type: ignore[attr-defined]  # what the watch asks an overload
        return super().__torch_dispatch__(_Overload(func, run), types, args, kwargs)


class _Overload:
    """An overload that is run in another way."""

    def __init__(self, overload: Any, run: Any) -> None:
        self._overload, self._run = overload, run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._overload, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(*args, **kwargs)


def summary(events: list[Recorded]) -> Counter[tuple[object, ...]]:
    """Kinds, blocking and what crosses; torch has taken some operators apart below the watch."""
    return Counter(
        (event.kind, event.is_blocking, event.nbytes if event.kind in CROSSINGS else 0)
        for event in events
    )


ROWS: list[tuple[Row, Any]] = [
    *((row, test_truth_table.names) for row in test_truth_table.ROWS),
    *((row, test_truth_table.names) for row in test_confirmed.ROWS_OF_ALL),
    *((row, test_further_places.scope) for row in test_further_places.ROWS),
]


SHARE = 8
"""One row in so many is run each time; all of them are the truth table's, where each is."""


@pytest.mark.parametrize(
    ("row", "scope"),
    slow_unless(lambda row, _: is_in_share(row.program, one_in=SHARE), ROWS),
    ids=[row.program for row, _ in ROWS],
)
@pytest.mark.usefixtures("device", "validation")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_both_report_the_same(row: Row, scope: Any, sink: RecordingSink) -> None:
    names, own = scope(), RecordingSink()
    sink.take()
    watch = Watch(own, sink)
    with watch:
        eval(row.program, names)
    assert summary(own.events) == summary(watch.taken)


def test_a_rule_that_is_wrong_is_wrong_in_both(
    monkeypatch: pytest.MonkeyPatch, device: object, sink: RecordingSink
) -> None:
    del device
    values = torch.ones(4, device="cuda")
    overload = torch.ops.aten.cosh.default
    monkeypatch.setitem(rules._rules, overload, DeviceRule(waits=always))
    own = RecordingSink()
    with ClassifyingMode(own, PLACEMENT):
        sink.take()
        values.cosh()
    assert own.counts()["implicit_sync"] == sink.counts()["implicit_sync"] == 1


def test_what_the_host_does_alone_is_no_event() -> None:
    own = RecordingSink()
    host = torch.tensor([1.0, 0.0])
    with ClassifyingMode(own, PLACEMENT):
        host.nonzero()
        host[torch.tensor([0])]
        host[host > 0].sum().item()
        torch.equal(host, host.clone())
    assert not own.events
