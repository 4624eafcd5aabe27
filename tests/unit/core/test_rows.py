"""Batches without their padding."""

import pytest
import torch

from regard.core import rows
from regard.core.rows import Rows, close, spread

MASK = torch.tensor([[True, True, False], [True, True, True], [False, False, False], [True, False, False]])
STANDING = 6


def known() -> Rows:
    found = Rows.of(MASK)
    assert found is not None
    return found


def test_what_stands_is_closed_up_row_by_row_and_comes_back_to_its_places() -> None:
    vectors = torch.arange(24.0).view(4, 3, 2)
    closed = close(vectors, known())
    assert torch.equal(closed, vectors[MASK])
    again = spread(closed, known())
    assert again.shape == vectors.shape
    assert torch.equal(again[MASK], vectors[MASK])


def test_the_gradients_of_what_stands_are_those_of_plain_picking_and_padding_has_none() -> None:
    torch.manual_seed(1)
    vectors = torch.randn(4, 3, 2, dtype=torch.double, requires_grad=True)
    closed = torch.randn(STANDING, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda some: close(some, known()), (vectors,))
    assert torch.autograd.gradcheck(lambda some: spread(some, known())[MASK], (closed,))
    close(vectors, known()).sum().backward()
    assert vectors.grad is not None
    assert torch.equal(vectors.grad, MASK[..., None].expand(4, 3, 2).double())


def test_what_padding_is_given_by_somebody_behind_does_not_come_back() -> None:
    closed = torch.randn(STANDING, 2, requires_grad=True)
    (found,) = torch.autograd.grad(spread(closed, known()).sum(), closed)
    assert torch.equal(found, torch.ones(STANDING, 2))


def test_little_padding_stays_and_so_does_all_outside_training(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Rows.of(torch.ones(2, 5, dtype=torch.bool)) is None
    vectors = torch.randn(4, 3, 2)
    assert close(vectors, None) is vectors
    assert spread(vectors, None) is vectors
    monkeypatch.setattr(rows, "WORTH", 0.4)
    assert Rows.of(MASK) is None  # half of it stands
    monkeypatch.undo()
    with torch.no_grad():
        assert Rows.of(MASK) is None
