"""Which runtime calls block, and what they are called."""

from __future__ import annotations

import pytest

from syncprobe.importing import import_trace
from tests.importing import traces

PAGEABLE, PINNED = "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)"
TO_PAGEABLE, TO_PINNED = "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH (Device -> Pinned)"


def events_of(folder, *events):
    """Kind, operation, whether it blocks, how often and how much."""
    sites = import_trace(traces.write(folder, *events)).sites
    return sorted(
        (str(site.kind), site.operation, site.is_blocking, site.count, site.nbytes)
        for site in sites
    )


@pytest.mark.parametrize(
    ("copy", "is_synchronised", "kind", "blocks"),
    [
        (PAGEABLE, True, "copy_to_device", True),
        (PAGEABLE, False, "copy_to_device", True),
        (PINNED, True, "copy_to_device", True),
        (PINNED, False, "copy_to_device", False),
        (TO_PAGEABLE, False, "copy_to_host", True),
        (TO_PINNED, True, "copy_to_host", True),
        (TO_PINNED, False, "copy_to_host", False),
    ],
)
def test_a_copy_blocks_if_it_is_pageable_or_waited_for(
    tmp_path, copy, is_synchronised, kind, blocks
):
    wait = [traces.call("cudaStreamSynchronize", 5)] if is_synchronised else []
    found = events_of(
        tmp_path,
        traces.operator("aten::copy_", 0, 10),
        traces.call("cudaMemcpyAsync", 2, 1),
        traces.copied(copy, 1),
        *wait,
    )
    assert found == [(kind, "aten::copy_", blocks, 1, 8)]


def test_a_synchronisation_after_the_operation_is_one_of_its_own(tmp_path):
    found = events_of(
        tmp_path,
        traces.operator("aten::copy_", 0, 10),
        traces.call("cudaMemcpyAsync", 2, 1),
        traces.copied(PINNED, 1),
        traces.call("cudaStreamSynchronize", 15),
    )
    assert found == [
        ("copy_to_device", "aten::copy_", False, 1, 8),
        ("explicit_sync", "cudaStreamSynchronize", True, 1, 0),
    ]


def test_an_operation_inside_does_not_part_a_copy_from_its_synchronisation(tmp_path):
    found = events_of(
        tmp_path,
        traces.operator("aten::copy_", 0, 20),
        traces.call("cudaMemcpyAsync", 2, 1),
        traces.copied(PINNED, 1),
        traces.operator("aten::empty", 5, 9),
        traces.call("cudaLaunchKernel", 6),
        traces.call("cudaStreamSynchronize", 12),
    )
    assert found == [
        ("copy_to_device", "aten::copy_", True, 1, 8),
        ("launch", "aten::empty", False, 1, 0),
    ]


def test_without_operations_calls_are_named_after_themselves(tmp_path):
    found = events_of(
        tmp_path,
        traces.call("cudaMemcpyAsync", 2, 1),
        traces.copied(TO_PINNED, 1),
        traces.call("cudaStreamSynchronize", 4),
        traces.call("cudaMemcpyAsync", 6, 2),
        traces.copied(PINNED, 2),
        traces.call("cudaLaunchKernel", 8),
        traces.call("cudaDeviceSynchronize", 9),
    )
    assert found == [
        ("copy_to_device", "cudaMemcpyAsync", False, 1, 8),
        ("copy_to_host", "cudaMemcpyAsync", True, 1, 8),
        ("explicit_sync", "cudaDeviceSynchronize", True, 1, 0),
        ("launch", "cudaLaunchKernel", False, 1, 0),
    ]


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        (["aten::item", "aten::_local_scalar_dense"], ("scalar_read", "aten::_local_scalar_dense")),
        (
            ["aten::masked_fill", "aten::item", "aten::_local_scalar_dense"],
            ("scalar_read", "aten::masked_fill"),
        ),
        (
            ["aten::equal", "aten::item", "aten::_local_scalar_dense"],
            ("implicit_sync", "aten::equal"),
        ),
        (
            ["aten::linalg_inv", "aten::is_nonzero", "aten::item", "aten::_local_scalar_dense"],
            ("implicit_sync", "aten::linalg_inv"),
        ),
        (["aten::to", "aten::_to_copy", "aten::copy_"], ("copy_to_host", "aten::to")),
        (["aten::nonzero"], ("implicit_sync", "aten::nonzero")),
        (["aten::index", "aten::nonzero"], ("implicit_sync", "aten::index")),
        (["MyFunctionBackward", "aten::copy_"], ("copy_to_host", "aten::copy_")),
    ],
)
def test_a_read_is_named_after_the_operation_that_the_program_called(tmp_path, operators, expected):
    nested = [traces.operator(name, n, 50 - n) for n, name in enumerate(operators)]
    wait = traces.call("cudaStreamSynchronize", 25)
    copy = [traces.call("cudaMemcpyAsync", 20, 1), traces.copied(TO_PINNED, 1, 4)]
    assert events_of(tmp_path, *nested, *copy, wait) == [(*expected, True, 1, 4)]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "cudaLaunchKernel",
            "cudaLaunchKernelExC",
            "cudaLaunchCooperativeKernel",
            "cuLaunchKernel",
        ),
        *("cuLaunchKernelEx", "cudaGraphLaunch", "hipLaunchKernel", "hipModuleLaunchKernel"),
        *("hipExtModuleLaunchKernel", "cudaLaunchKernel_ptsz", "cudaMemsetAsync"),
    ],
)
def test_launches_have_many_names(tmp_path, name):
    assert events_of(tmp_path, traces.call(name, 0)) == [("launch", name, False, 1, 0)]


@pytest.mark.parametrize(
    "name",
    ["cudaStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize"],
)
def test_synchronisations_have_many_names(tmp_path, name):
    assert events_of(tmp_path, traces.call(name, 0)) == [("explicit_sync", name, True, 1, 0)]


@pytest.mark.parametrize(
    "name", ["cudaEventRecord", "cudaStreamIsCapturing", "cudaEventQuery", "cudaStreamWaitEvent"]
)
def test_calls_that_neither_wait_nor_launch_are_no_events(tmp_path, name):
    assert events_of(tmp_path, traces.call(name, 0)) == []


def test_a_synchronous_copy_blocks_by_itself(tmp_path):
    found = events_of(tmp_path, traces.call("cudaMemcpy", 0, 1), traces.copied(TO_PINNED, 1))
    assert found == [("copy_to_host", "cudaMemcpy", True, 1, 8)]


def test_a_copy_without_its_device_side_is_reported_not_guessed(tmp_path):
    imported = import_trace(traces.write(tmp_path, traces.call("cudaMemcpyAsync", 0, 1)))
    assert imported.sites == ()
    assert "1 copies have no device side in the trace and are not counted." in imported.run.notes
