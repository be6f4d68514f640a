"""Optimised modules for ``syncprobe.workloads.uara``, a folder for each step of the plan."""
