"""Own time: what the program itself takes, from what was seen of its steps or of its run."""
