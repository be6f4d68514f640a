"""One training step for each type of agent, as functions of the agent."""
