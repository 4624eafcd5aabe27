"""What SentencePiece's own program says is what is expected."""

import io
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sentencepiece

from regard.core.errors import UserError
from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.text import Tokenizer
from regard.text.sentencepiece import read

TEXTS = [
    "the cat sat on the mat",
    "the dog ate the cat, the bandana and the banana",
    "Ein Café in Köln kostet 12,50 €",
    "Über den Bäumen ist es ruhig geworden.",
    "日本語のテキストを読みます",
    "Это простой текст на русском языке",
    "haaaa haaaaaa ... ...... ---- ====",
    "a > b < c / d > e <",
] * 10
HARD = [
    "",
    "   ",
    " the  cat ",
    "the cat\tsat",
    "▁the ▁cat",
    "ﬁne ① Ⅳ ｆｕｌｌ",
    "Cafe\u0301 in Ko\u0308ln, e\u0323\u0302n",
    "zzz ☃☃ the😀cat 漢字",
    "<s> </s> <unk> <0x41> the<s>cat",
    "haaaaaaaaaaa .......",
]


@cache
def trained(kind: str, **options: Any) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS),
        model_writer=model,
        model_type=kind,
        vocab_size=420 if options.get("byte_fallback") else 160,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return model.getvalue()


def both(folder: Path, kind: str, **options: Any) -> tuple[Tokenizer, Any]:
    (folder / "my.model").write_bytes(trained(kind, **options))
    return read(folder / "my.model"), sentencepiece.SentencePieceProcessor(
        model_proto=trained(kind, **options)
    )


def mixed(count: int) -> list[str]:
    """Texts of parts of the training texts, in any order."""
    chance = Random(1)
    letters = "".join(TEXTS[:8])
    return [
        "".join(letters[(at := chance.randrange(len(letters))) : at + chance.randint(1, 9)] for _ in range(9))
        for _ in range(count)
    ]


def tied(processor: Any, *cuts: list[str]) -> bool:
    """The cuts are equally likely, and which is taken hangs on how sums are rounded."""
    one, other = (sum(processor.get_score(processor.piece_to_id(piece)) for piece in cut) for cut in cuts)
    return abs(one - other) < 1e-4


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"byte_fallback": True},
        {"add_dummy_prefix": False},
        {"normalization_rule_name": "identity"},
        {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "split_by_whitespace": False},
        {"pad_id": 3, "unk_id": 0, "bos_id": 1, "eos_id": 2, "control_symbols": "<mask>"},
    ],
    ids=lambda options: next(iter(options), "plain"),
)
def test_it_cuts_and_joins_as_sentencepiece_does(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    ours, theirs = both(tmp_path, kind, **options)
    assert ours.pieces(range(len(SPECIAL_PIECES))) == SPECIAL_PIECES
    for text in [*TEXTS[:8], *HARD, *mixed(300)]:
        ids, expected = ours.encode(text), theirs.encode(text)
        names = [theirs.id_to_piece(number) for number in expected]
        found = list(ours.pieces(ids))
        assert found == names or (kind == "unigram" and tied(theirs, found, names)), text
        if UNKNOWN not in ids:
            assert ours.decode(ids) == theirs.decode(expected), text


def test_pieces_know_their_words_and_copied_words_their_space(tmp_path: Path) -> None:
    ours, _ = both(tmp_path, "bpe", byte_fallback=True)
    text = "the 😀 cat sat"
    ids = ours.encode(text)
    assert ours.pieces(ids)[:6] == ("▁the", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>")
    for words in (ours.words(text), ours.words_of(ids)):
        assert words.texts == ("the", "😀", "cat", "sat")
        assert words.of[0] == (0,)
        assert set(words.of[2:6]) == {(1,)}
        assert words.of[-1] == (3,)
    the, cat = ours.encode("the cat")
    assert ours.decode([the, UNKNOWN, cat], {1: ours.spaced("Tom")}) == "the Tom cat"


def test_it_is_kept_like_every_tokenizer(tmp_path: Path) -> None:
    ours, _ = both(tmp_path, "unigram")
    ours.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.to_json() == ours.to_json()
    assert again.decode(again.encode("the cat sat")) == "the cat sat"


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("char", {}, "Only bpe and unigram"),
        ("word", {}, "Only bpe and unigram"),
        ("bpe", {"user_defined_symbols": "<sep>"}, "user-defined"),
        ("bpe", {"treat_whitespace_as_suffix": True}, "begin with a space"),
        ("unigram", {"denormalization_rule_tsv": "rules"}, "denormalization"),
        ("bpe", {"unk_piece": "<what>", "bos_piece": "<begin>", "eos_piece": "<end>"}, None),
    ],
)
def test_what_cannot_be_converted_exactly_is_refused(
    tmp_path: Path, kind: str, options: dict[str, Any], words: str | None
) -> None:
    if "denormalization_rule_tsv" in options:
        (tmp_path / "rules").write_text("41\t42\n")
        options = {"denormalization_rule_tsv": str(tmp_path / "rules")}
    if words is None:
        assert both(tmp_path, kind, **options)[0].pieces([0, 1, 2, 3]) == SPECIAL_PIECES
        return
    with pytest.raises(UserError, match=rf"my\.model: this SentencePiece model cannot be used: .*{words}"):
        both(tmp_path, kind, **options)


@pytest.mark.parametrize("data", [b"", b"no model", b"\n\xff", bytes(100)])
def test_another_file_is_told_to_the_person(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "my.model").write_bytes(data)
    with pytest.raises(UserError, match=r"my\.model: this is not a SentencePiece model"):
        read(tmp_path / "my.model")


def test_a_model_cut_short_is_told_to_the_person(tmp_path: Path) -> None:
    (tmp_path / "my.model").write_bytes(trained("bpe")[:500])
    with pytest.raises(UserError, match=r"my\.model"):
        read(tmp_path / "my.model")
    with pytest.raises(UserError, match=r"none\.model: .* cannot be read"):
        read(tmp_path / "none.model")
