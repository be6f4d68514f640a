"""Step 4: the replay lives on the device, and only indices travel."""
