"""Step 4 for ``vecenv``."""
