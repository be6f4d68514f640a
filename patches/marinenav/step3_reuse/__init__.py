"""Step 3: inputs are written to buffers that exist already."""
