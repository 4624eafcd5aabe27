import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord, Prediction
from regard.core.words import Words
from regard.records import HEADER, LONGEST_HEADER, load_records, save_records
from regard.viewing import save

SUFFIXES = [".safetensors", ".json", ".jsonl"]


def looks(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet([0.3] * shape[-1], shape[:-1]).astype(np.float32)


def german() -> Prediction:
    source = ("▁K<0xC3>", "<0xB6>ln", "▁😀", "</s>")
    target = ("▁Cologne", "\u2028", "</s>")
    weights = {
        "encoder": looks(2, 2, 4, 4),
        "cross": looks(2, 2, 3, 4, seed=2),
        "decoder": looks(2, 2, 3, 3, seed=3),
    }
    record = AttentionRecord(
        source,
        target,
        weights,
        Words(("Köln", "😀"), ((0,), (0,), (1,), None)),
        Words(("Cologne",), ((0,), (), None)),
    )
    return Prediction("Köln 😀", "Cologne\u2028", target[:-1], -1.25, record)


def cut_off() -> Prediction:
    record = AttentionRecord(("a", "</s>"), ("b", "c"), {"cross": looks(1, 1, 2, 2)})
    return Prediction("a", "bc", ("b", "c"), -3.0, record, finished=False)


def nothing() -> Prediction:
    record = AttentionRecord(
        (), (), {"cross": np.zeros((1, 1, 0, 0), np.float32)}, Words((), ()), Words((), ())
    )
    return Prediction("", "", (), 0.0, record)


def without_attention() -> Prediction:
    return Prediction("a", "b", ("b",), -0.5, AttentionRecord(("a", "</s>"), ("b", "</s>"), {}))


ALL = [german, cut_off, nothing, without_attention]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_was_saved_comes_back_in_its_order(suffix: str, tmp_path: Path) -> None:
    saved = [make() for make in ALL]
    again = load_records(save_records(saved, tmp_path / f"new/looks{suffix}"))
    assert len(again) == len(saved)
    for one, other in zip(saved, again, strict=True):
        for name in ("source", "text", "pieces", "score", "finished"):
            assert getattr(other, name) == getattr(one, name)
        for name in ("source_pieces", "target_pieces", "source_words", "target_words"):
            assert getattr(other.attention, name) == getattr(one.attention, name)
        assert set(other.attention.kinds) == set(one.attention.kinds)
        for kind, weights in one.attention.weights.items():
            assert other.attention.weights[kind].dtype == np.float32
            np.testing.assert_allclose(other.attention.weights[kind], weights, atol=5e-4)
    assert again[0].attention.in_words().source_pieces == ("Köln", "😀", "</s>")
    assert again[0].plot().axes


def test_the_tensors_take_two_bytes_for_each_weight(tmp_path: Path) -> None:
    path = save_records([german()], tmp_path / "looks.safetensors")
    with safe_open(path, framework="numpy") as file:
        assert {file.get_tensor(name).dtype for name in file.keys()} == {np.dtype(np.float16)}  # noqa: SIM118
        assert set(file.metadata()) == {HEADER}
    large = replace(german(), attention=replace(german().attention, weights={"cross": looks(40, 50, 3, 4)}))
    assert save_records([large], path).stat().st_size < 2 * 40 * 50 * 3 * 4 + 2_000


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_predictions_are_no_trouble(suffix: str, tmp_path: Path) -> None:
    assert load_records(save_records([], tmp_path / f"none{suffix}")) == []


def test_what_explain_wrote_can_be_loaded(tmp_path: Path) -> None:
    (one,) = load_records(save(german(), tmp_path / "map.json"))
    assert one.text == german().text
    np.testing.assert_allclose(one.attention.cross(), german().attention.cross(), atol=1e-5)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_no_number_is_and_half_characters_can_be_saved(suffix: str, tmp_path: Path) -> None:
    weights = np.array([[[[math.nan, 1.0]]]], np.float32)
    odd = Prediction(
        "\ud800", "x", ("x",), -math.inf, AttentionRecord(("\ud800", "</s>"), ("x",), {"cross": weights})
    )
    (one,) = load_records(save_records([odd], tmp_path / f"odd{suffix}"))
    assert one.source == "\ufffd"
    assert math.isnan(one.score)
    np.testing.assert_array_equal(one.attention.cross(), [[math.nan, 1.0]])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "content", [b"\x80\x04nonsense", b"[1, 2]\n", b"{}\n", b"\xff" * 40, b'{"format": "x"}']
)
def test_a_foreign_file_is_told_to_the_person(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"foreign{suffix}"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"foreign\{suffix}"):
        load_records(path)


