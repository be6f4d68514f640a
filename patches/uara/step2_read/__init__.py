"""Step 2 for ``uara``."""
