"""Profiles from traces that torch.profiler recorded elsewhere, usually on a real GPU."""

from syncprobe.importing.assembling import import_trace

__all__ = ["import_trace"]
