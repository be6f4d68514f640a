"""Measured time: what watches a clean pass, by step, region, line or sample."""
