"""What was taken for a step, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.targets.base import Outcome

MEANINGS: Final = {
    "optimizer": "A step here is what happens from one optimizer step to the next",
    "env": "A step here is what happens from one environment step to the next",
    "batch": "A step here is what happens with one batch of a data loader",
    "none": "No steps were found: figures are per run, set-up left out",
}
HOW: Final = "mark your own with syncprobe.step()"


def notes_on_steps(step_on: str | None, outcome: Outcome) -> Iterator[str]:
    """What the reader of a profile has to know about its steps."""
    if step_on in MEANINGS:
        yield f"{MEANINGS[step_on]}; {HOW}."
    if outcome.was_ended:
        yield "The program was ended after the last step that was asked for."
