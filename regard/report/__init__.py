"""An evaluation as one page: scores, comparison, quality by kind of source, learning, sentences with attention."""

from pathlib import Path

from regard.card import languages, parts
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.evaluation import Evaluation, frequency_label, length_label
from regard.metrics import RESAMPLES, TRIALS
from regard.report import layout
from regard.report.layout import section
from regard.report.sentences import sentences
from regard.report.tables import against_table, beside_table, part_table, score_cards
from regard.run import Run, find_model
from regard.training.recording import read_metrics
from regard.viewing.page_charts import learning_charts
from regard.viewing.standalone import spoken

SHOWN = 6  # of the worst and of the typical sentences


def save_report(evaluation: Evaluation, path: str | Path) -> Path:
    path = Path(path)
    page = report(evaluation)
    try:
        write_whole(path, page)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"{path}: cannot write here ({reason}). Choose another place.") from error
    return path


def report(evaluation: Evaluation) -> str:
    """The whole page. Texts of the data and the model enter escaped, never as markup; nothing is fetched."""
    return layout.page(
        "Evaluation",
        evaluation.name,
        _summary(evaluation),
        _sections(evaluation),
        parts=_parts(evaluation),
    )


def _sections(evaluation: Evaluation) -> list[str]:
    found = [section("Scores", score_cards(evaluation.scores.values()), _ABOUT_SCORES)]
    if evaluation.alignment:
        found.append(section("Alignment", score_cards(evaluation.alignment.values())))
    if evaluation.beside:
        found.append(section("Beside simple answers", beside_table(evaluation.beside), _ABOUT_BESIDE))
    if against := evaluation.against:
        table = against_table(against.comparisons.values(), evaluation.name, against.name)
        found.append(section("Beside another run", table, _ABOUT_P))
    if evaluation.by_direction:
        by_direction = part_table(evaluation.by_direction, str, "direction", "direction")
        found.append(section("By direction", by_direction, _ABOUT_BUCKETS))
    if len(evaluation.by_length) > 1:  # pictures, say, are all as long
        by_length = part_table(evaluation.by_length, length_label, "source", "source length")
        found.append(section("By source length", by_length, _ABOUT_BUCKETS))
    if len(evaluation.by_frequency) > 1:
        by_frequency = part_table(
            evaluation.by_frequency, frequency_label, "source", "frequency of source words"
        )
        found.append(section("By frequency of source words", by_frequency, _ABOUT_FREQUENCY))
    if charts := learning_charts(list(read_metrics(Run(evaluation.path).metrics_path))):
        found.append(
            section("Learning", charts, "Over the steps of the training; the numbers are the last ones.")
        )
    for name, about, cards in sentences(evaluation, count=SHOWN):
        found.append(section(name, cards, about))
    return found


_ABOUT_SCORES = (
    f"The interval holds 95 % of {RESAMPLES:,} bootstrap resamples of the sentences: what another test set of this "
    "kind and size would plausibly give. ↑ higher is better, ↓ lower is better."
)
_ABOUT_BESIDE = (
    "What the answers are like, and what answers without a model score on the same sources. Novelty is the share of "
    "word sequences that the source does not have; length is in words."
)
_ABOUT_P = (
    "p is how often chance alone makes a difference this large: the answers of both runs are swapped sentence by "
    f"sentence by the toss of a coin, {TRIALS:,} times. At most 0.05 is the usual bound."
)
_ABOUT_BUCKETS = "A bar is as long as its value beside the largest of its column."
_ABOUT_FREQUENCY = (
    f"By how often the rarest word of the source stands in the training sources. {_ABOUT_BUCKETS}"
)


def _summary(evaluation: Evaluation) -> str:
    config = evaluation.config
    return (
        f"{config.task.name.capitalize()}{languages(config)} · {len(evaluation.requests):,} {evaluation.split} pairs "
        f"· {evaluation.search.told}"
    )


def _parts(evaluation: Evaluation) -> str:
    made = parts(evaluation.config, find_model(evaluation.path).averaged())
    return "".join(
        f"<div><dt>{spoken(part)}</dt><dd>{spoken(what)}</dd></div>" for part, what in made.items()
    )
