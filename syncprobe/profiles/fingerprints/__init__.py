"""What a training run computed, in so few bytes that a profile can hold it."""
