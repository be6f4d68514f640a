"""Step 3 for ``vecenv``."""
