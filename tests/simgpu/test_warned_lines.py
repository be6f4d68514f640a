"""Warnings that C++ raises while a handler runs name the program's line."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import pytest
import torch

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

WORDS = "degrees of freedom is <= 0"


@pytest.mark.usefixtures("device")
def test_a_warning_of_an_operator_names_the_line_that_called_it() -> None:
    one = torch.ones(1, device="cuda")
    line = sys._getframe().f_lineno + 2
    with pytest.warns(UserWarning, match=WORDS) as found:
        one.std()
    assert [(each.filename, each.lineno) for each in found] == [(__file__, line)]


@pytest.mark.usefixtures("device")
def test_each_line_warns_once_and_an_error_is_raised_there() -> None:
    one = torch.ones(1, device="cuda")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(2):
            one.std()
        one.std()
    assert [each.lineno for each in found] == [found[0].lineno, found[0].lineno + 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=WORDS):
            one.std()


@pytest.mark.usefixtures("device")
def test_filters_are_asked_about_the_program_not_about_the_device() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
        torch.ones(1, device="cuda").std()
    assert found == []


@pytest.mark.usefixtures("device")
def test_a_range_with_its_end_can_be_made_on_the_device(sink: RecordingSink) -> None:
    with pytest.warns(UserWarning, match=r"torch\.range is deprecated") as found:
        made = torch.range(0, 3, device="cuda")
    assert [each.filename for each in found] == [__file__]
    assert made.is_cuda
    assert sink.counts() == {"launch": 1, "allocation": 1}
    assert made.tolist() == [0.0, 1.0, 2.0, 3.0]
