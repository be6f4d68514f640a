"""Processes that do one thing each, and that never outlive the one that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from syncprobe.interrupts import end_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class Children:
    """The processes that are at work; threads may ask for several at a time."""

    def __init__(self) -> None:
        self._working: set[BaseProcess] = set()

    def ask(
        self, work: Callable[Given, Answer], *words: Given.args, **named: Given.kwargs
    ) -> Answer | None:
        """What a function of a module gives in a process of its own; None if that ends without an answer."""
        # Spawned, not forked: it starts with nothing that an earlier run has imported or changed.
        context = multiprocessing.get_context("spawn")
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_answer, args=(sending, os.getpid(), work, words, named))
        process.start()
        self._working.add(process)
        sending.close()
        try:
            answer: Answer = receiving.recv()
        except EOFError:
            return None
        else:
            return answer
        finally:
            receiving.close()
            process.join()
            self._working.discard(process)

    def kill(self) -> None:
        """End all of them at once."""
        for process in tuple(self._working):
            process.kill()


def _answer(
    sending: Connection,
    parent: int,
    work: Callable[..., object],
    words: tuple[object, ...],
    named: dict[str, object],
) -> None:
    end_with(parent)
    # What a program prints is not the answer: it goes to standard error, its children's too.
    os.dup2(2, 1)
    # Who asked may be gone, and an interrupt from the terminal goes to both.
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        sending.send(work(*words, **named))
