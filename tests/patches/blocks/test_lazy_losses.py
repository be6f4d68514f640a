"""A lazy loss is read when somebody looks, and looks like the array it stands for."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from patches.blocks.lazy_losses import LazyLoss


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


def test_it_can_be_changed_like_an_array() -> None:
    loss = LazyLoss(torch.tensor([1.0, 4.0]))
    same = loss
    loss += 1
    assert loss is same
    assert np.add(loss, 1, out=loss) is same
    assert loss.tolist() == [3.0, 6.0]
    loss[0] = 9.0
    loss[1:] = LazyLoss(torch.tensor([2.0]))
    assert loss.tolist() == [9.0, 2.0]
    target = np.zeros(2, dtype=np.float32)
    np.add(loss, loss, out=target)
    assert target.tolist() == [18.0, 4.0]


def test_it_passes_for_an_array() -> None:
    loss = LazyLoss(torch.tensor([1.0, 4.0]))
    assert isinstance(loss, np.ndarray)
    assert np.concatenate([loss, loss]).tolist() == [1.0, 4.0, 1.0, 4.0]
    assert np.mean(loss) == 2.5
    assert type(np.mean(loss)) is np.float32
    assert 4.0 in loss
    assert type(copy.copy(loss)) is np.ndarray
    assert type(copy.deepcopy(loss)) is np.ndarray
    assert type(loss + 0) is np.ndarray
    assert np.asarray(loss) is loss.read() or np.shares_memory(np.asarray(loss), loss.read())


def reshaped(loss: Any) -> Any:
    loss.shape = (1, *loss.shape)
    return loss


def raised_in_place(loss: Any) -> Any:
    loss **= 2
    loss -= 0.5
    return loss


def copied_into(loss: Any) -> Any:
    np.copyto(loss, 3)
    np.add.at(loss, (), 1)
    return loss


def saved(loss: Any) -> Any:
    file = io.BytesIO()
    np.save(file, loss)
    return file.getvalue()


USES: dict[str, Callable[[Any], Any]] = {
    "torch.tensor": torch.tensor,
    "torch.as_tensor": torch.as_tensor,
    "torch.asarray": torch.asarray,
    "torch.from_dlpack": torch.from_dlpack,
    "numpy.from_dlpack": np.from_dlpack,
    "bytes": bytes,
    "a shape that is set": reshaped,
    "in place": raised_in_place,
    "copied into": copied_into,
    "filled": lambda loss: (loss.fill(2), loss)[1],
    "saved": saved,
    "sum": lambda loss: sum([loss, loss]),
    "largest": lambda loss: max(loss.min(), 0.1),
    "stacked": lambda loss: np.stack([loss, loss]),
    "where": lambda loss: np.where(loss > 0, loss, 0),
    "clipped": lambda loss: np.clip(loss, 0, 0.1),
    "broadcast": lambda loss: np.broadcast_to(loss, (3, *loss.shape)),
    "outer": lambda loss: np.multiply.outer(loss, loss),
    "as float64": lambda loss: np.asarray(loss, dtype=np.float64),
    "at least one": np.atleast_1d,
    "divmod": lambda loss: divmod(loss, 0.1),
    "power": lambda loss: 2**loss,
    "percent": lambda loss: "%s" % loss,  # noqa: UP031  # programs write it
    "copied": lambda loss: copy.deepcopy({"loss": [loss]}),
    "oldest pickle": lambda loss: pickle.loads(pickle.dumps(loss, 0)),
    "an attribute of one's own": lambda loss: setattr(loss, "name", 1),
    "a shape that is deleted": lambda loss: delattr(loss, "shape"),
}


def outcome(use: Callable[[Any], Any], loss: Any) -> tuple[str, str]:
    """What comes of using a loss, and what the loss is afterwards."""
    try:
        found = use(loss)
        result = f"{type(found).__name__}: {found!r}".replace("LazyLoss:", "ndarray:")
    except (TypeError, AttributeError, ValueError) as error:
        result = f"{type(error).__name__}: {error}"
    return result, repr(np.asarray(loss))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("values", [0.25, [1.0, 4.0]], ids=["number", "vector"])
def test_it_can_be_used_like_an_array(values: Any, use: str) -> None:
    tensor = torch.tensor(values)
    expected = outcome(USES[use], tensor.clone().numpy())
    assert outcome(USES[use], LazyLoss(tensor)) == expected


def test_what_wants_its_memory_is_refused_and_not_given_something_else() -> None:
    loss = LazyLoss(torch.tensor([1.0, 4.0]))
    with pytest.raises(TypeError):
        memoryview(loss)
    with pytest.raises(TypeError):
        torch.from_numpy(loss)
    with pytest.raises(TypeError):
        np.ndarray.mean(loss)
    assert torch.from_numpy(np.asarray(loss)).tolist() == [1.0, 4.0]
