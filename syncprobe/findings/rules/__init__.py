"""The rules, a family per module."""
