"""Budgets of a project: read, run, judged, and made again."""
