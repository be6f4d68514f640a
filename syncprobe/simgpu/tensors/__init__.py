"""The tensors of the simulated device, and what happens to them."""
