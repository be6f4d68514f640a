"""Device specifications for modelled time. None of these figures was measured here.

Sources, by column:

* memory bandwidth and peak FP32: the makers' data sheets (T4, V100 SXM2, A100 80GB SXM, H100 SXM).
* pinned host transfers: bandwidthTest figures people published for PCIe 3 x16 (about 12 GB/s) and
  PCIe 4 x16 (20 to 25 GB/s); PCIe 5 x16 is taken as twice PCIe 4, which is an assumption.
* pageable transfers: PyTorch issue 138018 measured 1.4 GB/s from an A100; older cards reached 1.65 to 4.
* launch: about 4 microseconds for a bare eager operator on a CPU build, and published launch costs "on the
  order of microseconds"; 5 is used for every device because the host sets it, not the card.
* kernel floor: small element-wise kernels and their dispatch take 2 to 5 microseconds in published traces.
* copy and read: general knowledge of about 10 microseconds per small transfer including its driver call.
"""

from __future__ import annotations

from dataclasses import dataclass

from syncprobe.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """What the cost model knows about one accelerator."""

    name: str
    title: str
    memory_gb_per_s: float
    fp32_tflops: float
    pinned_gb_per_s: float
    pageable_gb_per_s: float
    memory_gib: int
    launch_us: float = 5.0
    """Host time to issue one eager operation."""
    kernel_floor_us: float = 4.0
    """Shortest time a kernel keeps the device busy."""
    copy_us: float = 10.0
    """Fixed cost of one transfer between host and device."""
    synchronize_us: float = 1.0
    """Host cost of an explicit synchronisation when nothing is queued."""
    achievable: float = 0.75
    """Share of peak bandwidth and arithmetic that real kernels reach."""

    def kernel_ns(self, nbytes: int, flops: int) -> float:
        """Device time of one operation that moves and computes this much."""
        duration = nbytes / (self.memory_gb_per_s * self.achievable)
        if flops:
            duration = max(duration, flops / (self.fp32_tflops * 1e3 * self.achievable))
        floor = self.kernel_floor_us * 1e3
        return max(floor, duration)

    def transfer_ns(self, nbytes: int, *, is_pinned: bool) -> float:
        """Time of one transfer of this size."""
        bandwidth = self.pinned_gb_per_s if is_pinned else self.pageable_gb_per_s
        return self.copy_us * 1e3 + nbytes / bandwidth


SPECS: Registry[DeviceSpec] = Registry("device spec")

for _spec in (
    DeviceSpec(
        name="t4",
        title="NVIDIA T4 16GB",
        memory_gb_per_s=320,
        fp32_tflops=8.1,
        pinned_gb_per_s=12,
        pageable_gb_per_s=3,
        memory_gib=16,
    ),
    DeviceSpec(
        name="v100",
        title="NVIDIA V100 SXM2 16GB",
        memory_gb_per_s=900,
        fp32_tflops=15.7,
        pinned_gb_per_s=12,
        pageable_gb_per_s=3,
        memory_gib=16,
    ),
    DeviceSpec(
        name="a100",
        title="NVIDIA A100 SXM 80GB",
        memory_gb_per_s=2039,
        fp32_tflops=19.5,
        pinned_gb_per_s=22,
        pageable_gb_per_s=4,
        memory_gib=80,
    ),
    DeviceSpec(
        name="h100",
        title="NVIDIA H100 SXM 80GB",
        memory_gb_per_s=3350,
        fp32_tflops=67,
        pinned_gb_per_s=45,
        pageable_gb_per_s=6,
        memory_gib=80,
    ),
):
    SPECS.add(_spec.name, _spec)
