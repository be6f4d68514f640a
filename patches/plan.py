"""The five steps: what each replaces, what it removes, and where its stand-ins are."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from patches.errors import StepSpecError
from patches.replacement import Replacement

Steps = str | int | Iterable[int]
"""``"none"``, ``"all"``, ``"1-3"``, ``"1,4"``, 2, or the numbers themselves."""

_PART = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchStep:
    """One step of the plan."""

    number: int
    name: str
    """One word for tables and file names."""
    title: str
    replaces: str
    """The legacy code that no longer runs."""
    removes: str
    """What that code cost."""
    modules: tuple[str, ...]
    """Modules of this package whose ``REPLACEMENTS`` the step applies, if they are there."""

    def replacements(self) -> Iterator[Replacement]:
        """What the step puts in place of legacy attributes."""
        for name in self.modules:
            if importlib.util.find_spec(name) is None or not _is_usable(name):
                continue
            for row in getattr(importlib.import_module(name), "REPLACEMENTS", ()):
                yield _as_replacement(row)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in their order."""

    steps: tuple[PatchStep, ...]

    def __iter__(self) -> Iterator[PatchStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, number: int) -> PatchStep:
        for step in self.steps:
            if step.number == number:
                return step
        raise StepSpecError(number, self.spellings)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all steps."""
        return tuple(step.number for step in self.steps)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Words that `parse` understands."""
        return ("none", "all", *(step.name for step in self.steps), *map(str, self.numbers))

    def parse(self, spec: Steps) -> tuple[int, ...]:
        """Numbers of the chosen steps, in order and each once.

        Raises:
            StepSpecError: A ValueError; the choice cannot be read or names a step that does not exist.
        """
        chosen = sorted(set(self._numbers(spec)))
        if any(number not in self.numbers for number in chosen):
            raise StepSpecError(spec, self.spellings)
        return tuple(chosen)

    def _numbers(self, spec: Steps) -> Iterable[int]:
        if isinstance(spec, bool):
            raise StepSpecError(spec, self.spellings)
        if isinstance(spec, int):
            return (spec,)
        if isinstance(spec, str):
            return self._numbers_in(spec)
        try:
            numbers = list(spec)
        except TypeError:
            raise StepSpecError(spec, self.spellings) from None
        if any(type(number) is not int for number in numbers):
            raise StepSpecError(spec, self.spellings)
        return numbers

    def _numbers_in(self, text: str) -> Iterator[int]:
        word = text.strip().lower()
        if word == "all":
            yield from self.numbers
            return
        if word == "none":
            return
        for part in word.split(","):
            named = [step.number for step in self.steps if step.name == part.strip()]
            match = _PART.fullmatch(part)
            if named:
                yield named[0]
            elif match is None:
                raise StepSpecError(text, self.spellings)
            else:
                first, last = int(match[1]), int(match[2] or match[1])
                if first > last or last > self.numbers[-1]:
                    raise StepSpecError(text, self.spellings)
                yield from range(first, last + 1)


def _is_usable(module: str) -> bool:
    """The TorchRL pipeline cannot be imported, so need not be patched, without torchrl."""
    return "torchrl_" not in module or importlib.util.find_spec("torchrl") is not None


def _as_replacement(row: Any) -> Replacement:
    if isinstance(row, Replacement):
        return row
    owner, attribute, function = row
    return Replacement(owner, attribute, function)


_COMMON = "patches.agents"
"""Gives every agent built while patches are on its notes; all steps need it."""

PLAN = Plan(
    (
        PatchStep(
            number=1,
            name="decide",
            title="Keep the decision on the device",
            replaces="one act call per robot in Trainer, its evaluation and PolicyWrapper",
            removes="a forward, three uploads and up to four reads per robot and decision",
            modules=(_COMMON, "patches.trainer_decisions", "patches.torchrl_decisions"),
        ),
        PatchStep(
            number=2,
            name="read",
            title="Fewer scalar reads",
            replaces="insertion robot by robot, and losses read at the end of each update",
            removes="seven reads per robot and step in the TorchRL pipeline, one to three per update",
            modules=(_COMMON, "patches.insertion", "patches.lazy_losses", "patches.torchrl_steps"),
        ),
        PatchStep(
            number=3,
            name="reuse",
            title="Persistent buffers",
            replaces="tensors made from lists for every state, batch, fraction and constant",
            removes="three conversions per robot and decision, nine and more per update",
            modules=(_COMMON, "patches.staged_inputs", "patches.torchrl_environment"),
        ),
        PatchStep(
            number=4,
            name="keep",
            title="No needless copies between host and device",
            replaces="replay in Python lists and host arrays",
            removes="nine uploads per update; a batch costs one upload of its indices",
            modules=(
                _COMMON,
                "patches.device_replay",
                "patches.sampled_batches",
                "patches.torchrl_replay",
            ),
        ),
        PatchStep(
            number=5,
            name="merge",
            title="Bigger operations, fewer calls",
            replaces="the environment robot by robot, updates and optimizers tensor by tensor",
            removes="most Python in the environment, gradients nobody uses, validation reads",
            modules=(_COMMON, "patches.updates", "patches.vector_environment"),
        ),
    )
)
