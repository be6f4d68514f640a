"""Two programs, or two revisions of one, run apart from each other and held against each other."""
