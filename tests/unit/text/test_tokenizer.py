import json
from pathlib import Path

import pytest
import tokenizers

from regard.core.errors import UserError
from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.core.surrogates import without_surrogates
from regard.text import TOKENIZERS, Tokenizer

TEXTS = ["the cat sat on the mat", "the dog ate the cat", "Ein Café in Köln", "<s> </s> <pad> <unk>"] * 3

HOSTILE = [
    "<s>",
    "</s>",
    "<pad>",
    " <s> ",
    "a</s>b",
    "<s></s><pad><unk>",
    "<unk>",
    "<",
    "\0",
    "Ġ",
    "▁the",
]

ODD = [
    "",
    " ",
    "   ",
    " a  b ",
    "\t",
    "\u2028",
    "a\u2028b\u0085c\fd\re",
    "▁",
    "Ġ",
    "😀👩‍👧",
    "\0",
    "\ufeff",
    "'s",
    "\r\n",
]


@pytest.fixture(params=TOKENIZERS, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tokenizer(name: str) -> Tokenizer:
    return TOKENIZERS[name](TEXTS, vocabulary=300)


def test_special_pieces_have_the_first_four_ids(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(range(4)) == SPECIAL_PIECES
    assert 4 < len(tokenizer) <= 300


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_special_piece_but_unknown(tokenizer: Tokenizer, text: str) -> None:
    assert all(number > 3 or number == UNKNOWN for number in tokenizer.encode(text))


@pytest.mark.parametrize("text", TEXTS[:4])
def test_a_training_text_comes_back_as_it_was(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert UNKNOWN not in ids


@pytest.mark.parametrize("kind", ["bpe", "unigram", "bytes"])
@pytest.mark.parametrize("text", ODD + HOSTILE)
def test_bytes_lose_nothing(kind: str, text: str) -> None:
    tokenizer = TOKENIZERS[kind](TEXTS, vocabulary=300, normalization="none")
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert min(ids, default=4) > 3


@pytest.mark.parametrize("text", ODD)
def test_a_text_of_known_pieces_keeps_its_white_space(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name](["x", text], vocabulary=300, normalization="none")
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_many_at_once_are_the_same_as_one_by_one(tokenizer: Tokenizer) -> None:
    texts = TEXTS + HOSTILE + ODD
    assert tokenizer.encode_many(texts) == [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_many([]) == []


def test_special_pieces_are_dropped_from_the_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the cat")
    assert tokenizer.decode([2, *ids, 3, 0, 0]) == "the cat"
    assert tokenizer.decode([]) == ""


def test_half_a_character_becomes_the_replacement_character(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("a\ud800 b") == tokenizer.encode("a\ufffd b")
    assert without_surrogates("\udfff😀é") == "\ufffd😀é"


def test_half_a_character_can_be_learned_from(name: str) -> None:
    tokenizer = TOKENIZERS[name](["a\ud800"], vocabulary=300)
    assert tokenizer.decode(tokenizer.encode("a\ufffd")) == "a\ufffd"


def test_the_saved_file_is_read_by_the_tokenizers_library(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    plain = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert plain.encode(TEXTS[0]).ids == tokenizer.encode(TEXTS[0]) == again.encode(TEXTS[0])
    assert plain.decode(plain.encode(TEXTS[0]).ids) == TEXTS[0]
    assert again.to_json() == tokenizer.to_json()


def test_a_missing_file_is_told_to_the_person(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing\.json: the tokenizer cannot be read"):
        Tokenizer.load(tmp_path / "nothing.json")
    with pytest.raises(UserError, match="cannot be read"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"version": "1.0"', b"\xff\xfe"])
def test_a_broken_file_is_told_to_the_person(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(UserError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path / "tokenizer.json")


def test_a_tokenizer_whose_special_pieces_can_be_typed_is_refused(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    plain = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    plain.add_special_tokens(["<s>"])
    plain.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(UserError, match="added tokens"):
        Tokenizer.load(tmp_path / "tokenizer.json")


def test_a_tokenizer_with_other_special_pieces_is_refused(tmp_path: Path) -> None:
    description = json.loads(TOKENIZERS["characters"](["abc"], vocabulary=9).to_json())
    description["model"]["vocab"] = {"<unk>": 0, "a": 1, "b": 2, "c": 3}
    (tmp_path / "tokenizer.json").write_text(json.dumps(description))
    with pytest.raises(UserError, match="its first pieces"):
        Tokenizer.load(tmp_path / "tokenizer.json")


def test_it_prints_what_it_is() -> None:
    assert repr(TOKENIZERS["characters"](["abc"], vocabulary=9)) == "Tokenizer(WordLevel, 7 pieces)"


WORDY = [
    ("  Grüße  aus Köln", ["Grüße", "aus", "Köln"]),
    ("Привет, мир", ["Привет,", "мир"]),
    ("日本語です。", ["日本語です。"]),
    ("👩‍👧 ok", ["👩‍👧", "ok"]),
    (" \t ", []),
]


@pytest.mark.parametrize(("text", "expected"), WORDY)
def test_every_piece_knows_its_word(tokenizer: Tokenizer, text: str, expected: list[str]) -> None:
    words = tokenizer.words(text)
    ids = tokenizer.encode(text)
    assert len(words.of) == len(ids)
    assert list(words.texts) == expected
    assert list(words.groups()) == list(range(len(expected)))
    for number, word in enumerate(expected):
        said = tokenizer.decode([ids[place] for place in words.groups()[number]]).strip()
        if UNKNOWN not in ids:
            assert said == word


def test_bytes_of_one_character_are_of_one_word() -> None:
    tokenizer = TOKENIZERS["bpe"](["x"], vocabulary=260)  # nothing but bytes
    assert tokenizer.words("ä 😀").of == ((0,), (0,), (0,), (), (1,), (1,), (1,), (1,))
    assert tokenizer.words_of(tokenizer.encode("ä 😀")).of == ((), (0,), (0,), (), (1,), (1,), (1,), (1,))


def test_an_unknown_piece_is_of_its_word_in_a_text_but_alone_in_an_answer() -> None:
    tokenizer = TOKENIZERS["words"](["the cat sat"], vocabulary=9)
    assert tokenizer.words("the dog sat").of == ((0,), (1,), (2,))
    answer = tokenizer.words_of(tokenizer.encode("the dog sat"))
    assert answer.texts == ("the", "sat")
    assert answer.of == ((0,), None, (1,))


def test_an_unknown_character_inside_a_word_is_part_of_it() -> None:
    tokenizer = TOKENIZERS["characters"](["abc d"], vocabulary=20)
    assert tokenizer.words_of(tokenizer.encode("?a?b ?d?")).of == (
        None,
        (0,),
        (0,),
        (0,),
        (),
        None,
        (1,),
        None,
    )


def test_half_a_character_at_the_end_of_an_answer_is_part_of_its_word() -> None:
    tokenizer = TOKENIZERS["bpe"](["x"], vocabulary=260)
    ids = tokenizer.encode("a ä")[:-1]
    assert tokenizer.decode(ids) == "a \ufffd"
    assert tokenizer.words_of(ids).texts == ("a", "\ufffd")
    assert tokenizer.words_of(ids).of[-1] == (1,)


def test_half_a_character_that_is_copied_is_replaced(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the")
    assert "a\ufffdb" in tokenizer.decode(ids, {0: "a\ud800b"})
