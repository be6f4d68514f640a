"""What was taken for a step, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.recording.automatic.finder import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.targets.base import Outcome

MEANINGS: Final = {
    "optimizer": "A step here is what happens from one optimizer step to the next",
    "env": "A step here is what happens from one environment step to the next",
    "batch": "A step here is what happens with one batch of a data loader",
    NONE: "No steps were found: figures are per run, set-up left out",
}
HOW: Final = "mark your own with syncprobe.step()"
PER_RUN: Final = "Figures are per run, set-up left out: --step-on none."


def notes_on_steps(
    step_on: str | None, outcome: Outcome, *, asked: str | None, made: int
) -> Iterator[str]:
    """What the reader of a profile has to know about its steps.

    Args:
        step_on: What was taken for one.
        outcome: How the program ended.
        asked: What was asked for.
        made: How many the program made, those of the warm-up included.
    """
    if step_on == NONE and asked == NONE:
        yield PER_RUN
    elif step_on in MEANINGS and not (step_on == NONE and made):
        yield f"{MEANINGS[step_on]}; {HOW}."
    if outcome.was_ended:
        yield "The program was ended after the last step that was asked for."
