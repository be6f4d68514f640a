"""What a plan is: steps in their order, each with the tables of what it replaces."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from patches.errors import StepSpecError, TableError
from patches.replacement import Replacement
from syncprobe.plan_steps import FIVE_STEPS, ChoiceError, Steps, chosen_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from patches.settings import Settings

__all__ = ["PatchStep", "Plan", "Steps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchStep:
    """One step of the plan for a program."""

    number: int
    name: str
    """One word for tables and file names."""
    title: str
    replaces: str
    """The code of the program that no longer runs."""
    removes: str
    """What that code cost."""
    modules: tuple[str, ...]
    """Modules whose ``REPLACEMENTS`` the step applies."""
    modules_with: Mapping[str, str] = field(default_factory=dict)
    """Further ones, behind the package without which the code they replace cannot be imported either."""

    def replacements(self) -> Iterator[Replacement]:
        """What the step puts in place of the program's attributes.

        Raises:
            TableError: A module is missing, or has no table of `Replacement` rows.
        """
        for name in self.modules:
            yield from _rows_of(name, self.name)
        for package, name in self.modules_with.items():
            if importlib.util.find_spec(package) is not None:
                yield from _rows_of(name, self.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in their order."""

    steps: tuple[PatchStep, ...]
    second_thread: str = ""
    """``module:function`` that says of settings whether mode max has a second thread without torch's, if any can."""

    def __iter__(self) -> Iterator[PatchStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, number: int) -> PatchStep:
        (chosen,) = self.parse(number)
        return next(step for step in self.steps if step.number == chosen)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all steps."""
        return tuple(step.number for step in self.steps)

    def shares_work(self, settings: Settings) -> bool:
        """Whether mode max has a second thread that is none of torch's."""
        module, _, function = self.second_thread.partition(":")
        return bool(module) and getattr(importlib.import_module(module), function)(settings)

    def parse(self, spec: Steps) -> tuple[int, ...]:
        """Numbers of the chosen steps, in order and each once.

        Raises:
            StepSpecError: A ValueError; the choice cannot be read or names a step that does not exist.
        """
        try:
            return chosen_numbers(spec, self.steps)
        except ChoiceError as error:
            raise StepSpecError(str(error)) from None


def five_step_plan(package: str, facts: Mapping[str, tuple[str, str]]) -> Plan:
    """The plan of a program whose patches have a folder for each of the five steps.

    Args:
        package: Where the folders are.
        facts: What each step replaces and what it removes, by its name.
    """
    return Plan(
        tuple(
            PatchStep(
                number=step.number,
                name=step.name,
                title=step.title,
                replaces=facts[step.name][0],
                removes=facts[step.name][1],
                modules=(f"{package}.step{step.number}_{step.name}.table",),
            )
            for step in FIVE_STEPS
        )
    )


def _rows_of(module: str, step: str) -> tuple[Replacement, ...]:
    """The table in a module, checked: a table that cannot be found must not pass for an empty one."""
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the table is there; something that it imports is not
        raise TableError(step, module, "there is no such module") from error
    rows = getattr(found, "REPLACEMENTS", None)
    if not isinstance(rows, tuple) or not rows:
        raise TableError(step, module, "it has no tuple REPLACEMENTS with rows in it")
    for row in rows:
        if not isinstance(row, Replacement):
            raise TableError(step, module, f"{row!r} in it is no Replacement")
    return rows
