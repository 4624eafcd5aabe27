from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import data_folder, located, read_lines


def test_the_variable_at_the_start_is_the_folder_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    assert located("$REGARD_DATA/multi30k/train.en") == tmp_path / "multi30k/train.en"


@pytest.mark.parametrize("value", [None, ""])
def test_unset_it_is_inside_the_cache(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", "/somewhere")
    if value is None:
        monkeypatch.delenv("REGARD_DATA", raising=False)
    else:
        monkeypatch.setenv("REGARD_DATA", value)
    assert data_folder() == Path("/somewhere/data")
    assert located("$REGARD_DATA/a") == Path("/somewhere/data/a")


@pytest.mark.parametrize(
    "name", ["a.tsv", "/x/a.tsv", "$HOME/a", "$REGARD_DATA", "$REGARD_DATASET/a", "x/$REGARD_DATA/a", "~/a"]
)
def test_no_other_name_is_changed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", "/data")
    assert located(name) == Path(name)


@pytest.mark.parametrize(
    ("name", "fetch"),
    [("multi30k/train.en", " `regard data multi30k` fetches it."), ("mine/train.en", ""), ("train.en", "")],
)
def test_a_missing_file_of_the_folder_says_what_to_set_and_what_fetches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fetch: str
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    with pytest.raises(UserError) as caught:
        list(read_lines(located(f"$REGARD_DATA/{name}")))
    assert str(caught.value) == (
        f"{tmp_path}/{name}: there is no such file. Set REGARD_DATA to the folder that holds {name}.{fetch}"
    )


def test_another_missing_file_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    with pytest.raises(UserError, match=r"there is no such file\. Check the path\.$"):
        list(read_lines(tmp_path / "train.en"))
