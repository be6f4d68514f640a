"""Step 2 for ``packing``."""
