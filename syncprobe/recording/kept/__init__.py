"""What a recording keeps of the events it hears: sums, times, films."""
