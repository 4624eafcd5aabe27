import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from regard.core.errors import UserError
from regard.text import TOKENIZERS, Tokenizer
from regard.text.unigram import settled

LEARN = """
import random, sys
from regard.text import TOKENIZERS
chance = random.Random(7)
syllables = ["ka", "to", "mi", "ré", "sø", "漢", "ng", "st"]
words = ["".join(chance.choices(syllables, k=chance.randint(1, 5))) for _ in range(200)]
texts = [" ".join(chance.choices(words, k=12)) for _ in range(300)]
for name, learn in TOKENIZERS.items():
    sys.stdout.buffer.write(learn(texts, vocabulary=400).to_json().encode() + b"\\n")
assert "torch" not in sys.modules
"""


def test_the_same_texts_give_the_same_bytes_in_every_process() -> None:
    answers = [
        subprocess.run(
            [sys.executable, "-c", LEARN],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads},
        ).stdout
        for seed, threads in (("1", "1"), ("2", "4"), ("3", "2"))
    ]
    assert answers[0].count(b"\n") == len(TOKENIZERS)
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("texts", [[], [""], ["  ", "\t\n", "\u2028"]])
def test_nothing_to_learn_from_is_told_to_the_person(name: str, texts: list[str]) -> None:
    with pytest.raises(UserError, match=r"No vocabulary can be learned.*Check the training files"):
        TOKENIZERS[name](texts, vocabulary=300)


@pytest.mark.parametrize(
    ("name", "least"), [("characters", 5), ("words", 5), ("bpe", 260), ("unigram", 260), ("bytes", 260)]
)
def test_a_vocabulary_without_room_is_told_to_the_person(name: str, least: int) -> None:
    with pytest.raises(UserError, match=rf"{least - 1} is too small. Ask for {least} or more"):
        TOKENIZERS[name](["some text"], vocabulary=least - 1)
    assert len(TOKENIZERS[name](["some text"], vocabulary=least)) == least


@pytest.mark.parametrize("name", TOKENIZERS)
def test_an_unknown_normalization_names_the_nearest(name: str) -> None:
    with pytest.raises(UserError, match="Did you mean 'nfkc'"):
        TOKENIZERS[name](["a"], vocabulary=300, normalization="nfkcc")


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize(("normalization", "form"), [("nfc", "NFC"), ("nfkc", "NFKC")])
def test_spellings_of_a_character_are_made_the_same(name: str, normalization: str, form: str) -> None:
    text = "Cafe\u0301 ﬁn"
    tokenizer = TOKENIZERS[name]([text], vocabulary=300, normalization=normalization)
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize(form, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_an_error_while_reading_comes_through(name: str) -> None:
    def texts() -> Iterator[str]:
        yield "a"
        raise UserError("line 2 is broken")

    with pytest.raises(UserError, match="line 2 is broken"):
        TOKENIZERS[name](texts(), vocabulary=300)


def test_a_word_without_end_is_cut_before_it_is_learned_from() -> None:
    # Time to learn grows with the square of the longest word.
    tokenizer = TOKENIZERS["words"](["a " + "abc" * 2_000], vocabulary=300)
    assert max(len(piece) for piece in tokenizer.pieces(range(len(tokenizer)))) == 1_001  # with its space


def test_the_least_frequent_characters_fall_out() -> None:
    # a three times, b and c once: c is behind b in the alphabet.
    tokenizer = TOKENIZERS["characters"](["aab", "ac"], vocabulary=6)
    assert tokenizer.encode("abcz") == [4, 5, 1, 1]
    assert tokenizer.decode([4, 5, 1, 1]) == "ab"
    assert tokenizer.pieces([4, 1, 5]) == ("a", "<unk>", "b")


def test_characters_are_code_points_and_a_space_is_seen() -> None:
    tokenizer = TOKENIZERS["characters"](["e\u0301 \n😀"], vocabulary=20, normalization="none")
    assert tokenizer.pieces(tokenizer.encode("e\u0301 \n😀")) == ("e", "\u0301", "▁", "\n", "😀")


def test_words_carry_the_space_before_them() -> None:
    tokenizer = TOKENIZERS["words"](["the cat the dog"], vocabulary=5)
    assert tokenizer.pieces(tokenizer.encode("the cat, the")) == ("▁the", "<unk>", "<unk>", "▁the")
    assert tokenizer.decode(tokenizer.encode("the the cat")) == "the the"


def test_pairs_of_bytes_grow_into_the_word() -> None:
    # Two merges make one piece of the space and two letters, at the start of a text as in the middle.
    tokenizer = TOKENIZERS["bpe"](["ab ab ab"], vocabulary=262)
    assert tokenizer.pieces(tokenizer.encode("ab ab")) == ("▁ab", "▁ab")


@pytest.mark.parametrize("name", ["bpe", "unigram", "bytes"])
def test_parts_of_a_character_are_shown_as_bytes(name: str) -> None:
    tokenizer = TOKENIZERS[name](["aaa"], vocabulary=260)
    assert tokenizer.pieces(tokenizer.encode("é")) == ("▁", "<0xC3>", "<0xA9>")  # é is C3 A9 in UTF-8
    assert tokenizer.decode(tokenizer.encode("é")) == "é"


def test_bytes_are_never_joined_whatever_the_room() -> None:
    tokenizer = TOKENIZERS["bytes"](["ab ab ab"], vocabulary=8000)
    assert len(tokenizer) == 260
    assert tokenizer.pieces(tokenizer.encode("ab ü")) == ("▁", "a", "b", "▁", "<0xC3>", "<0xBC>")


def test_a_whole_character_is_shown_as_itself() -> None:
    tokenizer = TOKENIZERS["bpe"](["漢 漢 漢"], vocabulary=300)
    assert tokenizer.pieces(tokenizer.encode("漢")) == ("▁漢",)


def test_unigram_takes_the_more_likely_cut() -> None:
    tokenizer = TOKENIZERS["unigram"](["low low low lower lowest newest widest"] * 20, vocabulary=280)
    assert len(tokenizer.encode("low low")) == 2
    assert len(tokenizer) <= 280


def test_chance_leaves_no_mark_on_a_learned_vocabulary() -> None:
    alphabet = sorted(ByteLevel.alphabet())
    learned = [("ab", -2.00000000001), ("cd", -2.0), ("abc", -3.0)]

    def run(order: list[str]) -> list[tuple[str, float]]:
        return learned + [(byte, -9.0 + number * 1e-4) for number, byte in enumerate(order)]

    expected = [("ab", -2.0), ("cd", -2.0), *((byte, -9.0) for byte in alphabet)]
    assert settled(run(alphabet), 258) == expected  # room for two: the least likely falls out
    assert settled(run(alphabet[::-1]), 258) == expected


@pytest.mark.parametrize("name", TOKENIZERS)
def test_small_letters_are_part_of_the_tokenizers_file(name: str) -> None:
    text = "Ein CAFE\u0301 in Köln"
    tokenizer = TOKENIZERS[name]([text], vocabulary=300, lowercase=True)
    again = Tokenizer.from_json(tokenizer.to_json())
    for form in (text, text.lower(), text.upper()):
        assert again.decode(again.encode(form)) == "ein café in köln"
    plain = TOKENIZERS[name]([text], vocabulary=300)
    assert plain.decode(plain.encode(text)) == "Ein CAFÉ in Köln"
