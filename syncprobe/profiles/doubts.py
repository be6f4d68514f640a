"""Why a profile cannot be relied on: known when it is made, and kept in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syncprobe.profiles.model import Digest, Run


def doubts_of(run: Run, digest: Digest | None) -> tuple[str, ...]:
    """What speaks against the figures of a run; what is merely good to know is in its notes."""
    doubts = []
    if not run.is_complete:
        why = run.interruption or f"exit code {run.exit_code}"
        doubts.append(f"INCOMPLETE: the program did not run to its end ({why}).")
    if digest is not None and digest.is_perturbed:
        doubts.append(
            "PERTURBED: the recorded run did something else than the clean run; "
            "its counts describe another program."
        )
    return tuple(doubts)
