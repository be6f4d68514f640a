"""Faults planted in the patches one at a time, and who notices: ``python -m tests.equivalence.faults``."""
