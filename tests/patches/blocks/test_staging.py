"""Staging buffers are made once and never written while a copy from them is under way."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import patches
import syncprobe
from patches.blocks.staging import ALIGNMENT, ReadBack, Segment, Slab, aligned
from patches.errors import CompileUnavailableError

SECTIONS = (
    Segment("numbers", (3, 2)),
    Segment("indices", (5,), torch.int64),
    Segment("flags", (2, 1), torch.bool),
    Segment("nothing", (0, 4)),
)


def test_sections_travel_together_and_keep_their_types() -> None:
    slab = Slab(torch.device("cpu"), is_persistent=True)
    arrays = slab.open("all", lambda: SECTIONS).arrays
    arrays["numbers"][:] = 1.5
    arrays["indices"][:] = [4, 3, 2, 1, 0]
    arrays["flags"][:] = True
    sent = slab.send()
    assert sent["numbers"].tolist() == [[1.5, 1.5]] * 3
    assert sent["indices"].tolist() == [4, 3, 2, 1, 0]
    assert sent["flags"].dtype == torch.bool
    assert sent["nothing"].shape == (0, 4)
    assert all(sent[name].data_ptr() % ALIGNMENT == 0 for name in ("numbers", "indices", "flags"))


def test_buffers_are_made_once() -> None:
    slab = Slab(torch.device("cpu"), is_persistent=True)
    places = set()
    for _ in range(5):
        slab.open("all", lambda: SECTIONS)
        places.add(slab.send()["numbers"].data_ptr())
    assert len(places) == 1


def test_a_larger_layout_gets_larger_buffers() -> None:
    slab = Slab(torch.device("cpu"), is_persistent=True)
    slab.open("small", lambda: SECTIONS)
    slab.send()
    slab.open("large", lambda: (Segment("many", (10_000,)),)).arrays["many"][:] = 2.0
    assert slab.send()["many"].sum() == 20_000.0
    slab.open("small", lambda: SECTIONS).arrays["numbers"][:] = 3.0
    assert slab.send()["numbers"].sum() == 18.0


def test_fresh_results_outlive_the_next_use() -> None:
    slab = Slab(torch.device("cpu"), is_persistent=True)
    slab.open("all", lambda: SECTIONS).arrays["numbers"][:] = 1.0
    kept = slab.send_fresh()["numbers"]
    slab.open("all", lambda: SECTIONS).arrays["numbers"][:] = 2.0
    slab.send()
    assert kept.tolist() == [[1.0, 1.0]] * 3


@pytest.mark.parametrize(("nbytes", "wanted"), [(0, 0), (1, 64), (64, 64), (65, 128)])
def test_sections_start_where_tensors_would(nbytes: int, wanted: int) -> None:
    assert aligned(nbytes) == wanted


def test_uploads_do_not_block_and_reads_do() -> None:
    with syncprobe.record(device="sim") as recording:
        slab = Slab(torch.device("cuda"), is_persistent=True)
        reads = ReadBack(torch.device("cuda"), is_persistent=True)
        for number in range(4):
            slab.open("all", lambda: SECTIONS).arrays["numbers"][:] = number
            assert reads.read(slab.send()["numbers"]).tolist() == [[number] * 2] * 3
    assert recording.counts["copy_to_device"] == 4
    assert recording.counts["copy_to_host"] == 4
    assert recording.counts["conversion"] == 0
    assert sum(event.is_blocking for event in recording.events) == 4


def test_a_buffer_is_not_written_before_its_copy_is_over() -> None:
    """Two buffers take turns; the third use waits for the first copy if that is not over."""
    waits = []

    class SlowEvent:
        def record(self) -> None:
            pass

        def query(self) -> bool:
            return False

        def synchronize(self) -> None:
            waits.append(self)

    with syncprobe.record(device="sim"):
        slab = Slab(torch.device("cuda"), is_persistent=True)
        slab.open("all", lambda: SECTIONS)
        for slot in slab._slots:
            slot.copied = SlowEvent()
        slab.send()
        slab.open("all", lambda: SECTIONS)
        slab.send()
        assert waits == []
        slab.open("all", lambda: SECTIONS)
        slab.send()
        assert len(waits) == 1


def test_compiling_is_refused_on_the_simulated_device() -> None:
    with (
        syncprobe.record(device="sim"),
        pytest.raises(CompileUnavailableError, match="the device is simulated"),
    ):
        patches.apply("1", extras={"compile"})


def test_compiling_is_refused_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_program(name: str, *args: Any) -> None:
        return None

    monkeypatch.setattr("shutil.which", no_such_program)
    with pytest.raises(CompileUnavailableError, match="neither a CUDA device nor a C"):
        patches.apply("1", extras={"compile"})
