"""Lines of a profile: whose they are, and hot functions line by line."""
