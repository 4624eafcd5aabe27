"""A whole configuration, and what its sections ask of each other."""

from collections.abc import Mapping
from typing import Any

import tomli_w
from pydantic import Field, model_validator

from regard.config.data import (
    Captions,
    Data,
    Dates,
    Filter,
    Forecast,
    Multilingual,
    Task,
    Text,
    Translation,
)
from regard.config.fields import Settings
from regard.config.model import Model
from regard.config.parts import NO_ATTENTION, PictureEncoder, StreamDecoder
from regard.config.training import Evaluation, Search, Training
from regard.metrics import METRICS

# What a task is about changes what is usual; a file says otherwise where it wants to.
USUAL: dict[str, dict[str, dict[str, Any]]] = {
    "summarise": {
        "data": {"long_source": "first"},
        "search": {"no_repeat": 3},
        "evaluation": {
            "metrics": ["rouge_1", "rouge_2", "rouge_l"],
            "traits": ["perplexity", "novelty_1", "novelty_2", "length"],
        },
    },
    "captions": {
        "data": {"max_target": 50},
        "model": {"encoder": {"kind": "picture"}},
        "evaluation": {
            "metrics": [
                "caption_bleu_1",
                "caption_bleu_2",
                "caption_bleu_3",
                "caption_bleu_4",
                "cider",
                "rouge_l",
            ]
        },
    },
    "forecast": {"evaluation": {"metrics": ["ade", "fde"]}},
}


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings over others, section by section."""
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = laid_over(merged[key], value) if nested else value
    return merged


class Origin(Settings):
    """The run whose model a training began with; `regard train --from` writes it."""

    run: str
    weights: str = Field(description="Fingerprint of the file that it began with.")


class Config(Settings):
    """A whole configuration: enough to train again."""

    task: Task = Dates()
    data: Data = Data()
    text: Text = Text()
    model: Model = Model()
    training: Training = Training()
    search: Search = Search()
    evaluation: Evaluation = Evaluation()
    origin: Origin | None = None

    @model_validator(mode="before")
    @classmethod
    def _as_usual(cls, given: Any) -> Any:
        task = given.get("task") if isinstance(given, dict) else None
        name = task.get("name") if isinstance(task, dict) else None
        laid = {} if not isinstance(name, str) else USUAL.get(name, {})
        return laid_over(laid, given) if laid else given

    @property
    def longest(self) -> int:
        """Positions that can come up: tags and pieces of a source, or pieces of an answer, and the end mark."""
        source, target = self.tags + self.data.max_source, max(self.data.max_target, self.search.max_length)
        if isinstance(self.model.decoder, StreamDecoder):
            return 2 + source + target
        return 1 + max(source, target)

    @property
    def tags(self) -> int:
        """How many can stand before a source: the language that is asked for, and a mark."""
        if not isinstance(self.task, Multilingual):
            return 0
        return 2 if any(corpus.mark for corpus in self.task.corpora) else 1

    def kind_of(self, side: str) -> str:
        """What stands on a side (source, target or context): pieces, points or a picture."""
        if isinstance(self.task, Forecast):
            return "points"
        return "picture" if isinstance(self.task, Captions) and side == "source" else "pieces"

    @property
    def directions(self) -> list[tuple[str, str]]:
        """Source and target languages that it is trained or scored on; none where languages have no part in it."""
        return self.task.directions if isinstance(self.task, Translation | Multilingual) else []

    @property
    def has_context(self) -> bool:
        """Whether something stands beside the source."""
        task = self.task
        if not isinstance(task, Forecast):
            return False
        if task.context is not None:
            return task.context
        if self.data.train is not None:
            return bool(task.beside)
        return task.scene is None and task.made == "arms"

    @model_validator(mode="after")
    def _encoder_reads_the_source(self) -> "Config":
        reads_pictures = isinstance(self.model.encoder, PictureEncoder)
        if self.kind_of("source") == "picture" and not reads_pictures:
            raise ValueError(
                f"a {self.model.encoder.kind} encoder reads no pictures, which are the sources of the task "
                f"{self.task.name}. Set model.encoder.kind to picture, or take the preset xu2015_soft"
            )
        if self.kind_of("source") != "picture" and reads_pictures:
            raise ValueError(
                f"the picture encoder is for the task captions; the sources of {self.task.name} are none. Take another "
                "model.encoder.kind or model.preset"
            )
        if self.has_context and self.model.decoder.kind in ("stream", "convolutional"):
            raise ValueError(
                f"a {self.model.decoder.kind} decoder has no look at the context beside a series. Take a recurrent or "
                "transformer decoder, or set task.context to false"
            )
        return self

    @model_validator(mode="after")
    def _answers_are_pieces(self) -> "Config":
        if self.kind_of("target") == "points" and (self.model.tie != "none" or self.model.attention.pointer):
            raise ValueError(
                "points have no table to tie and cannot be copied: leave out model.tie and pointer"
            )
        return self

    @model_validator(mode="after")
    def _pairs_are_given(self) -> "Config":
        if self.task.name in ("translation", "summarise") and self.data.train is None:
            raise ValueError(
                f"data.train is missing: the task {self.task.name} learns from pairs of your own. Give a file, such "
                "as data.train = 'pairs.tsv', or two parallel ones: data.train = {source = 'a.en', target = 'a.de'}"
            )
        given = [name for name in ("train", "validation", "test") if getattr(self.data, name) is not None]
        if self.task.name == "multilingual" and given:
            raise ValueError(
                f"data.{given[0]} is not for the task multilingual: its corpora name their own files"
            )
        if isinstance(self.task, Captions) and given:
            raise ValueError(
                f"data.{given[0]} is not for the task captions: task.folder names images with their captions"
            )
        if isinstance(self.task, Forecast) and given:
            if self.task.scene is not None:
                raise ValueError(
                    f"task.scene is {self.task.scene}, one of the pedestrians, but data.{given[0]} names other tracks. "
                    "Leave one of them out"
                )
            if self.data.train is None:
                raise ValueError(f"data.{given[0]} is given without data.train. Give the training tracks too")
        return self

    @model_validator(mode="after")
    def _series_are_read_whole(self) -> "Config":
        """What is about lines and pieces would not be heeded."""
        if not isinstance(self.task, Forecast):
            return self
        data, task = self.data, self.task
        unheeded = {
            "on_bad_line": data.on_bad_line != "stop",
            "filter": data.filter != Filter(),
            "long_source": data.long_source not in ("leave_out", "last"),
        }
        if chosen := [name for name, is_so in unheeded.items() if is_so]:
            raise ValueError(
                f"data.{chosen[0]} is about lines of text. Leave it out for the task forecast: a table with a mistake "
                "is refused, and of a series that is too long the last points are read"
            )
        if data.train is not None or task.scene is not None:
            lengths = {"observed": data.max_source, "predicted": data.max_target}
            for name, most in lengths.items():
                if getattr(task, name) > most:
                    limit = "data.max_source" if name == "observed" else "data.max_target"
                    raise ValueError(
                        f"task.{name} is {getattr(task, name)}, but {limit} lets {most} points be read. Raise it too"
                    )
        return self

    @model_validator(mode="after")
    def _pictures_are_no_sentences(self) -> "Config":
        """What is about the text of a source would be asked of a path, or not be heeded."""
        if self.kind_of("source") != "picture":
            return self
        filters, pieces = self.data.filter, self.text.target
        about_both = ("identical", "max_characters", "max_ratio", "max_word", "source_scripts")
        chosen = [f"data.filter.{name}" for name in about_both if getattr(filters, name)]
        chosen += [f"text.target.{name}" for name in ("dropout", "sampling") if getattr(pieces, name)]
        if chosen:
            raise ValueError(
                f"{chosen[0]} is for sources that are texts. Leave it out for the task {self.task.name}: its sources "
                "are pictures, and captions are cut the same way each time"
            )
        return self

    @model_validator(mode="after")
    def _pairs_are_of_sentences(self) -> "Config":
        if self.data.split_by is not None and self.task.name != "translation":
            raise ValueError(
                "data.split_by is for translation: dates are split by date and pronunciations by word. "
                f"Leave it out for the task {self.task.name}"
            )
        if self.data.columns is not None and self.task.name == "pronounce":
            raise ValueError(
                "data.columns is for lines with tabs, but the lines of a dictionary are a word and its phonemes. "
                "Leave it out for the task pronounce"
            )
        return self

    @model_validator(mode="after")
    def _languages_are_several(self) -> "Config":
        if self.text.by_language and self.task.name != "multilingual":
            raise ValueError(
                "text.by_language is for the task multilingual: other tasks have one language of targets. Leave it out"
            )
        return self

    @model_validator(mode="after")
    def _draws_can_be_learned_from(self) -> "Config":
        if self.model.attention.selection == "hard" and self.training.feeding not in ("teacher", "two_pass"):
            raise ValueError(
                "the hard selection learns from its draws over a whole unrolled target, so training.feeding must "
                "be teacher or two_pass. Take the nearest selection to train with the model's own pieces"
            )
        return self

    @model_validator(mode="after")
    def _answers_can_be_rewarded(self) -> "Config":
        if self.training.reward and self.kind_of("target") == "points":
            raise ValueError(
                "training.reward compares the pieces of answers, but the targets of the task "
                f"{self.task.name} are points. Leave it out"
            )
        return self

    @model_validator(mode="after")
    def _source_can_be_said(self) -> "Config":
        if self.kind_of("source") == "picture" and self.model.attention.pointer:
            raise ValueError(
                "model.attention.pointer copies pieces of the source into the answer, but the sources of the task "
                f"{self.task.name} are pictures. Leave it out"
            )
        if self.model.attention.pointer and not self.text.shared:
            raise ValueError(
                "model.attention.pointer copies pieces of the source into the answer, so both sides must be cut "
                "into the same pieces. Set text.shared to true"
            )
        about_looks = {
            "training.coverage": self.training.coverage,
            "training.doubly_stochastic": self.training.doubly_stochastic,
            "search.coverage": self.search.coverage,
        }
        for name, weight in about_looks.items():
            if weight and self.model.attention.score == NO_ATTENTION:
                raise ValueError(f"{name} is about attention, but the model has none (score none)")
        return self

    @model_validator(mode="after")
    def _answers_can_be_scored(self) -> "Config":
        chosen = {"evaluation.metrics": self.evaluation.metrics, "training.metric": [self.training.metric]}
        for setting, names in chosen.items():
            for name in names:
                if name in METRICS and (reason := self.unfit(name)):
                    raise ValueError(f"{setting}: {reason}")
        return self

    def unfit(self, metric: str) -> str | None:
        """Why a metric cannot judge the answers, if it cannot."""
        needed, given = METRICS[metric].answers, "points" if self.kind_of("target") == "points" else "texts"
        if needed == given:
            return None
        return f"{metric} is about {needed}, but the answers of the task {self.task.name} are {given}"

    @model_validator(mode="after")
    def _positions_are_known(self) -> "Config":
        look = self.model.attention
        if (
            look.score in ("location", "position")
            and look.longest is not None
            and look.longest < self.longest
        ):
            raise ValueError(
                f"model.attention.longest is {look.longest}, but data.max_source, data.max_target and "
                f"search.max_length let {self.longest} positions come up. Raise it, leave it out, or lower those"
            )
        return self

    @model_validator(mode="after")
    def _tables_fit(self) -> "Config":
        if self.kind_of("source") == "picture" and self.model.tie == "all" and self.text.shared:
            raise ValueError(
                f'model.tie = "all" shares one table of pieces with the source, but the sources of the task '
                f'{self.task.name} are pictures. Set model.tie = "output"'
            )
        source, target = self.model.pieces_width("encoder"), self.model.pieces_width("decoder")
        if self.model.tie == "all" and self.text.shared and source != target:
            raise ValueError(
                f'model.tie = "all" shares one table of pieces, but their vectors are {source} wide in the encoder '
                f'and {target} in the decoder. Make them equal, or set model.tie = "output"'
            )
        return self

    def to_toml(self) -> str:
        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))
