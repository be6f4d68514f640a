"""What torch offers around tensors: devices, factories, streams, generators, files."""
