"""What numba compiles, one subject per module; nothing here is imported where numba is missing."""
