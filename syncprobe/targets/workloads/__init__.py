"""The workloads beside MarineNav as targets."""
