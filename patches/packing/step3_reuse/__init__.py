"""Step 3 for ``packing``."""
