"""Two variants of a program side by side: run, timed in turns, and held against each other."""
