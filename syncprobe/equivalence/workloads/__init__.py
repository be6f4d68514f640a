"""Runs of the built-in workloads that are made to be compared."""
