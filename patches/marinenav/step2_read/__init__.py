"""Step 2: values are read when somebody wants them, and all robots' at once."""
