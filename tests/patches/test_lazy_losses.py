"""A lazy loss is read when somebody looks, and looks like the array it stands for."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from patches.lazy_losses import LazyLoss


def test_nothing_is_read_until_somebody_looks() -> None:
    loss = LazyLoss(torch.tensor(0.5))
    assert not loss.is_read
    assert float(loss) == 0.5
    assert loss.is_read


def test_it_behaves_like_a_scalar_array() -> None:
    array = np.array(0.25, dtype=np.float32)

    def lazy() -> LazyLoss:
        return LazyLoss(torch.tensor(0.25))

    assert np.asarray(lazy()).dtype == np.float32
    assert np.asarray(lazy()).shape == ()
    assert np.array([lazy(), lazy()]).tolist() == [0.25, 0.25]
    assert f"{lazy():.3f}" == f"{array:.3f}"
    assert str(lazy()) == str(array)
    assert repr(lazy()) == repr(array)
    assert lazy() == 0.25
    assert lazy() < 1
    assert lazy() + 1 == 1.25
    assert 2 * lazy() == 0.5
    assert -lazy() == -0.25
    assert bool(lazy())
    assert int(lazy()) == 0
    assert lazy().item() == 0.25
    assert lazy().dtype == np.float32
    assert np.sqrt(lazy()) == 0.5
    assert np.isfinite(lazy())


def test_it_behaves_like_a_vector() -> None:
    loss = LazyLoss(torch.tensor([1.0, 4.0]))
    assert len(loss) == 2
    assert loss[1] == 4.0
    assert list(loss) == [1.0, 4.0]
    assert np.power(loss, 0.5).tolist() == [1.0, 2.0]
    assert loss.mean() == 2.5


def test_it_travels_as_an_array() -> None:
    loss = LazyLoss(torch.tensor([1.0, 4.0]))
    assert isinstance(pickle.loads(pickle.dumps(loss)), np.ndarray)
    assert copy.deepcopy(LazyLoss(torch.tensor(1.0))) == 1.0


def test_arrays_cannot_be_hashed_and_neither_can_it() -> None:
    with pytest.raises(TypeError):
        hash(LazyLoss(torch.tensor(1.0)))
