"""Two fingerprints are alike, alike but for rounding, different, or not to be compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from syncprobe.equivalence.fingerprints import Kind, likeness_of
from syncprobe.profiles.fingerprints.model import Fingerprints
from syncprobe.recording.fingerprinting import fingerprinted

Meddle = Callable[[int, torch.nn.Module], object]


def trained(
    meddle: Meddle = lambda *_: None, *, steps: int = 12, lr: float = 0.01, thorough: bool = True
) -> Fingerprints:
    torch.manual_seed(3)
    with fingerprinted(is_thorough=thorough) as collector:
        model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        for step in range(1, steps + 1):
            loss = model(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meddle(step, model)
    return collector.fingerprints()


def nudged(by: float, at: int) -> Meddle:
    def meddle(step: int, model: torch.nn.Module) -> None:
        if step == at:
            with torch.no_grad():
                model[1].weight += by

    return meddle


@pytest.fixture(scope="module")
def plain() -> Fingerprints:
    return trained()


def test_the_same_twice_is_identical(plain: Fingerprints) -> None:
    found = likeness_of(plain, trained())
    assert found.is_identical
    assert found.summary == "identical (all 12 optimizer steps, bit for bit)"


def test_the_first_difference_is_named_with_its_step(plain: Fingerprints) -> None:
    """Nudged after step 5 was looked at, so the loss of step 6 is the first to show it."""
    found = likeness_of(plain, trained(nudged(0.5, at=5)))
    assert found.kind is Kind.DIFFERENT
    assert found.first is not None
    assert (found.first.what, found.first.step) == ("loss", 6)


def test_the_size_is_the_norm_of_the_difference() -> None:
    """Sixteen weights by 0.5 each are a norm of 2, which a sketch of four numbers knows roughly."""
    still, moved = trained(lr=0.0), trained(nudged(0.5, at=5), lr=0.0)
    difference = likeness_of(replace(still, losses=moved.losses), moved).first
    assert difference is not None
    assert (difference.name, difference.step, difference.since) == ("model.1.weight", 6, 5)
    assert difference.size == pytest.approx(0.5 * 16**0.5, rel=0.6)
    assert "parameter model.1.weight at step 6 by " in str(difference)


def test_rounding_is_within_tolerance_until_it_is_not(plain: Fingerprints) -> None:
    found = likeness_of(plain, trained(nudged(1e-7, at=2), steps=12))
    assert found.kind is Kind.WITHIN
    assert found.beyond is None
    assert found.summary.startswith("equal within tolerance up to step 12 (first in loss at step 3")

    def twice(step: int, model: torch.nn.Module) -> None:
        nudged(1e-7, at=2)(step, model)
        nudged(0.1, at=8)(step, model)

    found = likeness_of(plain, trained(twice))
    assert found.kind is Kind.WITHIN
    assert found.summary.startswith("equal within tolerance up to step 8, then beyond it in loss")


def test_one_more_draw_is_a_difference(plain: Fingerprints) -> None:
    found = likeness_of(plain, trained(lambda step, _: step == 12 and torch.rand(1)))
    assert found.kind is Kind.IDENTICAL, "nothing was looked at after the last step"
    found = likeness_of(plain, trained(lambda step, _: step == 11 and torch.rand(1)))
    assert found.kind is Kind.DIFFERENT
    assert found.first is not None
    assert str(found.first) == "random draws of torch at step 12"


def test_a_run_that_was_only_sampled_is_compared_where_both_were_looked_at(
    plain: Fingerprints,
) -> None:
    sparse = replace(plain, is_thorough=False, prints=plain.prints[3::4])
    assert likeness_of(sparse, plain).looked_at == 3
    found = likeness_of(sparse, replace(trained(nudged(0.5, at=5), lr=0.01), losses=plain.losses))
    assert found.first is not None
    assert (found.first.step, found.first.since) == (8, 4)
    assert " at step 8 or up to 3 before by " in str(found.first)


def test_other_parameters_are_a_difference_and_no_steps_are_nothing(plain: Fingerprints) -> None:
    smaller = replace(plain, sizes=plain.sizes[:-1], rows=plain.rows[:-1])
    found = likeness_of(plain, smaller)
    assert found.first is not None
    assert found.first.what == "parameters"
    nothing = Fingerprints(steps=0, is_thorough=True)
    assert likeness_of(plain, nothing).summary == (
        "not comparable because the second program reaches no optimizer step, no backward pass "
        "and observes nothing"
    )
    assert likeness_of(None, plain).kind is Kind.INCOMPARABLE


def test_not_a_number_is_never_within_tolerance(plain: Fingerprints) -> None:
    found = likeness_of(plain, trained(nudged(float("nan"), at=3)))
    assert found.kind is Kind.DIFFERENT
