"""Step 5 for ``uara``."""
