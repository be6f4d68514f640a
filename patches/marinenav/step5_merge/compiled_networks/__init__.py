"""Networks on the host as lists of operations that one compiled call goes through, where numba is installed."""
