"""What the networks of all agents share."""
