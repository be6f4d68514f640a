"""Step 4 for ``uara``."""
