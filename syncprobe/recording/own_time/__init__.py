"""Own time of steps, as torch's profiler and the scheduler of the system see it."""
