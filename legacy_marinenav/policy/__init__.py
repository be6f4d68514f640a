"""Networks, agents, replay memories and the training loop."""
