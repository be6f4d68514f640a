"""Step 5 for ``packing``."""
