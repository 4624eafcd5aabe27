import logging
from pathlib import Path

import pytest

from regard import build
from regard.config import Config, parse_config
from regard.core.errors import UserError
from regard.core.pieces import END
from regard.data import Limits, Pair, open_store
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS, Borrowing
from regard.viewing import TextView

WORDS = TOKENIZERS["words"](["a b c d e f g h"], vocabulary=12)


def config(**sections: object) -> Config:
    return parse_config(
        {"task": {"name": "summarise"}, "data": {"train": "pairs.tsv"}, **sections}, origin="test"
    )


def test_what_is_usual_for_summaries_holds_unless_a_file_says_otherwise() -> None:
    found = config()
    assert found.search.no_repeat == 3
    assert found.data.long_source == "first"
    assert found.evaluation.metrics == ["rouge_1", "rouge_2", "rouge_l"]
    assert config(search={"no_repeat": 0}).search.no_repeat == 0
    assert build.search_plan(found).no_repeat == 3
    assert Config().search.no_repeat == 0


def test_pairs_are_needed() -> None:
    with pytest.raises(UserError, match=r"data\.train is missing: the task summarise"):
        parse_config({"task": {"name": "summarise"}}, origin="test")


def test_a_pointer_needs_the_same_pieces_on_both_sides() -> None:
    with pytest.raises(UserError, match=r"Set text\.shared to true"):
        config(model={"attention": {"pointer": True}})


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"attention": {"history": True}, "preset": "transformer_tiny"}, "looks with all steps at once"),
        ({"attention": {"history": True, "score": "position"}}, "sees no memory"),
        ({"attention": {"pointer": True, "score": "none"}}, "no look to copy by"),
        ({"attention": {"pointer": True, "pointer_head": 1}}, "there are 1 heads"),
    ],
)
def test_what_cannot_point_or_remember_is_refused(model: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        config(model=model, text={"shared": True})


@pytest.mark.parametrize(("read", "kept"), [("first", "a b c"), ("last", "f g h"), ("ends", "a b h")])
def test_of_a_long_source_a_window_is_read_and_counted(tmp_path: Path, read: str, kept: str) -> None:
    pairs = [Pair("a b c d e f g h", "c"), Pair("a b", "c")]
    store = open_store(tmp_path, lambda: pairs, WORDS, WORDS, Limits(3, 5, read))
    assert store.sources[0].tolist() == [*WORDS.encode(kept), END]
    assert str(store.report) == "2 pairs; 1 have a long source, of which a part is read"


def test_without_a_window_long_pairs_are_left_out(tmp_path: Path) -> None:
    pairs = [Pair("a b c d e f g h", "c"), Pair("a b", "c")]
    store = open_store(tmp_path, lambda: pairs, WORDS, WORDS, Limits(3, 5))
    assert str(store.report) == "1 of 2 pairs (left out: 1 with a source too long)"


def test_stores_with_borrowed_words_or_windows_are_others(tmp_path: Path) -> None:
    pairs, limits = [Pair("a Zorblax", "Zorblax a")], Limits(3, 5)
    borrowing = Borrowing(WORDS, len(WORDS), limits.window)
    stores = [
        open_store(tmp_path, lambda: pairs, WORDS, WORDS, limits),
        open_store(tmp_path, lambda: pairs, WORDS, WORDS, Limits(3, 5, "first")),
        open_store(tmp_path, lambda: pairs, WORDS, WORDS, limits, borrowing=borrowing),
    ]
    assert len({store.fingerprint for store in stores}) == 3
    (a,) = WORDS.encode("a")
    assert stores[2].sources[0].tolist() == [a, len(WORDS), END]
    assert stores[2].targets[0].tolist() == [len(WORDS), a, END]


def test_long_sources_are_told(caplog: pytest.LogCaptureFixture) -> None:
    codec = TextCodec(WORDS, WORDS, Limits(3, 5, "ends"), TextView())
    with caplog.at_level(logging.WARNING):
        rows = codec.encode(["a b c d", "a", "b c d e f"])
    assert rows[2] == [*WORDS.encode("b c f"), END]
    assert [record.getMessage() for record in caplog.records] == [
        "A source of 4 pieces was cut to 3 (data.max_source): a b c d...",
        "A source of 5 pieces was cut to 3 (data.max_source): b c d e f...",
    ]
