"""Lines that cost most, and whose they are."""
