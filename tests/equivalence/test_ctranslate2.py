"""CTranslate2 answers what Regard's own search answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from untrained import sources, transformer_changes, write_model

import regard
from regard import Request
from regard.layers import ACTIVATIONS, NORMS, POSITIONS
from regard.predictor import Predictor

pytest.importorskip("ctranslate2")
from regard.engines.ctranslate2 import searching

ASKED = [*sources(60), "a", "p", "abc", "c" * 38]
MODELS: dict[str, tuple[str, ...]] = (
    {
        "tied": ("tie=all",),
        "output tied": ("tie=output",),
        "post-norm": ("both.pre_norm=false",),
        "pre-norm under post-norm": ("encoder.pre_norm=true", "decoder.pre_norm=false"),
        "a wider encoder, deeper": ("encoder.width=24", "encoder.layers=3"),
        "not scaled": ("both.embedding_scale=false",),
        "other heads": ("encoder.heads=4", "decoder.heads=1", "attention.heads=1"),
        "no projections": ("both.projected=false", "both.score=dot"),
        "rms, swiglu, rotary": ("both.norm=rms", "both.activation=swiglu", "both.positions=rotary"),
        "learned over relative": ("encoder.positions=relative", "decoder.positions=learned"),
    }
    | {f"positions {name}": (f"both.positions={name}",) for name in POSITIONS}
    | {f"activation {name}": (f"both.activation={name}",) for name in ACTIVATIONS}
    | {f"norm {name}": (f"both.norm={name}",) for name in NORMS}
    | {f"score {name}": (f"both.score={name}", f"attention.score={name}") for name in ("dot", "general")}
)
Both = tuple[Predictor, Predictor]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Both]:
    """A model by Regard's own engine and by CTranslate2."""
    known: dict[tuple[str, ...], Both] = {}

    def load(*changes: str) -> Both:
        if changes not in known:
            path = write_model(tmp_path_factory.mktemp("model"), transformer_changes("tie=none", *changes))
            known[changes] = regard.load(path), regard.load(path, engine="ctranslate2", workers=1)
        return known[changes]

    return load


def compare(both: Both, *, least: int = len(ASKED), **options: object) -> None:
    """The same texts for so many sources at least, with the same scores."""
    ours, theirs = (one.predict(ASKED, attention="none", **options) for one in both)  # type: ignore[arg-type]
    alike = [(one, other) for one, other in zip(ours, theirs, strict=True) if one.text == other.text]
    assert len(alike) >= least
    assert len({round(one.score, 2) for one in ours}) > 16  # or the source would not count
    for one, other in alike:
        assert other.score == pytest.approx(one.score, abs=1e-3)
        assert other.rank == pytest.approx(one.rank, abs=1e-3)
        assert (other.pieces, other.finished) == (one.pieces, one.finished)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("beam", [1, 4])
def test_answers_and_scores_are_those_of_regards_own_search(
    both: Callable[..., Both], name: str, beam: int
) -> None:
    compare(both(*MODELS[name]), beam=beam, least=len(ASKED) - 2)


@pytest.mark.parametrize("name", ["tied", "positions relative"])
def test_a_length_penalty_changes_nothing_about_that(both: Callable[..., Both], name: str) -> None:
    compare(both(*MODELS[name]), beam=4, length_penalty=0.0)
    compare(both(*MODELS[name]), beam=4, length_penalty=1.0, least=len(ASKED) - 2)


def test_what_finished_comes_before_what_was_cut_off_however_likely_that_is(tmp_path: Path) -> None:
    path = write_model(tmp_path, transformer_changes("tie=none", "both.positions=relative"), sure=3.0)
    loaded = regard.load(path), regard.load(path, engine="ctranslate2", workers=1)
    several = loaded[0].predict(ASKED, beam=4, best=4, length_penalty=0.0, max_length=3)
    behind = [(one, other) for one in several for other in one.alternatives if other.score > one.score]
    assert any(one.finished and not other.finished for one, other in behind)
    compare(loaded, beam=4, length_penalty=0.0, max_length=3)


def test_a_patient_search_finds_what_regards_own_finds_whatever_the_penalty(
    both: Callable[..., Both], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An untrained model ends anywhere, so that late answers count. With the usual patience some are not found."""
    monkeypatch.setattr(searching, "PATIENCE", 50)
    compare(both("both.positions=relative"), beam=4, length_penalty=1.0, penalty="average")


def test_the_next_best_are_the_same_too(both: Callable[..., Both], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "PATIENCE", 50)
    ours, theirs = (
        one.predict(ASKED, attention="none", beam=4, best=3) for one in both("both.positions=relative")
    )
    assert all(len(one.alternatives) == 2 for one in ours)
    for one, other in zip(ours, theirs, strict=True):
        assert [each.text for each in other.alternatives] == [each.text for each in one.alternatives]


@pytest.mark.parametrize("options", [{"max_ratio": 0.2}, {"max_length": 3}, {"max_ratio": 0.3, "beam": 3}])
def test_an_answer_is_as_long_as_its_own_source_allows(
    both: Callable[..., Both], options: dict[str, float]
) -> None:
    """Limits of 10 to 16 pieces in one batch; many answers come to theirs."""
    compare(both(), **options)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize(
    "options",
    [
        {"no_repeat": 1},
        {"no_repeat": 2},
        {"no_repeat": 3},
        {"unknown": False},
        {"min_length": 1},
        {"min_length": 5},
        {"min_ratio": 0.4},
    ],
)
def test_rules_of_length_repetition_and_unknown_words_hold_and_scores_are_the_models_own(
    both: Callable[..., Both], options: dict[str, Any], beam: int
) -> None:
    """In a beam CTranslate2 shares out what may not come, so some other hypotheses live."""
    compare(
        both("both.positions=relative"),
        beam=beam,
        least=len(ASKED) if beam == 1 else len(ASKED) // 2,
        **options,
    )


def test_answers_do_not_depend_on_neighbours_or_workers(tmp_path: Path) -> None:
    path = write_model(tmp_path, [*transformer_changes(), "evaluation.batch_tokens=200"])
    several = regard.load(path, engine="ctranslate2", workers=3)
    found = several.predict(ASKED, beam=3)
    alone = [several.predict(one, beam=3) for one in ASKED[:8]]
    assert [one.text for one in found[:8]] == [one.text for one in alone]
    assert [one.text for one in found[::-1]] == [one.text for one in several.predict(ASKED[::-1], beam=3)]


def test_a_language_that_is_asked_for_reaches_it(tmp_path: Path) -> None:
    path = write_model(tmp_path, transformer_changes(), languages=("de", "fr"))
    ours, theirs = regard.load(path), regard.load(path, engine="ctranslate2")
    asked = [Request(one, to=to) for one in ASKED[:20] for to in ("de", "fr")]
    found = [one.text for one in theirs.predict(asked)]
    assert found == [one.text for one in ours.predict(asked, attention="none")]
    assert found[::2] != found[1::2]


def test_int8_is_near(tmp_path: Path) -> None:
    path = write_model(tmp_path, transformer_changes("tie=none"), lively=0.5)
    ours = regard.load(path).predict(ASKED, attention="none")
    rounded = regard.load(path, engine="ctranslate2", compute_type="int8").predict(ASKED)
    assert sum(one.text == other.text for one, other in zip(ours, rounded, strict=True)) > len(ASKED) // 2
    assert [one.score for one in ours] != pytest.approx([one.score for one in rounded], abs=1e-3)
