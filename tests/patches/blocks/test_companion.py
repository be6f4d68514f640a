"""A companion does its half at the same time, or leaves it to whoever asked."""

from __future__ import annotations

import multiprocessing
import os
import threading
from typing import Any

import pytest
import torch

from patches.blocks import companion
from patches.blocks.companion import Companion, find_companion

TIMEOUT = 60


def test_both_are_done_by_two_threads() -> None:
    threads: list[int] = []
    meeting = threading.Barrier(2)

    def note() -> None:
        meeting.wait(TIMEOUT)  # neither goes on before both are there
        threads.append(threading.get_ident())

    Companion().share(note, note)
    assert len(set(threads)) == 2


def test_what_the_companion_has_no_time_for_is_done_here() -> None:
    shared, threads = Companion(), list[int]()
    is_over = threading.Event()
    begun = threading.Event()

    def keep_busy() -> None:
        begun.set()
        is_over.wait(TIMEOUT)

    busy = threading.Thread(target=shared.share, args=(begun.wait, keep_busy))
    busy.start()
    assert begun.wait(TIMEOUT)
    try:
        shared.share(lambda: None, lambda: threads.append(threading.get_ident()))
    finally:
        is_over.set()
        busy.join(TIMEOUT)
    assert threads == [threading.get_ident()]


def test_errors_are_raised_where_work_was_shared() -> None:
    shared = Companion()

    def fail() -> None:
        raise ValueError("its half")

    with pytest.raises(ValueError, match="its half"):
        shared.share(lambda: None, fail)
    with pytest.raises(ValueError, match="its half"):
        shared.share(fail, lambda: None)
    done: list[int] = []
    shared.share(lambda: done.append(1), lambda: done.append(2))
    assert sorted(done) == [1, 2], "it goes on afterwards"


def test_products_of_the_companion_stay_in_its_thread() -> None:
    before = torch.get_num_threads()
    numbers: list[int] = []
    meeting = threading.Barrier(2)

    def note() -> None:
        meeting.wait(TIMEOUT)
        numbers.append(torch.get_num_threads())

    try:
        torch.set_num_threads(1)
        Companion().share(note, note)
        assert numbers == [1, 1]
    finally:
        torch.set_num_threads(before)


def _share_in_child(shared: Companion, queue: Any) -> None:
    found: list[int] = []
    shared.share(lambda: found.append(1), lambda: found.append(2))
    queue.put(sorted(found))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_processes_have_companions_of_their_own() -> None:
    shared = Companion()
    shared.share(lambda: None, lambda: None)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_share_in_child, args=(shared, queue))
    child.start()
    assert queue.get(timeout=TIMEOUT) == [1, 2]
    child.join(TIMEOUT)


def test_there_is_none_without_a_processor_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        monkeypatch.setattr(companion, "has_room", lambda: True)
        assert find_companion() is not None
        monkeypatch.setattr(companion, "has_room", lambda: False)
        assert find_companion() is None
        monkeypatch.undo()
        torch.set_num_threads(2)
        assert find_companion() is None, "torch uses it itself"
    finally:
        torch.set_num_threads(before)
