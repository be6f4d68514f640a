"""From a running program to aggregated events: the only place that watches one."""
