"""What is not settled about CUDA is said in the notes of a profile."""

from __future__ import annotations

import torch

import syncprobe


def notes_of(program):
    with syncprobe.record(device="sim") as recording:
        program()
    return " ".join(recording.profile().run.notes)


def test_asynchronous_copies_of_pageable_memory_are_noted():
    assert "pageable async" in notes_of(lambda: torch.ones(3).to("cuda", non_blocking=True))
    assert "pageable async" not in notes_of(lambda: torch.ones(3).to("cuda"))


def test_libraries_that_may_wait_are_noted():
    assert "cuSOLVER" in notes_of(lambda: torch.linalg.qr(torch.eye(3, device="cuda")))
    assert not notes_of(lambda: torch.eye(3, device="cuda") + 1)


def test_norms_are_no_library_calls():
    assert not notes_of(lambda: torch.linalg.vector_norm(torch.ones(3, device="cuda")))
