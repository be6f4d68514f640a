"""Step 4 for ``packing``."""
