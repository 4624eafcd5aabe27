from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from regard.core.weights import borrowed, load_weights, weights_of


class Tied(nn.Module):
    """Reads and writes with one table, and has a second one of the same size."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.other = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5)
        self.head.weight = self.table.weight
        self.register_buffer("empty", torch.empty(0))
        self.register_buffer("nothing", torch.empty(0))
        self.register_buffer("count", torch.tensor(7))


NAMES = ["empty", "nothing", "count", "table.weight", "other.weight", "head.bias"]


def test_a_tied_tensor_stands_under_its_first_name_and_all_others_under_theirs() -> None:
    module = Tied()
    assert list(weights_of(module)) == NAMES
    assert set(module.state_dict()) == {*NAMES, "head.weight"}


def test_equal_numbers_alone_do_not_tie() -> None:
    module = Tied()
    with torch.no_grad():
        module.other.weight.copy_(module.table.weight)
    assert "other.weight" in weights_of(module)


def test_a_view_of_another_form_is_not_taken_for_the_same_tensor() -> None:
    module = nn.Module()
    module.table = nn.Parameter(torch.arange(9.0).view(3, 3))
    module.turned = nn.Parameter(module.table.detach().t())
    assert list(weights_of(module)) == ["table", "turned"]


@pytest.mark.parametrize("name", ["table.weight", "head.weight"])
def test_one_of_the_names_of_a_tied_tensor_is_enough_and_it_stays_tied(name: str, tmp_path: Path) -> None:
    written, read = Tied(), Tied()
    weights = weights_of(written)
    weights[name] = weights.pop("table.weight")
    save_file(weights, tmp_path / "weights.safetensors")
    load_weights(read, load_file(tmp_path / "weights.safetensors"))
    for key, value in written.state_dict().items():
        assert torch.equal(read.state_dict()[key], value), key
    assert read.head.weight is read.table.weight


def test_a_name_that_no_other_stands_for_is_missed() -> None:
    weights = weights_of(Tied())
    for name in NAMES:
        fewer = {key: value for key, value in weights.items() if key != name}
        with pytest.raises(RuntimeError, match=rf"Missing key.*{name}"):
            load_weights(Tied(), fewer)


def test_a_name_or_a_shape_that_the_module_does_not_have_is_refused() -> None:
    weights = weights_of(Tied())
    with pytest.raises(RuntimeError, match=r"Unexpected key.*more"):
        load_weights(Tied(), {**weights, "more": torch.zeros(1)})
    with pytest.raises(RuntimeError, match="size mismatch"):
        load_weights(Tied(), {**weights, "head.bias": torch.zeros(1)})


def test_weights_of_an_untied_model_are_not_squeezed_into_a_tied_one() -> None:
    untied = Tied()
    untied.head.weight = nn.Parameter(torch.zeros(5, 3))
    with pytest.raises(RuntimeError, match=r"table.weight and head.weight are one tensor"):
        load_weights(Tied(), untied.state_dict())
    load_weights(Tied(), Tied().state_dict() | {"empty": torch.empty(0)})  # all names, and they agree


def test_borrowed_weights_go_back_even_when_something_fails() -> None:
    module = Tied()
    with torch.no_grad():
        module.table.weight[0, 0] = float("nan")
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}

    def use() -> None:
        with borrowed(module, weights_of(Tied())):
            assert not torch.equal(module.other.weight, before["other.weight"])
            assert module.head.weight is module.table.weight
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        use()
    for name, tensor in module.state_dict().items():
        assert torch.equal(tensor.nan_to_num(9), before[name].nan_to_num(9)), name
