"""What step 3 puts in place of ``vecenv``'s classes, which look up for themselves what steps are on."""

from __future__ import annotations

from patches.vecenv import dqn, ppo, rollouts

REPLACEMENTS = (
    *dqn.ROWS,
    *ppo.ROWS,
    *rollouts.ROWS,
)
