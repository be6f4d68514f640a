"""What gets run: the built-in training loops, scripts and functions."""

from syncprobe.targets.base import Outcome, Target
from syncprobe.targets.options import TargetOptions
from syncprobe.targets.resolve import TARGETS, find_target

__all__ = ["TARGETS", "Outcome", "Target", "TargetOptions", "find_target"]
