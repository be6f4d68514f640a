"""The answer that every format opens with: is the GPU the problem, which lines cost most, what to do first."""
