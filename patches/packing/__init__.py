"""Optimised modules for ``syncprobe.workloads.packing``, a folder for each step of the plan."""
