"""Step 1 for ``uara``."""
