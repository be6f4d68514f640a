"""Rewrites a program so that it waits less, and keeps only what running it proves to change nothing else."""
