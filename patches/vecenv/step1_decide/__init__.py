"""Step 1 for ``vecenv``."""
