"""Writes what compiled code goes through: the layers of a network, and the way back through them."""
