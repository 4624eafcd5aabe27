from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import BadLineError, Pair, PairReader, rows_of
from regard.data.captions import CaptionFile, caption_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (tmp_path / "images" / name).touch()
    (tmp_path / "captions.tsv").write_text(
        "a.jpg\tA dog .\nb.jpg\tA cat .\na.jpg\tSome dog .\nc.jpg\tA cow\n"
    )
    (tmp_path / "train.txt").write_text("a.jpg\nc.jpg\n")
    (tmp_path / "val.txt").write_text("b.jpg\n")
    return tmp_path


def test_a_pair_is_the_path_of_an_image_and_a_caption(folder: Path) -> None:
    images = folder / "images"
    assert list(rows_of(caption_file(str(folder)))) == [
        Pair(f"{images}/a.jpg", "A dog ."),
        Pair(f"{images}/b.jpg", "A cat ."),
        Pair(f"{images}/a.jpg", "Some dog ."),
        Pair(f"{images}/c.jpg", "A cow"),
    ]


def test_a_list_says_which_images_are_read(folder: Path) -> None:
    train = caption_file(str(folder), "train")
    assert [pair.target for pair in PairReader([train])()] == ["A dog .", "Some dog .", "A cow"]
    assert train.paths == (folder / "captions.tsv", folder / "train.txt")
    assert [pair.target for pair in PairReader([caption_file(str(folder), "val")])()] == ["A cat ."]


def test_the_variable_of_data_stays_in_the_source(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(folder.parent))
    found = next(iter(rows_of(caption_file(f"$REGARD_DATA/{folder.name}"))))
    assert found == Pair(f"$REGARD_DATA/{folder.name}/images/a.jpg", "A dog .")


@pytest.mark.parametrize(
    ("line", "reason", "said"),
    [
        ("a.jpg A dog", "without a tab", "found no tab"),
        ("", "empty", "the line is empty"),
        ("a.jpg\tA\tdog", "with too many tabs", "found 2 tabs"),
        ("a.jpg\t ", "without a caption", "the caption of 'a.jpg' is empty"),
        ("\tA dog", "without an image", "no name of an image"),
        ("d.jpg\tA dog", "without its image", "there is no image 'd.jpg' in"),
        ("\tx", "without an image", "before the tab"),
        (".\tA dog", "without its image", "there is no image '.'"),
        ("a" * 400 + "\tA dog", "without its image", "there is no image"),
        ("a\0.jpg\tA dog", "with a NUL character", "NUL"),
    ],
)
def test_what_is_wrong_with_a_line_is_told_with_its_number(
    folder: Path, line: str, reason: str, said: str
) -> None:
    captions = folder / "captions.tsv"
    captions.write_text(f"a.jpg\tA dog .\n{line}\nb.jpg\tA cat .\n")
    file = CaptionFile(captions, str(folder / "images"))
    first, bad, last = rows_of(file)
    assert (first[1], last[1]) == ("A dog .", "A cat .")
    assert isinstance(bad, BadLineError)
    assert (bad.place, bad.reason) == (f"{captions}, line 2", reason)
    assert said in str(bad)
    with pytest.raises(UserError, match=r"line 2: .*skip such lines"):
        list(PairReader([file])())
    assert len(list(PairReader([file], skip=True)())) == 2


def test_images_that_are_not_wanted_need_not_be_there(folder: Path) -> None:
    (folder / "images" / "b.jpg").unlink()
    assert len(list(PairReader([caption_file(str(folder), "train")])())) == 3
    with pytest.raises(UserError, match=r"line 2: there is no image 'b.jpg'"):
        list(PairReader([caption_file(str(folder), "val")])())


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("a.jpg\n\nb.jpg\n", r"train.txt, line 2: expected the name of an image but the line is empty"),
        ("a.jpg\nb.jpg\na.jpg\n", r"train.txt, line 3: 'a.jpg' stands in line 1 already"),
        ("a.jpg\nbb.jpg\n", r"train.txt, line 2: .* no caption of 'bb.jpg'. Add some"),
        ("x.jpg\ny.jpg\nz.jpg\n", r"train.txt, line 1: .* no caption of 'x.jpg' and 2 more of the list"),
    ],
)
def test_what_is_wrong_with_a_list_is_told(folder: Path, names: str, said: str) -> None:
    (folder / "train.txt").write_text(names)
    with pytest.raises(UserError, match=said):
        list(rows_of(caption_file(str(folder), "train")))


def test_missing_files_and_folders_are_told(folder: Path) -> None:
    with pytest.raises(UserError, match=r"test.txt: there is no such list .* train.txt, val.txt"):
        caption_file(str(folder), "test")
    with pytest.raises(UserError, match="no such folder of images"):
        list(rows_of(CaptionFile(folder / "captions.tsv", str(folder / "pictures"))))
    (folder / "captions.tsv").unlink()
    with pytest.raises(UserError, match=r"captions.tsv: there is no such file"):
        list(rows_of(caption_file(str(folder))))
    with pytest.raises(UserError, match="no such"):
        list(rows_of(caption_file(str(folder / "nowhere"), "train")))


def test_an_image_that_comes_or_goes_is_noticed(folder: Path) -> None:
    before = caption_file(str(folder))
    assert caption_file(str(folder)) == before
    (folder / "images" / "b.jpg").unlink()
    without = caption_file(str(folder))
    assert repr(without) != repr(before)  # what a selection is kept under
    (folder / "images" / "b.jpg").touch()
    assert caption_file(str(folder)) == before
