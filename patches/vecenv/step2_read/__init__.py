"""Step 2 for ``vecenv``."""
