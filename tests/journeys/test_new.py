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
