"""A CUDA device that is not there: programs run unmodified and every sync, copy and launch is seen."""

from syncprobe.simgpu.device import SimulatedDevice
from syncprobe.simgpu.errors import DeviceInUseError, RealDeviceError

__all__ = ["DeviceInUseError", "RealDeviceError", "SimulatedDevice"]
