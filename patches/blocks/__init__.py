"""What a patch of any program can be built from: nothing in here knows which program it is."""
