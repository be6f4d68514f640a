"""Adam, the scaling of its gradients and the target update in few passes over memory, where numba is installed."""
