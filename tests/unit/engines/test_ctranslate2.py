"""What CTranslate2 is not asked to do."""

from pathlib import Path

import pytest
from untrained import LETTERS, transformer_changes, write_model

import regard
from regard import Request, UserError
from regard.config import PRESETS, load_config, of_preset
from regard.core.errors import UserError as Refused
from regard.data import Limits
from regard.forcing import force
from regard.predictor import Predictor
from regard.search import Watch
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS, LanguageTokenizers
from regard.viewing import TextView

pytest.importorskip("ctranslate2")
from regard.engines.ctranslate2 import names, refusal

TOKENIZER = TOKENIZERS["characters"]([LETTERS], vocabulary=20)
CODEC = TextCodec(TOKENIZER, TOKENIZER, Limits(source=40, target=40), TextView())
TEXTS = [name for name in PRESETS if of_preset(name).task.name != "captions"]
TRANSFORMERS = [name for name in TEXTS if name.startswith("transformer")]
STREAMS = ["transformer_d", "transformer_dmca", "transformer_dmca_moe"]
OTHERS = [name for name in TEXTS if name not in TRANSFORMERS or name in STREAMS]


def reason(*changes: str, codec: TextCodec = CODEC) -> str | None:
    return refusal(load_config("dates", changes), codec)


@pytest.mark.parametrize("preset", [name for name in TRANSFORMERS if name not in STREAMS])
def test_transformers_with_two_sides_are_expressed(preset: str) -> None:
    assert reason(f"model.preset={preset}") is None


@pytest.mark.parametrize("preset", OTHERS)
def test_all_other_presets_are_refused_by_the_kind_of_their_parts(preset: str) -> None:
    found = reason(f"model.preset={preset}")
    assert found is not None
    assert "Transformers with an encoder and a decoder" in found


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["both.score=additive"], "no additive score (encoder.score)"),
        (["decoder.score=cosine"], "no cosine score (decoder.score)"),
        (["attention.score=rbf"], "no rbf score (attention.score)"),
        (["both.selection=sparse"], "no sparse selection (encoder.selection)"),
        (["attention.selection=nearest"], "no nearest selection (attention.selection)"),
        (["attention.scope=local_predicted"], "scope local_predicted"),
        (["encoder.scope=window"], "scope window"),
        (["encoder.scope=causal"], "scope causal"),
        (["encoder.look=local"], "look is local"),
        (["both.experts=4"], "has 4"),
        (["both.position_width=4", "tie=none"], "stand beside them"),
        (["attention.pointer=true"], "no pointers"),
        (["attention.heads=1"], "2 for itself and 1 for its source"),
        (["encoder.norm=rms"], "rms and layer"),
    ],
)
def test_what_it_does_not_know_is_refused_with_the_reason(changes: list[str], said: str) -> None:
    found = reason(*transformer_changes(*changes))
    assert found is not None
    assert said in found


def test_languages_with_pieces_of_their_own_are_refused() -> None:
    several = LanguageTokenizers({"de": TOKENIZER, "fr": TOKENIZER})
    codec = TextCodec(TOKENIZER, several, Limits(source=40, target=40), TextView(), languages=("de", "fr"))
    assert "pieces of one language" in str(reason(*transformer_changes(), codec=codec))


def test_no_two_pieces_have_one_name() -> None:
    words = TOKENIZERS["words"](["<de> <<de>> a"], vocabulary=20)
    codec = TextCodec(words, words, Limits(source=9, target=9), TextView(), languages=("de", "fr"))
    source, target = names(codec)
    assert source == target
    assert len(set(source)) == len(source) == codec.sizes["source"]
    assert source[codec.tags.ids(["fr"])[0]] == "<fr>"


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    path = write_model(tmp_path_factory.mktemp("model"), transformer_changes())
    return regard.load(path, engine="ctranslate2", workers=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sample": True}, "draws no samples"),
        ({"record": True, "beam": 2}, "no tree"),
        ({"groups": 2, "beam": 2}, "no groups"),
        ({"coverage": 0.2, "beam": 2}, "no coverage"),
        ({"end_threshold": 1.5}, "no threshold"),
        ({"likeliest": 3}, "no likeliest"),
        ({"attention": "cross"}, "records no attention"),
        ({"attention": "all"}, "records no attention"),
    ],
)
def test_a_search_that_it_does_not_know_is_refused(
    fast: Predictor, options: dict[str, object], said: str
) -> None:
    with pytest.raises(Refused, match=f"ctranslate2 engine .*{said}.* native engine"):
        fast.predict("abc", **options)  # type: ignore[arg-type]


def test_a_request_with_rules_has_no_answer_and_its_neighbour_has_one(fast: Predictor) -> None:
    free, bound, empty = fast.predict(["abc", Request("abc", require=["b"]), " "], min_length=2)
    assert free.text
    assert free.problem is None
    assert (bound.text, empty.text, empty.problem) == ("", "", None)
    assert "keeps no rules" in str(bound.problem)


def test_what_nobody_waits_for_is_not_answered(fast: Predictor) -> None:
    requests = [Request("abc"), Request("de")]
    gone, here = fast.answer(requests, fast.search, attention="none", watches=[Watch(lambda: False), Watch()])
    assert "nobody waits" in str(gone.problem)
    assert here.problem is None
    assert fast.predict([]) == []


def test_a_prediction_names_its_pieces_and_has_no_looks(fast: Predictor) -> None:
    answer = fast.predict("abc", min_length=3)
    assert answer.attention.source_pieces == ("a", "b", "c", "</s>")
    assert answer.attention.kinds == ()
    assert answer.text == "".join(answer.pieces)
    assert next(iter(fast.stream(["abc", "d"], window=1, min_length=3))) == answer


def test_consensus_works_with_answers_of_a_beam(fast: Predictor) -> None:
    answer = fast.predict("abcdefgh", beam=4, best=4, mbr="chrf", min_length=4)
    assert len(answer.alternatives) == 3


def test_who_needs_more_places_than_it_was_told_alone_has_no_answer(fast: Predictor) -> None:
    long, short = fast.predict(["a" * 38, "abc"], max_length=1200, max_ratio=50)
    assert "1024 positions of this model, but 1200 pieces" in str(long.problem)
    assert short.problem is None
    assert short.text == fast.predict("abc", max_length=1200, max_ratio=50).text


def test_it_cannot_be_told_answers(fast: Predictor) -> None:
    with pytest.raises(UserError, match="native engine"):
        force(fast, ["abc"], ["abc"])


def test_what_can_not_be_loaded_so_is_said(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model", transformer_changes())
    for options, said in (
        ({"engine": "ctranslate"}, "Did you mean 'ctranslate2'"),
        ({"engine": "ctranslate2", "compute_type": "int9"}, "int8"),
        ({"engine": "ctranslate2", "workers": 0}, "workers is 0"),
        ({"engine": "ctranslate2", "copy_unknown": True}, "unknown words"),
        ({"compute_type": "int9"}, "native engine does not compute in .int9..*int8"),
    ):
        with pytest.raises(UserError, match=said):
            regard.load(path, **options)
    with pytest.raises(UserError, match="no ensemble"):
        regard.load(path, path, engine="ctranslate2")


def test_a_model_that_it_can_not_run_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model", transformer_changes("both.score=additive"))
    with pytest.raises(UserError, match=r"no additive score.*native engine"):
        regard.load(path, engine="ctranslate2")
    assert not list((path / ".engines").glob("ctranslate2*"))
