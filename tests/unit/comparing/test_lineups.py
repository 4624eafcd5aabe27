import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from commands import TINY

from regard.comparing.files import comparisons, find_comparison
from regard.comparing.lineups import Lineup, Wishes, line_up, settings_as_changes
from regard.comparing.standings import check_wishes
from regard.comparing.varying import parse_variations
from regard.config import load_config
from regard.core.errors import UserError
from regard.run import Run


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def varied(path: Path, *variations: str, changes: tuple[str, ...] = (), budget: str | None = None) -> Lineup:
    wishes = Wishes(changes, parse_variations(variations), budget)
    return line_up([str(path)], wishes, path.parent / "runs")


def given(folder: Path, *changes: str, pairs: str = "p") -> str:
    """What is needed of a run to be taken for one."""
    run = Run(folder)
    config = load_config("dates", changes)
    run.start(config)
    data = {"train": {"fingerprint": pairs}, "test": {"fingerprint": "x"}}
    run.model.describe(config, vocabulary={"source": 5, "target": 5}, data=data)
    run.model.weights_path.write_bytes(b"")
    return str(folder)


def test_runs_of_one_model_differ_in_their_seeds(tiny: Path) -> None:
    lineup = varied(tiny, "model.attention.score=none,general", "training.seed=1,2,3")
    assert {name: len(runs) for name, runs in lineup.models.items()} == {"score=none": 3, "score=general": 3}
    first = lineup.candidates[0]
    assert first.folder.name == "score=none-1"
    assert first.config.model.attention.score == "none"
    assert [one.config.training.seed for one in lineup.models["score=general"]] == [1, 2, 3]


def test_several_configurations_are_called_like_their_files(tiny: Path) -> None:
    other = tiny.with_name("wide.toml")
    other.write_text(TINY.replace("encoder.width = 8", "encoder.width = 16"))
    wishes = Wishes(variations=parse_variations(["training.clip=0,1"]))
    lineup = line_up([str(tiny), str(other)], wishes, tiny.parent / "runs")
    assert list(lineup.models) == ["tiny, clip=0", "tiny, clip=1", "wide, clip=0", "wide, clip=1"]


def test_settings_of_a_file_are_changes_of_a_line_each() -> None:
    corpora = [
        {"source_language": "en", "train": {"file": "a/" * 60, "a key": 'say "x"'}},
        {"weights": [1, 2.5]},
    ]
    (change,) = settings_as_changes({"task": {"corpora": corpora}})
    key, _, value = change.partition("=")
    assert key == "task.corpora"
    assert "\n" not in value
    assert tomllib.loads(f"value = {value}") == {"value": corpora}


def test_given_runs_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    paths = [given(tmp_path / name / "x", f"training.clip={clip}") for name, clip in (("a", 1), ("b", 2))]
    lineup = line_up(paths, Wishes(), tmp_path / "runs")
    assert [str(one) for one in lineup.candidates] == paths
    assert {one.device for one in lineup.candidates} == {"auto"}  # they may come from another machine


def test_a_budget_is_the_same_for_all(tiny: Path) -> None:
    lineup = varied(tiny, "training.seed=1,2", budget="tokens=5000")
    assert {one.config.training.tokens for one in lineup.candidates} == {5000}


@pytest.mark.parametrize(
    ("variation", "said"),
    [
        ("model.atention.score=general,none", "--set or --vary: unknown setting 'model.atention'"),
        (
            "model.attention.score=general,nome",
            "--set or --vary: model.attention.score: 'nome' is not one of",
        ),
    ],
)
def test_an_unknown_setting_is_refused_before_anything_is_trained(
    tiny: Path, variation: str, said: str
) -> None:
    with pytest.raises(UserError) as refused:
        varied(tiny, variation)
    assert str(refused.value).startswith(said)
    assert not (tiny.parent / "runs").exists()


def test_settings_that_do_not_go_together_are_told_with_their_member(tiny: Path) -> None:
    with pytest.raises(UserError, match=r"^score=dot: .*the dot score compares"):
        varied(tiny, "model.attention.score=general,dot")


def test_one_run_is_nothing_to_compare(tiny: Path) -> None:
    with pytest.raises(UserError, match="only one run"):
        varied(tiny)


def test_given_runs_that_differ_in_their_seed_alone_are_one_model(tmp_path: Path) -> None:
    runs = [
        given(tmp_path / "a", "training.seed=1"),
        given(tmp_path / "b", "training.seed=2"),
        given(tmp_path / "c", "training.clip=3"),
    ]
    lineup = line_up(runs, Wishes(), tmp_path / "compare")
    assert {name: [run.folder.name for run in runs] for name, runs in lineup.models.items()} == {
        "a": ["a", "b"],
        "c": ["c"],
    }


