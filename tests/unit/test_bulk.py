from pathlib import Path

import pytest
from untrained import sources, transformer_changes, write_model

import regard
from regard.bulk import Worker, _texts
from regard.core.errors import UserError

pandas = pytest.importorskip("pandas")


def test_a_row_without_a_source_is_asked_nothing() -> None:
    rows = pandas.DataFrame({"source": ["one", None, float("nan"), ""]})
    assert _texts(rows, "source") == ["one", "", "", ""]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"sources": ["one"]}, "no column 'source' to answer. Did you mean 'sources'"),
        ({"source": ["one", 2018]}, "holds 2018, but a source is a text"),
        ({"source": [0, 5]}, "holds 0, but a source is a text"),
    ],
)
def test_what_is_no_column_of_texts_is_told(rows: dict[str, list[object]], words: str) -> None:
    with pytest.raises(UserError, match=words):
        _texts(pandas.DataFrame(rows), "source")


@pytest.mark.parametrize("how", [{"compute_type": "int8"}, {"engine": "ctranslate2", "workers": 1}])
def test_a_worker_loads_its_model_as_it_is_told(tmp_path: Path, how: dict[str, object]) -> None:
    pytest.importorskip("ctranslate2")
    run, asked = write_model(tmp_path / "model", transformer_changes("both.width=64")), sources(5, longest=9)
    worker = Worker(run=run, device="cpu", column="text", to=None, how=how)
    answers = worker(pandas.DataFrame({"text": asked}), options={"beam": 2})
    expected = regard.load(run, **how).predict(asked, attention="none", beam=2)  # type: ignore[arg-type]
    assert list(answers["answer"]) == [one.text for one in expected]


def test_a_row_tells_how_much_of_its_source_was_not_read(tmp_path: Path) -> None:
    run = write_model(tmp_path / "model", transformer_changes())  # reads 40 pieces
    worker = Worker(run=run, device="cpu", column="text", to=None, how={})
    answers = worker(pandas.DataFrame({"text": ["abc", "a" * 45, None]}), options={})
    assert list(answers["unread"]) == [0, 5, 0]
