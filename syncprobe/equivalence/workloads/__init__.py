"""Runs of the workloads beside MarineNav, as traces that can be held against each other."""
