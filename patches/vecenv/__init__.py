"""Optimised modules for ``syncprobe.workloads.vecenv``: subclasses of the library's buffers and algorithms."""
