"""Caches grow without disturbing those who hold a shorter one."""

import torch

from regard.attention import Cache


def vectors(steps: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    keys, values = torch.randn(2, 3, 2, steps, 4, generator=generator).unbind(0)
    return keys, values, torch.ones(3, steps, dtype=torch.bool)


def test_appending_equals_concatenating_and_copies_nothing() -> None:
    pieces = [vectors(1, seed) for seed in range(70)]
    cache, places = Cache.of(*pieces[0]), set()
    for keys, values, mask in pieces[1:]:
        cache = cache.append(keys, values, mask)
        places.add(cache.keys.data_ptr())
    torch.testing.assert_close(cache.keys, torch.cat([keys for keys, _, _ in pieces], dim=2))
    torch.testing.assert_close(cache.values, torch.cat([values for _, values, _ in pieces], dim=2))
    assert cache.mask.shape == (3, 70)
    assert len(places) == 3  # the buffer moved only when it was full


def test_two_who_go_on_from_one_cache_do_not_disturb_each_other() -> None:
    trunk = Cache.of(*vectors(1, 0)).append(*vectors(1, 1))
    before = trunk.keys.clone()
    one, other = trunk.append(*vectors(1, 2)), trunk.append(*vectors(1, 3))
    torch.testing.assert_close(one.keys[:, :, 2:], vectors(1, 2)[0])
    torch.testing.assert_close(other.keys[:, :, 2:], vectors(1, 3)[0])
    torch.testing.assert_close(trunk.keys, before)


def test_selected_rows_go_on_by_themselves() -> None:
    trunk = Cache.of(*vectors(1, 0)).append(*vectors(1, 1))
    rows = torch.tensor([2, 0, 2])
    chosen = trunk.select(rows)
    torch.testing.assert_close(chosen.keys, trunk.keys[rows])
    longer = chosen.append(*vectors(1, 4))
    torch.testing.assert_close(longer.keys[:, :, :2], trunk.keys[rows])
    torch.testing.assert_close(trunk.append(*vectors(1, 5)).keys[:, :, 2:], vectors(1, 5)[0])


def test_gradients_pass_through_what_was_cached() -> None:
    keys, values, mask = vectors(1, 0)
    first = keys.clone().requires_grad_()
    cache = Cache.of(first, values, mask).append(*vectors(1, 1)).append(2 * first, values, mask)
    cache.keys.square().sum().backward()
    torch.testing.assert_close(first.grad, 2 * first.detach() + 8 * first.detach())