def test_given_runs_that_learned_from_other_pairs_or_have_one_seed_are_models_of_their_own(
    tmp_path: Path,
) -> None:
    runs = [
        given(tmp_path / "old"),
        given(tmp_path / "new", pairs="q"),
        given(tmp_path / "again"),
        given(tmp_path / "old-2", "training.seed=2"),
    ]
    lineup = line_up(runs, Wishes(), tmp_path / "compare")
    assert {name: [run.folder.name for run in runs] for name, runs in lineup.models.items()} == {
        "old": ["old", "old-2"],
        "new": ["new"],
        "again": ["again"],
    }


def test_runs_that_are_there_can_be_judged_by_a_metric_that_they_were_not_trained_with(
    tmp_path: Path,
) -> None:
    runs = [given(tmp_path / "a"), given(tmp_path / "b", "training.clip=3")]
    lineup = line_up(runs, Wishes(), tmp_path / "compare", metric="chrf")
    check_wishes(lineup, "best")
    assert all("chrf" in one.config.evaluation.metrics for one in lineup.candidates)
    with pytest.raises(UserError, match="ade"):
        line_up(runs, Wishes(), tmp_path / "compare", metric="ade")


def test_different_runs_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    runs = [
        given(tmp_path / "a/x"),
        given(tmp_path / "b/x", "training.clip=3"),
        given(tmp_path / "c/y", "training.seed=2"),
    ]
    lineup = line_up(runs, Wishes(), tmp_path / "compare")
    assert list(lineup.models) == ["a/x", "b/x"]  # and the third is a run of the first's model
    assert [len(runs) for runs in lineup.models.values()] == [2, 1]


def test_different_configurations_of_one_name_are_told_apart(tiny: Path) -> None:
    other = tiny.parent / "other/tiny.toml"
    other.parent.mkdir()
    other.write_text(TINY.replace("encoder.width = 8", "encoder.width = 16"))
    lineup = line_up([str(tiny), str(other)], Wishes(("training.seed=2",)), tiny.parent / "runs")
    assert list(lineup.models) == [f"{tiny.parent.name}/tiny", "other/tiny"]
    assert len({one.folder for one in lineup.candidates}) == 2


def test_a_recipe_keeps_its_name_beside_a_run_of_it(tmp_path: Path) -> None:
    lineup = line_up(["dates", given(tmp_path / "runs/dates", "training.clip=3")], Wishes(), tmp_path / "c")
    assert list(lineup.models) == ["dates", "runs/dates"]


def test_different_models_under_one_name_are_refused(tiny: Path) -> None:
    run = given(tiny.parent / "one/score=dot", "training.clip=3")
    (tiny.parent / "dates.toml").write_text(
        "base = 'dates'\n[[members]]\nname = 'score=dot'\n[[members]]\nname = 'b'\nsettings.training.seed = 2\n"
    )
    with pytest.raises(UserError, match=r"are different models, but both are called 'score=dot'"):
        line_up([run, str(tiny.parent / "dates.toml")], Wishes(), tiny.parent / "runs")


def test_a_budget_lifts_what_limits_a_configuration_has_itself(tiny: Path) -> None:
    tiny.write_text(TINY.replace("steps = 24", "steps = 24\ntokens = 100\nminutes = 0.01\npatience = 2"))
    training = varied(tiny, "training.seed=1,2", budget="steps=8").candidates[0].config.training
    assert (training.steps, training.tokens, training.minutes, training.patience) == (8, None, None, None)
    asked = varied(tiny, "training.seed=1,2", budget="minutes=3", changes=("training.tokens=500",))
    training = asked.candidates[0].config.training
    assert (training.tokens, training.minutes) == (500, 3.0)


def test_two_comparisons_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Give one at a time"):
        line_up(["ladder", "ladder-multi30k"], Wishes(), tmp_path)


@pytest.mark.parametrize(
    ("name", "nearest"), [("laddr", "Did you mean 'ladder'"), ("spansh", "Did you mean 'spanish'")]
)
def test_a_misspelt_comparison_is_helped(tmp_path: Path, name: str, nearest: str) -> None:
    with pytest.raises(UserError, match=nearest):
        line_up([name], Wishes(), tmp_path)


