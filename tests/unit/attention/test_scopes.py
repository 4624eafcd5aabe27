import pytest
import torch
from small import attention

from regard.attention import SCOPES, Attention
from regard.attention.scopes import LocalPredicted

LENGTHS = torch.tensor([9, 4])
MASK = torch.arange(9) < LENGTHS[:, None]  # 2 9


def test_local_monotonic_looks_only_in_its_window_and_stays_inside_the_source() -> None:
    steps = torch.arange(12)[None]
    allowed = SCOPES["local_monotonic"](radius=2)(steps, torch.zeros(2, 12, 3), MASK).mask[:, 0]  # 2 12 9
    for row, length in enumerate(LENGTHS.tolist()):
        for step in range(12):
            centre = min(step, length - 1)
            expected = [s for s in range(length) if abs(s - centre) <= 2]
            assert allowed[row, step].nonzero()[:, 0].tolist() == expected


def test_local_predicted_with_a_huge_window_and_a_flat_gaussian_is_global() -> None:
    torch.manual_seed(0)
    everywhere = attention("general", "global", width=8)
    query, memory, steps = torch.randn(2, 5, 8), torch.randn(2, 9, 8), torch.arange(5)[None]
    expected = everywhere(query, everywhere.prepare(memory, MASK), steps).weights
    for spread in (float("inf"), 1e6):
        scope = LocalPredicted(8, radius=1000, spread=spread)
        local = Attention(everywhere.score, scope, everywhere.selection, width=8)
        torch.testing.assert_close(local(query, local.prepare(memory, MASK), steps).weights, expected)


def test_local_predicted_follows_the_papers_formula() -> None:
    torch.manual_seed(0)
    scope = LocalPredicted(8, radius=2)
    query = torch.randn(2, 5, 8)
    allowed = scope(torch.arange(5)[None], query, MASK)
    assert allowed.prior is not None
    for row, length in enumerate(LENGTHS.tolist()):
        for step in range(5):
            inner = torch.tanh(scope.hidden.weight @ query[row, step])
            centre = float((length - 1) * torch.sigmoid(scope.predict.weight[0] @ inner).detach())
            for s in range(length):
                gaussian = -((s - centre) ** 2) / (2 * 1.0**2)  # spread = radius / 2
                assert float(allowed.prior[row, 0, step, s].detach()) == pytest.approx(gaussian, abs=1e-4)
                assert bool(allowed.mask[row, 0, step, s]) == (abs(s - round(centre)) <= 2)
            assert not allowed.mask[row, 0, step, length:].any()
