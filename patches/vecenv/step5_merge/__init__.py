"""Step 5 for ``vecenv``."""
