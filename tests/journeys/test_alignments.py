"""`regard evaluate --alignments` as a person uses it."""

import json
import re
from pathlib import Path

import pytest
from commands import TINY, regard, sentence
from typer.main import get_command

import regard as library
from regard.alignments import ALIGNERS, Threshold
from regard.answers import Linking
from regard.cli.app import app
from regard.cli.arguments import AlignBy
from regard.core.figures import figure
from regard.forcing import force

PAIRS = "9 May 2018\t2018-05-09\n1 June 1999\t1999-06-01\n3 May 2001\t2001-05-03\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aligned")
    (folder / "test.tsv").write_text(PAIRS)
    (folder / "more.tsv").write_text("".join(f"{n} May 1980\t1980-05-{n:02}\n" for n in range(1, 29)))
    (folder / "tiny.toml").write_text(TINY)
    own = ["--set", "data.train=more.tsv", "--set", "data.test=test.tsv", "--set", "training.steps=8"]
    regard("train", "tiny.toml", *own, folder=folder)
    (folder / "gold.txt").write_text("0p0 1-0 2-0\n0-0\n\n")
    return folder


def test_evaluate_prints_and_saves_the_agreement_with_people(home: Path) -> None:
    done = regard("evaluate", "runs/tiny", "--alignments", "gold.txt", folder=home)
    scores = json.loads((home / "runs/tiny/scores.json").read_text())["test"]
    names = ("alignment_error_rate", "alignment_precision", "alignment_recall")
    shown = re.search(r"^alignment +error_rate +precision +recall *\nall +(.*)$", done.stdout.decode(), re.M)
    assert shown is not None
    assert shown[1].split() == [figure(scores[name]["value"]) for name in names]
    for name in names:
        assert scores[name]["signature"].startswith(
            "by:argmax|layer:0|head:mean|words:space|sure:3|possible:4|"
        )
        assert scores[name]["signature"] in done.stdout.decode()
        assert name in (home / "runs/tiny/model/README.md").read_text()
    assert "exact_match" in scores


def test_links_can_be_made_in_another_way(home: Path) -> None:
    arguments = ["--alignments", "gold.txt", "--align-by", "threshold", "--layer", "0", "--head", "0"]
    done = regard("evaluate", "runs/tiny", *arguments, folder=home)
    assert f"by:threshold-{Threshold().least}|layer:0|head:0|" in done.stdout.decode()
    done = regard("evaluate", "runs/tiny", *arguments, "--threshold", "0.5", folder=home)
    assert "by:threshold-0.5|" in done.stdout.decode()
    done = regard("evaluate", "runs/tiny", *arguments, "--backward", "runs/tiny", folder=home)
    assert "|and-backward:layer-0|" in done.stdout.decode()


@pytest.mark.parametrize(
    ("gold", "arguments", "words"),
    [
        ("0-0\n0-0\n", [], ["gold.txt has 2 lines", "3 pairs"]),
        ("0-0\n0-0\n0_0\n", [], ["gold.txt, line 3", "'0_0'"]),
        ("0-0\n3-0\n0-0\n", [], ["gold.txt, line 2", "source word 3", "3 words"]),
        ("\n0p0\n\n", [], ["no sure link"]),
        (None, [], ["gold.txt", "no such file"]),
        ("0-0\n\n\n", ["--layer", "1"], ["no layer 1"]),
        ("0-0\n\n\n", ["--threshold", "0.5"], ["--align-by threshold"]),
        ("0-0\n\n\n", ["--align-by", "threshold", "--threshold", "0"], ["threshold of 0"]),
    ],
)
def test_what_does_not_fit_is_said(
    home: Path, tmp_path: Path, gold: str | None, arguments: list[str], words: list[str]
) -> None:
    path = tmp_path / "gold.txt"
    if gold is not None:
        path.write_text(gold)
    done = regard("evaluate", "runs/tiny", "--alignments", path, *arguments, folder=home, code=2)
    for word in words:
        assert word in sentence(done)


def test_links_of_answers_and_of_given_pairs_are_made_in_the_same_ways(home: Path) -> None:
    model = library.load(home / "runs/tiny")
    sources = [line.split("\t")[0] for line in PAIRS.splitlines()]
    answers = model.predict(sources)
    given = force(model, sources, [line.split("\t")[1] for line in PAIRS.splitlines()])
    ways: dict[tuple[str, ...], Linking] = {
        (): Linking(),
        ("--align-by", "threshold", "--threshold", "0.2", "--layer", "0", "--head", "0"): Linking(
            Threshold(0.2), 0, 0
        ),
    }
    asked = "".join(f"{source}\n" for source in sources).encode()
    for options, links in ways.items():
        said = regard("predict", "runs/tiny", "--alignments", *options, folder=home, stdin=asked).stdout
        assert [line.split("\t")[1] for line in said.decode().splitlines()] == list(map(links, answers))
        told = regard(
            "score", "runs/tiny", "--alignments", *options, folder=home, stdin=PAIRS.encode()
        ).stdout
        assert [line.split("\t")[1] for line in told.decode().splitlines()] == list(map(links, given))
    assert Linking()(given[0]) != Linking(Threshold(0.2), 0, 0)(given[0])
    objects = regard(
        "score", "runs/tiny", "--alignments", "--output", "json", folder=home, stdin=PAIRS.encode()
    ).stdout.decode()
    assert [json.loads(line)["alignment"] for line in objects.splitlines()] == list(map(Linking(), given))
    done = regard("predict", "runs/tiny", "--alignments", "--layer", "7", folder=home, stdin=asked, code=2)
    assert "There is no layer 7" in sentence(done)


@pytest.mark.parametrize("command", ["predict", "score"])
@pytest.mark.parametrize("option", [["--layer", "0"], ["--head", "0"], ["--align-by", "threshold"]])
def test_ways_of_linking_without_alignments_are_refused(home: Path, command: str, option: list[str]) -> None:
    assert "--alignments" in sentence(regard(command, "runs/tiny", *option, folder=home, code=2))


@pytest.mark.parametrize(
    "option", [["--layer", "0"], ["--head", "0"], ["--align-by", "threshold"], ["--backward", "runs/tiny"]]
)
def test_options_without_gold_are_refused(home: Path, option: list[str]) -> None:
    assert "--alignments" in sentence(regard("evaluate", "runs/tiny", *option, folder=home, code=2))


def test_the_command_knows_every_aligner_and_the_usual_threshold() -> None:
    assert [one.value for one in AlignBy] == list(ALIGNERS)
    for command in ("evaluate", "predict", "score"):
        options = {one.name: one for one in get_command(app).commands[command].params}
        assert f"Default: {Threshold().least}." in options["threshold"].help
