"""Step 1: all robots decide at once, on the device."""
