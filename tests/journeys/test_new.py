"""From a file that nobody saw before to a scored model: two commands, nothing touched in between."""

import gzip
import json
from pathlib import Path
from random import Random

from commands import regard
from toy import sentence

from regard.core.figures import figure

FEW = ["training.steps=4", "training.validate_every=2", "training.save_every=2", "training.tensorboard=false"]
CHANGES = [word for change in FEW for word in ("--set", change)]


def test_columns_are_chosen_and_what_parts_share_is_told(tmp_path: Path) -> None:
    chance = Random(1)
    rows = [[*sentence(chance), "CC-BY"] for _ in range(120)]
    for name, some in {"train": rows, "val": rows[:30], "test": rows[20:40]}.items():
        (tmp_path / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in some))
    parts = ["--train", "train.tsv", "--validation", "val.tsv", "--test", "test.tsv"]

    refused = regard("new", "my.toml", *parts, folder=tmp_path, code=2)
    assert b"--columns of regard new" in refused.stderr
    odd = regard("new", "my.toml", *parts, "--columns", "1;2", folder=tmp_path, code=2)
    assert b"--columns is '1;2': give two numbers" in odd.stderr

    looked = regard("new", "my.toml", *parts, "--columns", "2,1", folder=tmp_path)
    assert "columns = [2, 1]" in (tmp_path / "my.toml").read_text()
    shared = len({row[1] for row in rows[:30]} & {row[1] for row in rows[20:40]})
    assert f"{shared} sources are in validation, too".encode() in looked.stdout
    assert f"validation and test have {shared} sources in common".encode() in looked.stdout


def test_two_commands_lead_from_raw_pairs_to_scores(tmp_path: Path) -> None:
    chance = Random(1)
    rows = ["\t".join(sentence(chance)) for _ in range(300)]
    rows[7], rows[9], rows[11] = "no tab", rows[10], "x y\tx y"
    (tmp_path / "pairs.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))

    looked = regard("new", "my.toml", "--train", "pairs.tsv.gz", "--on-bad-line", "skip", folder=tmp_path)
    skipped = b"1 line was skipped: 1 without a tab (first: pairs.tsv.gz, line 8)"
    assert skipped in looked.stdout
    assert b"train: 299 pairs" in looked.stdout
    assert b"regard train my.toml" in looked.stderr

    done = regard("train", "my.toml", *CHANGES, folder=tmp_path)
    assert done.stderr.count(skipped) == 1
    assert b"that came before, 1 with the same text on both sides)" in done.stderr
    scores = json.loads((tmp_path / "runs/my/scores.json").read_text())["test"]
    assert scores.keys() == {"bleu", "chrf"}
    assert figure(scores["chrf"]["value"]).encode() in done.stdout
    card = (tmp_path / "runs/my/model/README.md").read_text()
    assert f"| chrf | {figure(scores['chrf']['value'])} ±" in card

    again = regard("train", "my.toml", *CHANGES, folder=tmp_path)
    assert again.stdout == b"", "a finished run is not scored again"
