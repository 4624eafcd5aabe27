import pytest
import torch

from regard.search.tops import tops


@pytest.mark.parametrize("width", [5, 128, 1000, 4096, 10_001])
@pytest.mark.parametrize("count", [1, 4])
def test_they_are_what_a_sort_finds(width: int, count: int) -> None:
    values = torch.randn(7, width, generator=torch.Generator().manual_seed(width))
    found = tops(values, count)
    ordered = values.sort(dim=1, descending=True)
    assert torch.equal(found.values, ordered.values[:, :count])
    assert torch.equal(found.places, ordered.indices[:, :count])


def test_where_only_few_are_allowed_places_still_stand_in_the_row() -> None:
    values = torch.full((2, 10_001), -torch.inf)
    values[0, 10_000] = -1.0
    values[1, 77] = -2.0
    found = tops(values, 10)
    assert found.values[:, 0].tolist() == [-1.0, -2.0]
    assert found.places[:, 0].tolist() == [10_000, 77]
    assert int(found.places.max()) <= 10_000


def test_equal_numbers_are_taken_once_each() -> None:
    found = tops(torch.zeros(1, 5000), 10)
    assert len(set(found.places[0].tolist())) == 10


def test_what_is_no_number_is_not_hidden() -> None:
    values = torch.zeros(1, 5000)
    values[0, 3210] = torch.nan
    assert tops(values, 3).values.isnan().any()
