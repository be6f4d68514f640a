"""Step 1 for ``packing``."""
