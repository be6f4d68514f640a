"""Looks at parameters, optimizers, losses and generators as a run goes on, and sums up what it saw."""

from __future__ import annotations

import base64
import hashlib
import itertools
import struct
import sys
import threading
import weakref
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import torch

from syncprobe.profiles.fingerprints.model import Fingerprints, StepPrint
from syncprobe.recording.fingerprinting.generators import Draws
from syncprobe.recording.fingerprinting.naming import names_of
from syncprobe.recording.fingerprinting.printing import PrintedText
from syncprobe.recording.fingerprinting.sampling import Sampler
from syncprobe.recording.fingerprinting.series import NumberSeries
from syncprobe.recording.fingerprinting.tensors import bytes_of, tensor_print
from syncprobe.simgpu.tensors.handling import handler

if TYPE_CHECKING:
    from syncprobe.recording.fingerprinting.sampling import Pausable

MOST_ROWS: Final = 1024
"""Rows that all prints of a run have together; with more, every second print goes."""
FEWEST_PRINTS: Final = 8
MOST_PRINTS: Final = 64
CHAIN_BYTES: Final = 8


class Watched:
    """An optimizer that has stepped, and what its parameters are called."""

    def __init__(self, optimizer: Any, number: int) -> None:
        self._optimizer = weakref.ref(optimizer)
        parameters = _parameters(optimizer)
        self._count = len(parameters)
        kind = type(optimizer).__name__
        state = f"state of {kind}" if not number else f"state of {kind}, number {number + 1}"
        self.names = (*names_of(parameters, sys._getframe(2)), state)
        self.sizes = (*(parameter.numel() for parameter in parameters), 0)

    def rows(self) -> list[list[Any]] | None:
        """Each parameter, then all that it remembers; None if it is gone, or has other parameters than at first."""
        optimizer = self._optimizer()
        parameters = [] if optimizer is None else _parameters(optimizer)
        if optimizer is None or len(parameters) != self._count:
            return None
        state = []
        for parameter in parameters:
            entry = optimizer.state.get(parameter, {})
            state += [entry[key] for key in sorted(entry) if isinstance(entry[key], torch.Tensor)]
        return [*([each] for each in parameters), state]


def _parameters(optimizer: Any) -> list[Any]:
    return [each for group in optimizer.param_groups for each in group["params"]]


class Collector:
    """Hears of everything that `fingerprinted` listens to."""

    def __init__(self, *, is_thorough: bool = False, stopwatch: Pausable | None = None) -> None:
        self.printed = PrintedText()
        self._sampler = Sampler(is_thorough=is_thorough, stopwatch=stopwatch)
        self._thread = threading.get_ident()
        self._optimizers: dict[int, Watched] = {}
        self._chain = hashlib.blake2b(digest_size=CHAIN_BYTES)
        self._prints: dict[int, StepPrint] = {}
        self._kept_every = 1
        self._draws = Draws()
        self._losses = NumberSeries()
        self._observed: defaultdict[str, NumberSeries] = defaultdict(NumberSeries)

    @property
    def steps(self) -> int:
        """Optimizer steps so far."""
        return self._sampler.step

    def stepped(self, optimizer: Any) -> None:
        """An optimizer has made a step."""
        if self._is_elsewhere():
            return
        is_wanted = self._sampler.next_step()
        if id(optimizer) not in self._optimizers:
            self._optimizers[id(optimizer)] = Watched(optimizer, len(self._optimizers))
        if is_wanted:
            with self._sampler.working():
                self._look()

    def went_backward(self, tensors: Any) -> None:
        """A backward pass begins at these roots."""
        if self._is_elsewhere():
            return
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        with self._sampler.working():
            for root in roots:
                self._note(self._losses, root)

    def observe(self, name: str, value: Any) -> None:
        """The program hands over a value."""
        with self._sampler.working():
            self._note(self._observed[name], value)

    def look_once_more(self) -> None:
        """The run is over: how things stand at its end is kept in any case."""
        if self.steps and self.steps not in self._prints:
            self._look(is_last=True)

    def fingerprints(self, exit_code: int = 0) -> Fingerprints:
        """What the run computed."""
        watched = tuple(self._optimizers.values())
        return Fingerprints(
            steps=self.steps,
            is_thorough=self._sampler.is_thorough,
            rows=tuple(name for each in watched for name in each.names),
            sizes=tuple(size for each in watched for size in each.sizes),
            prints=tuple(self._prints.values()),
            losses=self._losses.summary(),
            observed={name: series.summary() for name, series in self._observed.items()},
            printed=self.printed.summary(),
            exit_code=exit_code,
        )

    def _is_elsewhere(self) -> bool:
        """On a thread that is not the program's main one, whose turns nobody can foresee."""
        return threading.get_ident() != self._thread

    @handler
    def _note(self, series: NumberSeries, value: Any) -> None:
        series.add(self.steps + 1, value)

    @handler
    def _look(self, *, is_last: bool = False) -> None:
        groups = [each.rows() for each in self._optimizers.values()]
        if None in groups:
            return
        rows = [row for group in groups for row in group or ()]
        if not is_last or not self._sampler.is_thorough:
            for value in itertools.chain.from_iterable(rows):
                self._chain.update(bytes_of(value))
        if is_last or self.steps % self._kept_every == 0:
            self._keep(rows)
        if len(self._prints) > min(max(MOST_ROWS // len(rows), FEWEST_PRINTS), MOST_PRINTS):
            self._thin_out()

    def _keep(self, rows: list[list[Any]]) -> None:
        prints = [tensor_print(row) for row in rows]
        numbers = [number for each in prints for number in each.sketch]
        self._prints[self.steps] = StepPrint(
            step=self.steps,
            chain=self._chain.copy().hexdigest(),
            hashes="".join(f"{each.hash:08x}" for each in prints),
            sketches=base64.b64encode(struct.pack(f"<{len(numbers)}d", *numbers)).decode(),
            draws=self._draws.now(),
        )

    def _thin_out(self) -> None:
        self._kept_every *= 2
        if not self._sampler.is_thorough:
            self._sampler.stride = max(self._sampler.stride, self._kept_every)
        self._prints = {
            step: each
            for step, each in self._prints.items()
            if step % self._kept_every == 0 or step == self.steps
        }
