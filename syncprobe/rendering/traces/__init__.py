"""One modelled step and its cost, for the viewers of others."""