def test_other_tensors_are_no_records(tmp_path: Path) -> None:
    save_file({"weight": np.ones(3)}, tmp_path / "model.safetensors")
    with pytest.raises(UserError, match="says nothing of attention"):
        load_records(tmp_path / "model.safetensors")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_was_cut_off_is_told_to_the_person(suffix: str, tmp_path: Path) -> None:
    path = save_records([german(), german()], tmp_path / f"looks{suffix}")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UserError, match="damaged"):
        load_records(path)


def change(path: Path, **changes: object) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document) + "\n" + json.dumps(document | changes) + "\n")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "regard.attention/2"}, "format"),
        ({"source_pieces": ["a"]}, "do not go with"),
        ({"source_pieces": "abcd"}, "source_pieces"),
        ({"score": "high"}, "score"),
        ({"attention": {"cross": {"shape": [1, 1, 2, 3], "weights": [[[[1]]]]}}}, "reshape"),
        ({"attention": {"cross": {"shape": [1, 1], "weights": [[1]]}}}, "do not go with"),
        ({"attention": {"cross": {"shape": [1], "weights": [{}]}}}, "damaged"),
        ({"source_words": {"texts": ["x"], "of": [[0], [0], [1], None]}}, "words do not go"),
        ({"target_words": {"texts": ["x"], "of": [[0]]}}, "words do not go"),
        ({"target_words": {"texts": ["x"], "of": [[0], [-1], None]}}, "target_words"),
    ],
)
def test_a_document_that_does_not_fit_is_told_with_its_line(
    changes: dict[str, object], said: str, tmp_path: Path
) -> None:
    path = save_records([german()], tmp_path / "looks.jsonl")
    change(path, **changes)
    with pytest.raises(UserError, match=rf"looks\.jsonl, line 2: .*{said}"):
        load_records(path)


def test_tensors_that_do_not_fit_their_header_are_told_to_the_person(tmp_path: Path) -> None:
    path = save_records([cut_off()], tmp_path / "looks.safetensors")
    with safe_open(path, framework="numpy") as file:
        header = file.metadata()
    save_file({"0.cross": np.ones((1, 1, 3, 3), np.float16)}, path, header)
    with pytest.raises(UserError, match="do not go with 2 source and 2 target pieces"):
        load_records(path)
    save_file({"1.cross": np.ones((1, 1, 2, 2), np.float16)}, path, header)
    with pytest.raises(UserError, match="not the prediction"):
        load_records(path)


@pytest.mark.parametrize("name", ["looks", "looks.pkl", "looks.pt"])
def test_other_suffixes_are_refused(name: str, tmp_path: Path) -> None:
    for attempt in (lambda: save_records([], tmp_path / name), lambda: load_records(tmp_path / name)):
        with pytest.raises(UserError, match=r"\.safetensors"):
            attempt()
    assert not (tmp_path / name).exists()


def test_a_missing_file_is_told_to_the_person(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        with pytest.raises(UserError, match="none"):
            load_records(tmp_path / f"none{suffix}")


def test_more_text_than_a_header_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="several"):
        save_records([replace(cut_off(), source="x" * LONGEST_HEADER)], tmp_path / "large.safetensors")
    assert not list(tmp_path.iterdir())
