"""Proof that a variant of the training code does what the legacy code does, or where it does not.

A run is traced from outside (`trace_run`): actions, rewards, losses, parameters, replay, generators, files. In
exact mode a variant's trace has to be equal to the last bit. In fast mode policies are asked about all robots at
once, which rounds differently, so there are three comparisons: forced to take the legacy actions, it has to
propose the same ones and learn the same; left to itself it has to take the same way; and to earn the same.
"""

from __future__ import annotations

from syncprobe.equivalence.scenario import Stage, TrainingRun
from syncprobe.equivalence.trace import Trace
from syncprobe.equivalence.tracing import apply_patches, trace_run
from syncprobe.equivalence.verifying import VerificationPlan, Verifier, agents_of, run_of, verify

__all__ = [
    "Stage",
    "Trace",
    "TrainingRun",
    "VerificationPlan",
    "Verifier",
    "agents_of",
    "apply_patches",
    "run_of",
    "trace_run",
    "verify",
]
