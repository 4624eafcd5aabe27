import pytest

from regard.bulk import _texts
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
    ],
)
def test_what_is_no_column_of_texts_is_told(rows: dict[str, list[object]], words: str) -> None:
    with pytest.raises(UserError, match=words):
        _texts(pandas.DataFrame(rows), "source")
