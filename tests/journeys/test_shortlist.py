"""`regard shortlist`, and answers that are searched among its pieces."""

import shutil
from inspect import signature
from pathlib import Path

import pytest
from commands import regard, sentence
from safetensors.numpy import load_file, save_file
from serving import MANY, RECURRENT, untrained, untrained_captions
from untrained import transformer_changes, write_model

import regard as library
from regard.cli.shortlist import shortlist
from regard.core.errors import UserError
from regard.core.prediction import Request
from regard.shortlisting import COMMON, LIKELY, make_shortlist

LINES = "March 5, 2021\n\n5 mars 2021\n"
LIST = "runs/tiny/model/shortlist.safetensors"


@pytest.fixture(scope="session")
def listed(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder whose run has a shortlist. Tests leave it as it is."""
    folder = shutil.copytree(tiny, tmp_path_factory.mktemp("listed"), dirs_exist_ok=True)
    done = regard("shortlist", "runs/tiny", "--likely", "3", "--common", "2", folder=folder)
    (folder / "said").write_bytes(done.stderr)
    return folder


def test_it_tells_how_long_the_lists_are_and_what_they_miss(listed: Path) -> None:
    said = (listed / "said").read_text()
    assert "of 15 pieces for a source in the mean, and " in said
    assert "% of the pieces of validation targets are among their source's. Next:" in said
    assert said.rstrip().endswith("regard evaluate runs/tiny --shortlist")


def test_every_line_has_an_answer_of_pieces_in_its_list(listed: Path) -> None:
    done = regard("predict", "runs/tiny", "--shortlist", folder=listed, stdin=LINES.encode())
    assert done.stdout.decode().count("\n") == 3
    model = library.load(listed / "runs/tiny", shortlist=True)
    assert model.shortlist is not None
    read = model.codec.collate([one for one in model.codec.read([Request("5 mars 2021")]) if one])
    own = set(model.shortlist.of(read.ids, read.mask).pieces.tolist())
    assert 4 < len(own) < 15
    answer = model.predict("5 mars 2021", beam=3)
    assert {model.codec.target.encode(piece)[0] for piece in answer.text} <= own


def test_a_list_of_all_pieces_changes_no_answer_and_rules_are_kept(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "all")
    make_shortlist(folder / "runs/tiny", common=1_000)
    usual, short = (library.load(folder / "runs/tiny", shortlist=short) for short in (False, True))
    asked = [*LINES.splitlines(), Request("March 5, 2021", prefix="19")]
    for one, other in zip(usual.predict(asked, beam=4), short.predict(asked, beam=4), strict=True):
        assert other.text == one.text
        assert other.score == pytest.approx(one.score, abs=0.5)  # pieces that no target has are left out
    assert short.predict(asked[-1]).text.startswith("19")


def test_scores_with_it_are_shown_and_not_kept(listed: Path) -> None:
    before = (listed / "runs/tiny/scores.json").read_bytes()
    done = regard("evaluate", "runs/tiny", "--shortlist", folder=listed)
    assert "exact_match" in done.stdout.decode()
    assert (listed / "runs/tiny/scores.json").read_bytes() == before


def test_the_answers_that_a_run_keeps_stay_good_when_it_gets_one(listed: Path) -> None:
    done = regard("evaluate", "runs/tiny", folder=listed)
    assert "predictions" in done.stderr.decode()  # they were taken from there


def test_without_one_a_sentence_says_how_to_make_it(tiny: Path) -> None:
    done = regard("predict", "runs/tiny", "--shortlist", folder=tiny, stdin=LINES.encode(), code=2)
    assert sentence(done).endswith("has no shortlist yet. Make one: regard shortlist runs/tiny/model")


def test_one_that_is_damaged_or_another_models_is_refused(listed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(listed, tmp_path / "damaged")
    path = folder / LIST
    parts = load_file(path)
    save_file({**parts, "likely": parts["likely"][:-1]}, path)
    with pytest.raises(UserError, match="belongs to another model"):
        library.load(folder / "runs/tiny", shortlist=True)
    save_file({"likely": parts["likely"]}, path)
    with pytest.raises(UserError, match="is damaged"):
        library.load(folder / "runs/tiny", shortlist=True)
    path.write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"is damaged .* Make it anew: regard shortlist"):
        library.load(folder / "runs/tiny", shortlist=True)


def test_models_that_may_say_anything_have_no_use_for_one(tmp_path: Path) -> None:
    pointing = write_model(tmp_path / "a", transformer_changes("attention.pointer=true"))
    with pytest.raises(UserError, match="no use for a shortlist: the model can copy any word of its source"):
        library.load(pointing, shortlist=True)
    with pytest.raises(UserError, match="no use for a shortlist: the model can copy any word of its source"):
        make_shortlist(pointing)


def test_other_engines_have_none(tmp_path: Path) -> None:
    run = write_model(tmp_path / "a", transformer_changes())
    with pytest.raises(UserError, match="ctranslate2 engine has no shortlist"):
        library.load(run, engine="ctranslate2", shortlist=True)


def test_captioners_have_no_use_for_one(tmp_path: Path) -> None:
    run = untrained_captions(tmp_path / "captions")
    with pytest.raises(UserError, match="the sources are no texts"):
        make_shortlist(run)
    with pytest.raises(UserError, match="the sources are no texts"):
        library.load(run, shortlist=True)


def test_pairs_that_changed_since_the_training_are_refused(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "changed")
    path = folder / "runs/tiny/model/config.json"
    path.write_text(path.read_text().replace('"pairs": 400', '"pairs": 401'))
    with pytest.raises(UserError, match="training pairs are not the ones"):
        make_shortlist(folder / "runs/tiny")


def test_ensembles_answer_with_one(listed: Path) -> None:
    runs = [listed / "runs/tiny"] * 2
    alone, together = library.load(runs[0], shortlist=True), library.load(*runs, shortlist=True)
    asked = LINES.splitlines()
    texts, twice = ([one.text for one in model.predict(asked, beam=3)] for model in (alone, together))
    assert twice == texts


def test_models_of_several_languages_have_no_use_for_one(tmp_path: Path) -> None:
    run = untrained(tmp_path / "many", *RECURRENT, MANY)
    for ask in (make_shortlist, lambda path: library.load(path, shortlist=True)):
        with pytest.raises(UserError, match="depends on the language that is asked for"):
            ask(run)


def test_the_command_asks_for_as_many_pieces_as_the_library() -> None:
    defaults = {name: one.default for name, one in signature(shortlist).parameters.items()}
    assert (defaults["likely"], defaults["common"]) == (LIKELY, COMMON)
