"""What a CUDA device does and costs, with no simulator in it."""
