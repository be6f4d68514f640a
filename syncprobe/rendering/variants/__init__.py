"""Comparisons, plans and verifications, in every format."""
