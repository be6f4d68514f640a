"""What step 5 puts in place of ``vecenv``'s classes, which look up for themselves what steps are on."""

from __future__ import annotations

from patches.vecenv import ppo, rollouts

REPLACEMENTS = (
    *ppo.ROWS,
    *rollouts.ROWS,
)
