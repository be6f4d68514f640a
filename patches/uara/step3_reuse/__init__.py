"""Step 3 for ``uara``."""
