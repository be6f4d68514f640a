"""What a run did, as data: the model, how sums become it, and how it is kept in files."""
