from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from regard.core.errors import UserError
from regard.data import Filters, Pair, ParallelFiles, Selection, TsvFile, Wanted, lines, sample, select
from regard.data.filtering import repeated
from regard.data.selected import SelectedPairs

GOOD = Pair("ein Hund", "a dog")
NONE = Filters()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


def written(path: Path, pairs: list[Pair]) -> TsvFile:
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs), encoding="utf-8")
    return TsvFile(path)


def wanted(file: TsvFile | ParallelFiles, filters: Filters = NONE, **wishes: object) -> Wanted:
    asked = Wanted([file], filters, skip=False, validation=0, test=0, seed=1, key="source")
    return replace(asked, **wishes)


def selected(path: Path, pairs: list[Pair], filters: Filters = NONE) -> Selection:
    return select(wanted(written(path / "x.tsv", pairs), filters))


@pytest.mark.parametrize(
    ("filters", "left_out", "stays", "reason"),
    [
        (Filters(empty=True), Pair(" \u2028", "a"), GOOD, "with an empty side"),
        (
            Filters(identical=True),
            Pair("a dog", " a dog "),
            Pair("a", "A"),
            "with the same text on both sides",
        ),
        (Filters(max_characters=8), Pair("a", "a" * 9), Pair("a", "a" * 8), "with too many characters"),
        # Two characters may become 2 · 3 + 10 = 16.
        (
            Filters(max_ratio=3),
            Pair("ab", "a" * 17),
            Pair("ab", "a" * 16),
            "with sides of too different lengths",
        ),
        (Filters(max_word=4), Pair("a", "b ccccc"), Pair("aaaa bbbb", "c"), "with an over-long word"),
        (
            Filters(source_scripts=("Latin",)),
            Pair("привет, ja", "a"),
            Pair("Straße я 12", "a"),
            "with a source in another script",
        ),
        (
            Filters(target_scripts=("Han", "Hiragana")),
            Pair("a", "hello 12"),
            Pair("a", "これは犬です ok"),
            "with a target in another script",
        ),
        (
            Filters(target_scripts=("Cyrillic",)),
            Pair("a", "犬"),
            Pair("a", "12.5 %"),
            "with a target in another script",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_pair_is_left_out_for_a_reason(
    tmp_path: Path, filters: Filters, left_out: Pair, stays: Pair, reason: str
) -> None:
    found = selected(tmp_path, [stays, left_out], filters)
    assert list(found.train()) == [stays]
    assert found.reports == [f"filters: 1 of 2 pairs (left out: 1 {reason})"]


def test_an_empty_side_has_a_ratio_too() -> None:
    filters = Filters(max_ratio=3)
    assert filters.objection(Pair("a" * 14, "")) == "with sides of too different lengths"
    assert filters.objection(Pair("", "a" * 13)) is None


def test_nothing_is_left_out_unless_asked(tmp_path: Path) -> None:
    odd = [Pair("", ""), Pair("a" * 5000, "b"), Pair("a", "a"), Pair("a", "a"), Pair("я", "犬")]
    found = selected(tmp_path, odd)
    assert list(found.train()) == odd
    assert list(found.train()) == odd, "it is read as often as asked"
    assert (found.reports, found.skipped) == ([], None)


def test_every_filter_is_off_by_default() -> None:
    assert not any(getattr(Filters(), one.name) for one in fields(Filters))


def test_a_pair_is_counted_once_and_only_the_first_of_its_like_stays(tmp_path: Path) -> None:
    pairs = [GOOD, Pair("", "a"), GOOD, Pair("x", "x"), Pair("x", "x"), Pair("ein Hun", "da dog"), GOOD, GOOD]
    found = selected(tmp_path, pairs, Filters(empty=True, identical=True, duplicates=True))
    assert list(found.train()) == [GOOD, Pair("ein Hun", "da dog")]
    assert found.reports == [
        "filters: 2 of 8 pairs (left out: 3 that came before, 2 with the same text on both sides, "
        "1 with an empty side)"
    ]


def test_the_same_texts_on_other_sides_did_not_come_before(tmp_path: Path) -> None:
    pairs = [Pair("a", "b"), Pair("b", "a"), Pair("a", "a"), Pair("b", "b"), Pair("a", "b")]
    assert list(selected(tmp_path, pairs, Filters(duplicates=True)).train()) == pairs[:4]


def test_nothing_left_is_told_with_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"0 of 1 pairs \(left out: 1 with the same text on both sides\)"):
        selected(tmp_path, [Pair("a", "a")], Filters(identical=True))


def test_numbers_that_came_before_are_found_like_a_set_finds_them() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**63, 300).tolist() * 2 + [2**64 - 1, 0, 2**64 - 1]
    np.random.default_rng(2).shuffle(numbers)
    seen: set[int] = set()
    expected = []
    for number in numbers:
        expected.append(number in seen)
        seen.add(number)
    assert repeated(np.array(numbers, dtype=np.uint64)).tolist() == expected
    assert repeated(np.array([], dtype=np.uint64)).tolist() == []


MANY = [Pair(f"source {number % 150}", f"target {number % 170}") for number in range(200)]
WISHES = {
    "filters": Filters(duplicates=True, identical=True),
    "skip": True,
    "validation": 11,
    "test": 7,
    "held": (Pair("source 5", "new"),),
}


def everything(found: Selection) -> list[object]:
    return [
        list(found.train()),
        found.validation,
        found.test,
        found.skipped,
        found.reports,
        found.train.name,
        found.train.chosen.tolist(),
    ]


def several(path: Path, form: str) -> TsvFile | ParallelFiles:
    if form == "tsv":
        file = written(path / "x.tsv", MANY)
        file.path.write_text("no tab\n" + file.path.read_text() + "\n")
        return file
    sources, targets = path / "x.a", path / "x.b"
    sources.write_text("".join(f"{pair.source}\n" for pair in MANY))
    targets.write_text("".join(f"{pair.target}\n" for pair in MANY))
    return ParallelFiles(sources, targets)


@pytest.mark.parametrize("form", ["tsv", "parallel"])
def test_the_number_of_cores_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(lines, "_BLOCK_LINES", 17)
    asked = wanted(several(tmp_path, form), **WISHES)
    found = []
    for cores in ("1", "2"):
        monkeypatch.setenv("REGARD_CORES", cores)
        monkeypatch.setenv("REGARD_CACHE", str(tmp_path / cores))
        found.append(everything(select(asked)))
    assert found[0] == found[1]
    assert len(found[0][0]) > 100  # type: ignore[arg-type]


def test_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = wanted(several(tmp_path, "tsv"), **WISHES)
    whole = everything(select(asked))
    monkeypatch.setattr(lines, "_BLOCK_BYTES", 40)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "other"))
    assert everything(select(asked)) == whole


