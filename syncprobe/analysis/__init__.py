"""Pure functions from recorded facts to profiles, comparisons and verdicts: no torch, files or clocks."""
