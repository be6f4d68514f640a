"""Small training loops that ship with syncprobe, slow on purpose: re-created from descriptions of behaviour, own code."""