def test_the_same_wishes_are_found_again_without_reading_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = several(tmp_path, "tsv")
    first = everything(select(wanted(file, **WISHES)))

    def unread(*_: object, **__: object) -> None:
        raise AssertionError("a line was read")

    with monkeypatch.context() as patch:
        patch.setattr("regard.data.pairs.line_blocks", unread)
        again = select(wanted(file, **WISHES))
        with pytest.raises(AssertionError, match="a line was read"):
            list(again.train())
    assert everything(again) == first


@pytest.mark.parametrize(
    "other",
    [
        {"validation": 12},
        {"test": 8},
        {"key": "target"},
        {"also": "target"},
        {"held": ()},
        {"filters": Filters()},
    ],
)
def test_other_wishes_are_another_selection(tmp_path: Path, other: dict[str, object]) -> None:
    file = several(tmp_path, "tsv")
    first = select(wanted(file, **WISHES))
    assert select(wanted(file, **{**WISHES, **other})).train.name != first.train.name


def test_other_bytes_in_a_file_are_another_selection(tmp_path: Path) -> None:
    file = written(tmp_path / "x.tsv", MANY)
    first = select(wanted(file))
    text = file.path.read_text()
    file.path.write_text(text.replace("source 1\t", "source X\t"))
    assert Pair("source X", "target 1") in list(select(wanted(file)).train())
    file.path.write_text(text)
    assert everything(select(wanted(file))) == everything(replace(first, train=select(wanted(file)).train))


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [damage, empty])
def test_a_damaged_selection_is_made_again(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    file = written(tmp_path / "x.tsv", MANY)
    first = everything(select(wanted(file, **WISHES)))
    (kept,) = (tmp_path / "cache" / "selections").iterdir()
    spoil(kept)
    assert everything(select(wanted(file, **WISHES))) == first


@pytest.mark.parametrize("more", ["neu\tnew\n", "neu\tnew\n" * 20_000])
def test_pairs_that_change_while_they_are_used_are_refused(tmp_path: Path, more: str) -> None:
    file = written(tmp_path / "x.tsv", MANY)
    found = select(wanted(file))
    with file.path.open("a") as stream:
        stream.write(more)
    with pytest.raises(UserError, match="changed while they were read"):
        list(found.train())


def test_a_text_that_changes_while_it_is_used_is_found_out_too(tmp_path: Path) -> None:
    file = written(tmp_path / "x.tsv", MANY)
    found = select(wanted(file))
    text = file.path.read_text()
    file.path.write_text(text.replace("source 1\t", "source 1000\t"))
    with pytest.raises(UserError, match="changed while they were read"):
        list(found.train())


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order(tmp_path: Path) -> None:
    train = select(wanted(written(tmp_path / "x.tsv", [Pair(f"{n}", "x") for n in range(100)]))).train
    some = [int(pair.source) for pair in train.sample(30, seed=1)()]
    assert len(set(some)) == 30
    assert some == sorted(some)
    assert some != [int(pair.source) for pair in train.sample(30, seed=2)()]
    assert train.sample(100, seed=1) is train
    assert train.sample(30, 1).name not in (train.name, train.sample(30, 2).name, train.sample(29, 1).name)


def test_a_sample_of_several_parts_has_its_share_of_each(tmp_path: Path) -> None:
    parts = [
        select(wanted(written(tmp_path / f"{size}.tsv", [Pair(f"{n}", "x") for n in range(size)]))).train
        for size in (300, 100)
    ]
    assert [len(list(part())) for part in sample(parts, 40, seed=1)] == [30, 10]
    assert sample(parts, 400, seed=1) == parts


def turned(pair: Pair) -> Pair:
    return Pair(pair.target, pair.source)


def test_pairs_are_left_out_by_what_they_have_become(tmp_path: Path) -> None:
    train = select(
        wanted(written(tmp_path / "x.tsv", [Pair("a", "b"), Pair("b", "c"), Pair("c", "a")]))
    ).train
    changed: SelectedPairs = train.changed(turned).without({"a", "b"})
    assert list(changed()) == [Pair("c", "b")]
    assert len(changed) == 1
    assert list(train.changed(turned).without({"a", "b"})()) == [Pair("c", "b")], "from the cache"
    assert list(train.without({"a", "b"})()) == [Pair("c", "a")]


ODDLY = [" {}", "{}\u00a0", "{}  ", "{}"]  # white space that no tokenizer tells from the plain text


@pytest.mark.parametrize("key", ["source", "target"])
def test_no_part_knows_a_text_of_another_in_odd_white_space_or_another_spelling(
    tmp_path: Path, key: str
) -> None:
    texts = [f"caf{e} {number}" for number in range(100) for e in ("é", "e\u0301")]
    pairs = [
        Pair(way.format(text), f"{place}") if key == "source" else Pair(f"{place}", way.format(text))
        for place, (text, way) in enumerate((text, way) for text in texts for way in ODDLY)
    ]
    found = select(wanted(written(tmp_path / "x.tsv", pairs), validation=80, test=80, key=key))

    def numbers(some: Iterable[Pair]) -> set[int]:
        return {int(getattr(pair, key).split()[1]) for pair in some}

    parts = [numbers(found.train()), numbers(found.validation), numbers(found.test)]
    assert [len(part) for part in parts] == [80, 10, 10]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert not parts[1] & parts[2]


def test_a_given_text_is_held_in_whatever_spelling(tmp_path: Path) -> None:
    file = written(tmp_path / "x.tsv", [Pair(" cafe\u0301 ", "a"), Pair("tea", "b")])
    held = select(wanted(file, held=[Pair("café", "c")]))
    assert [pair.source for pair in held.train()] == ["tea"]
    assert [pair.source for pair in select(wanted(file)).train.without(["café"])()] == ["tea"]


def test_the_same_in_other_white_space_came_before(tmp_path: Path) -> None:
    found = selected(tmp_path, [GOOD, Pair("ein  Hund ", "a dog")], Filters(duplicates=True))
    assert list(found.train()) == [GOOD]


def test_that_validation_or_test_has_every_pair_is_told(tmp_path: Path) -> None:
    file = written(tmp_path / "x.tsv", [GOOD])
    with pytest.raises(UserError, match="no pair is left for training, because validation or test has all"):
        select(wanted(file, held=[GOOD]))
