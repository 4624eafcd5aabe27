"""Translation as a person comes to it: two files of their own, or a recipe with data that is there or is not."""

import json
import os
from itertools import chain
from pathlib import Path

import pytest
import sentencepiece
from commands import regard, sentence
from toy import CONFIGURATION, write_corpus

import regard as library
from regard import build
from regard.config import Config, load_config
from regard.data import Pair
from regard.evaluation import evaluate
from regard.trainer import Trainer

METRICS = ("bleu", "bleu_lowercase", "bleu_tokenized", "chrf")
SMALL = [
    *(
        f"model.{side}.{size}"
        for side in ("encoder", "decoder")
        for size in ("layers=1", "width=16", "heads=2", "feed_forward=16")
    ),
    "training.steps=4",
    "training.batch_tokens=1024",
    "training.validate_every=4",
    "training.log_every=2",
    "training.save_every=2",
    "training.tensorboard=false",
    "search.beam=2",
    "search.max_length=12",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a made-up corpus and a run that was trained on it for a few steps."""
    folder = tmp_path_factory.mktemp("toy")
    write_corpus(folder, 300)
    (folder / "toy.toml").write_text(CONFIGURATION)
    regard("train", "toy.toml", folder=folder)
    return folder


def configuration(home: Path, *changes: str) -> Config:
    files = f"data.train={{source='{home}/toy.en', target='{home}/toy.xx'}}"
    return load_config(home / "toy.toml", [files, *changes])


def check_scores(folder: Path, run: str, pairs: int) -> None:
    table = regard("evaluate", run, folder=folder).stdout.decode()
    scores = json.loads((folder / run / "scores.json").read_text())["test"]
    assert tuple(scores) == METRICS
    assert "source pieces" in table
    for name in METRICS:
        assert f"{name}: {scores[name]['signature']}" in table
        assert sum(bucket["count"] for bucket in scores[name]["by_source_length"]) == pairs
    assert "case:mixed" in scores["bleu"]["signature"]
    assert "case:lc" in scores["bleu_lowercase"]["signature"]
    assert "case:lc|eff:no|tok:moses|lang:de" in scores["bleu_tokenized"]["signature"]


def test_two_files_of_ones_own_are_trained_on_and_scored(home: Path) -> None:
    check_scores(home, "runs/toy", 40)
    card = (home / "runs/toy/model/README.md").read_text()
    assert "`translation` from en to de" in card
    assert "| reads and says | pieces (bpe, shared) |" in card
    assert (
        len(regard("predict", "runs/toy", folder=home, stdin=b"The dog\n\nA cat\n").stdout.splitlines()) == 3
    )


def test_pictures_name_the_languages(home: Path, tmp_path: Path) -> None:
    answer = library.load(home / "runs/toy").predict("The dog sees a cat.")
    texts = {text.get_text() for text in answer.plot().findobj(match=lambda part: hasattr(part, "get_text"))}
    assert {"source (en)", "target (de)"} <= texts
    regard("explain", "runs/toy", "The dog", "-o", tmp_path / "map.png", "--hide-special", folder=home)


def train(config: Config, run: Path, *, steps: int | None = None) -> bytes:
    """Trains on, for a few steps or to the end; gives the newest weights."""
    asked = iter([*[None] * steps, "stopped"] if steps else [])
    for _ in Trainer(config, run, stop=lambda: next(asked, None)).events():
        pass
    return (max((run / "checkpoints").glob("step-*")) / "model.safetensors").read_bytes()


def test_small_letters_are_kept_by_the_model(home: Path, tmp_path: Path) -> None:
    train(configuration(home, "text.source.lowercase=true"), tmp_path)
    answers = library.load(tmp_path).predict(["THE RED DOG SEES A CAT.", "the red dog sees a cat."])
    assert answers[0].text == answers[1].text == answers[0].text.lower()
    assert answers[0].attention.source_pieces == answers[1].attention.source_pieces
    assert answers[0].attention.source_pieces[0].startswith("▁t")


def test_pieces_of_sentencepiece_are_read_and_kept_by_the_model(home: Path, tmp_path: Path) -> None:
    sentencepiece.SentencePieceTrainer.train(
        input=[str(path) for path in home.glob("toy.*") if path.suffix in (".en", ".xx")],
        model_prefix=str(tmp_path / "my"),
        model_type="unigram",
        vocab_size=60,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    file = tmp_path / "my.model"
    train(configuration(home, "text.source.kind=sentencepiece", f"text.source.file={file}"), tmp_path / "run")
    text = "The red dog sees a cat."
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(file)).encode(text, out_type=str)
    file.unlink()
    answer = library.load(tmp_path / "run").predict(text)
    assert answer.attention.source_pieces == (*pieces, "</s>")


def test_with_dropout_a_training_that_stopped_goes_on_exactly(home: Path, tmp_path: Path) -> None:
    config = configuration(home, "text.source.dropout=0.1", "text.target.dropout=0.2")
    straight = train(config, tmp_path / "straight")
    for steps in (1, 4, 3):
        train(config, tmp_path / "stopped", steps=steps)
    assert train(config, tmp_path / "stopped") == straight
    assert train(configuration(home), tmp_path / "plain") != straight


def test_with_sampling_too(home: Path, tmp_path: Path) -> None:
    unigram = "text.source.kind=unigram"
    config = configuration(home, unigram, "text.source.sampling=0.3", "text.target.sampling=0.5")
    straight = train(config, tmp_path / "straight")
    for steps in (1, 4, 3):
        train(config, tmp_path / "stopped", steps=steps)
    assert train(config, tmp_path / "stopped") == straight
    assert train(configuration(home, unigram), tmp_path / "plain") != straight


def test_a_run_can_be_moved_with_its_data(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, run = tmp_path / "first", tmp_path / "second", tmp_path / "run"
    (first / "toy").mkdir(parents=True)
    write_corpus(first / "toy", 300)
    config = configuration(
        home, "data.train={source='$REGARD_DATA/toy/toy.en', target='$REGARD_DATA/toy/toy.xx'}"
    )
    monkeypatch.setenv("REGARD_DATA", str(first))
    weights = train(config, run)
    assert "$REGARD_DATA/toy/toy.en" in (run / "config.toml").read_text()
    scores = evaluate(run).scores

    first.rename(second)
    with pytest.raises(library.UserError, match=r"Set REGARD_DATA to the folder that holds toy/toy\.en\.$"):
        evaluate(run)
    assert library.load(run).predict("The dog").source == "The dog", "it needs no data"
    monkeypatch.setenv("REGARD_DATA", str(second))
    assert evaluate(run).scores == scores
    assert train(config, run) == weights


def test_a_recipe_without_its_data_says_so_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "nothing"))
    said = sentence(regard("train", "multi30k-en-de", folder=tmp_path, code=2))
    assert "there is no such file. Set REGARD_DATA to the folder that holds multi30k/val.en." in said


def test_the_recipe_of_multi30k_trains_and_scores_on_the_real_data(tmp_path: Path) -> None:
    data = os.environ.get("REGARD_DATA")
    if data is None or not Path(data, "multi30k/train.en").exists():
        pytest.skip("REGARD_DATA names no folder with multi30k")
    changes = [word for change in SMALL for word in ("--set", change)]
    done = regard("train", "multi30k-en-de", "--run", "run", *changes, folder=tmp_path)
    assert b"train: 28,999 pairs" in done.stderr  # one sentence is in validation or test too
    assert b"validation: 1,014 pairs" in done.stderr
    check_scores(tmp_path, "run", 1000)


def test_the_recipe_for_spanish_reads_the_second_column_and_shares_no_sentence() -> None:
    data = os.environ.get("REGARD_DATA")
    if data is None or not Path(data, "spa-eng/spa.txt").exists():
        pytest.skip("REGARD_DATA names no folder with spa-eng")
    examples = build.task(load_config("spanish")).examples()
    parts = [list(examples.train()), examples.validation, examples.test]
    assert [len(part) for part in parts] == [115_964, 1_000, 2_000]
    assert Pair("Ve.", "Go.") in set(chain(*parts))
    for side in (0, 1):
        assert sum(len({pair[side] for pair in part}) for part in parts) == len(
            {pair[side] for part in parts for pair in part}
        )
