"""Step 5: the environment and the updates in fewer, larger operations."""