def test_a_misspelt_key_of_a_comparison_is_helped(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("base = 'dates'\nbugdet = { steps = 3 }\n[[members]]\nname = 'a'\n")
    with pytest.raises(UserError, match=r"a comparison has no 'bugdet'.*Did you mean 'budget'"):
        line_up([str(path)], Wishes(), tmp_path)


@pytest.mark.parametrize(
    ("metric", "against", "said"), [("bleux", "best", "bleux"), (None, "nobody", "nobody")]
)
def test_a_wish_that_cannot_be_met_is_told_before_anything_is_trained(
    tiny: Path, metric: str | None, against: str, said: str
) -> None:
    lineup = varied(tiny, "training.seed=1,2")
    check_wishes(lineup, "best")
    check_wishes(replace(lineup, metric="character_error_rate"), "tiny")
    with pytest.raises(UserError, match=said):
        check_wishes(replace(lineup, metric=metric), against)


def test_what_is_trained_cannot_be_varied(tmp_path: Path) -> None:
    runs = [given(tmp_path / "a"), given(tmp_path / "b", "training.clip=3")]
    with pytest.raises(UserError, match="is a run, and what is trained cannot be changed"):
        line_up(runs, Wishes(budget="steps=3"), tmp_path / "compare")


def test_a_run_that_is_not_there_or_comes_twice_is_told(tmp_path: Path) -> None:
    run = given(tmp_path / "a")
    with pytest.raises(UserError, match="There is no recipe, no comparison and no file"):
        line_up([run, str(tmp_path / "b")], Wishes(), tmp_path / "compare")
    with pytest.raises(UserError, match="Give each one once"):
        line_up([run, run], Wishes(), tmp_path / "compare")


def test_a_folder_that_is_no_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(UserError, match="is not a run"):
        line_up([given(tmp_path / "a"), str(tmp_path / "b")], Wishes(), tmp_path / "compare")


def test_a_folder_with_runs_of_another_configuration_is_refused(tiny: Path) -> None:
    first = varied(tiny, "training.seed=1,2").candidates[0]
    first.run.start(first.config)
    varied(tiny, "training.seed=1,2")
    with pytest.raises(UserError, match=r"training.clip: 1.0 -> 3.0.*--folder"):
        varied(tiny, "training.seed=1,2", changes=("training.clip=3",))
    varied(tiny, "training.seed=1,2", changes=("search.beam=3",))  # what is trained does not depend on it


FILE = """
base = "tiny.toml"
seeds = [1, 2]
budget = { minutes = 0.5 }
reach = 90
metric = "character_error_rate"

[settings.training]
clip = 3

[[members]]
name = "fixed vector"
settings.model = { preset = "cho2014", embedding = 8, encoder = { width = 8 } }

[[members]]
name = "looks"
[members.settings.model.attention]
score = "general"
"""


def test_a_file_has_members_that_are_laid_over_its_base(tiny: Path) -> None:
    file = tiny.with_name("mine.toml")
    file.write_text(FILE)
    lineup = varied(file)
    assert (lineup.name, lineup.reach, lineup.metric) == ("mine", 90, "character_error_rate")
    assert {name: len(runs) for name, runs in lineup.models.items()} == {"fixed vector": 2, "looks": 2}
    fixed, looks = (runs[0].config for runs in lineup.models.values())
    assert (fixed.model.preset, fixed.model.encoder.width, fixed.training.clip) == ("cho2014", 8, 3)
    assert (looks.model.attention.score, looks.model.encoder.width) == ("general", 8)
    assert fixed.training.minutes == looks.training.minutes == 0.5
    assert fixed.data == looks.data == load_config(tiny).data


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'score = "general"',
            'scor = "general"',
            "mine.toml, member 'looks': unknown setting 'model.attention.scor'",
        ),
        ("minutes = 0.5", "minutes = 0.5, steps = 3", "budget: Value error, a budget is one of"),
        ('"looks"', '"fixed vector"', "two members are called 'fixed vector'"),
        ("reach = 90", "reech = 90", "a comparison has no 'reech'. Did you mean 'reach'?"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_place(tiny: Path, before: str, after: str, said: str) -> None:
    file = tiny.with_name("mine.toml")
    file.write_text(FILE.replace(before, after))
    with pytest.raises(UserError) as refused:
        varied(file)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", comparisons())
def test_every_comparison_that_ships_has_settings_that_fit(name: str, tmp_path: Path) -> None:
    file = find_comparison(name)
    assert file is not None
    lineup = line_up([name], Wishes(), tmp_path)
    assert list(lineup.models) == [member.name for member in file.members]
    assert len(lineup.models) >= 5
