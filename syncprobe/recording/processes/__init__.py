"""Processes that a program starts: what the spawned ones did is brought home, of others the profile tells."""
