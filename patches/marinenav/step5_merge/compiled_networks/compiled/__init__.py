"""What numba compiles: it goes through tapes, and nothing of it knows a network."""
