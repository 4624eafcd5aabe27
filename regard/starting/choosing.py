"""From what was seen in pairs to settings, each with its reason."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from regard.data import Spread, Survey
from regard.starting.sizes import SENTENCES, SPELT, Size, size_for
from regard.starting.writing import Sections, Setting
from regard.text import TOKENIZERS

MOST = {"validation": 1000, "test": 2000}  # pairs to split off
LONGEST_READ = 400  # pieces of a source that a summary is made of
LONG_WORD = 6  # characters, where no spaces stand between words
LEAST_STEPS, MOST_STEPS, LONGEST_WARMUP = 1000, 200_000, 4000
WITHOUT_SPACES = {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"}


@dataclass(frozen=True)
class Choice:
    task: str
    task_settings: Collection[str]  # the names that [task] may have
    data: Mapping[str, Any]  # what was asked of [data]
    languages: tuple[str | None, str | None]
    seen: Survey  # of the training pairs

    @cached_property
    def pairs(self) -> int:
        return max(1, self.seen.usable(identical=not self._identical().value))

    @property
    def is_summary(self) -> bool:
        return self.task == "summarise"

    @cached_property
    def is_spelt(self) -> bool:
        """Words and the like, whose answers are short enough to be spelt."""
        source, target = self.seen.source, self.seen.target
        if self.is_summary or target.words.mean >= 2 or target.characters.covering(0.99) > 32:
            return False
        if WITHOUT_SPACES & set(target.main_scripts):  # then a sentence looks like one long word
            return target.characters.mean < LONG_WORD and source.words.mean < 3
        return True

    @cached_property
    def size(self) -> Size:
        return size_for(self.pairs, SPELT if self.is_spelt else SENTENCES)

    @cached_property
    def is_shared(self) -> bool:
        """One vocabulary for both sides."""
        scripts = set(self.seen.source.main_scripts) & set(self.seen.target.main_scripts)
        return bool(scripts) and not self.is_spelt

    @cached_property
    def cut(self) -> "Cut":
        return cut(self.seen, vocabulary=self.size.vocabulary, shared=self.is_shared)

    def sizes(self) -> dict[str, int]:
        """How many pairs to split off."""
        return {
            part: max(1, min(most, self.pairs // 20)) for part, most in MOST.items() if part not in self.data
        }

    def sections(self, sizes: Mapping[str, int]) -> Sections:
        """With these many pairs to split off."""
        return {
            "task": self._task(),
            "data": [*self._files(), *self._splits(sizes), *self._lengths()],
            "data.filter": self._filter(),
            **(self._characters() if self.is_spelt else self._pieces()),
            **(self._recurrent() if self.is_spelt else self._transformer()),
            "training": self._training(),
            "search": self._search(),
            "evaluation": self._evaluation(),
        }

    def _task(self) -> list[Setting]:
        languages = zip(("source_language", "target_language"), self._languages(), strict=True)
        language = Setting(
            "language", "und", "Not in Latin letters: ROUGE takes those of any script for words."
        )
        return [
            Setting("name", self.task),
            *([language] if self.is_summary and not self._is_latin else []),
            *(Setting(name, code) for name, code in languages if code and name in self.task_settings),
        ]

    @property
    def _is_latin(self) -> bool:
        return "Latin" in self.seen.target.main_scripts or not self.seen.target.main_scripts

    @property
    def _is_without_spaces(self) -> bool:
        return bool(WITHOUT_SPACES & set(self.seen.target.main_scripts))

    def _languages(self) -> tuple[str | None, str | None]:
        """As asked, or as the two letters say that parallel files end with."""
        train = self.data["train"]
        first = train[0] if isinstance(train, list) else train
        if not isinstance(first, dict):
            return self.languages
        source, target = (
            PurePath(first[side].removesuffix(".gz")).suffix[1:] for side in ("source", "target")
        )
        if not all(re.fullmatch("[a-z]{2}", code, re.ASCII) for code in (source, target)):
            return self.languages
        return self.languages[0] or source, self.languages[1] or target

    def _files(self) -> list[Setting]:
        return [Setting(name, value) for name, value in self.data.items()]

    def _splits(self, sizes: Mapping[str, int]) -> list[Setting]:
        why = (
            "Split off so that the parts share nothing: 5 % of about {pairs:,} pairs, at most {most:,}, and no more "
            "than can be set apart."
        )
        return [
            Setting(f"{part}_size", size, why.format(pairs=self.pairs, most=MOST[part]))
            for part, size in sizes.items()
        ]

    def _lengths(self) -> list[Setting]:
        return (
            [*self._window(), *self._whole("target")] if self.is_summary else self._whole("source", "target")
        )

    def _window(self) -> list[Setting]:
        """What is read of sources: not all of the longest, for the sake of time."""
        pieces = self.cut.source
        most = min(LONGEST_READ, _tens(pieces.covering(0.999)))
        why = (
            f"Pieces. Half of the {len(self.seen.sample):,} sources that were cut on trial have at most "
            f"{pieces.covering(0.5):,}, the longest has {pieces.most:,}; at most {LONGEST_READ} are read, for time."
        )
        return [
            Setting("max_source", most, why),
            Setting("long_source", "first", "Of a longer one the first pieces are read; or last, or ends."),
        ]

    def _whole(self, *sides: str) -> list[Setting]:
        why = (
            "Pieces. 99.9 % of the {count:,} {side}s that were cut on trial have at most {usual:,}, the longest has "
            "{most:,}; rounded up to tens."
        )
        return [
            Setting(
                f"max_{side}",
                _tens(pieces.covering(0.999)),
                why.format(
                    count=len(self.seen.sample), side=side, usual=pieces.covering(0.999), most=pieces.most
                ),
            )
            for side, pieces in (("source", self.cut.source), ("target", self.cut.target))
            if side in sides
        ]

    def _filter(self) -> list[Setting]:
        seen = self.seen
        longest = max(side.characters.covering(0.999) for side in (seen.source, seen.target))
        uneven, word = seen.ratio.covering(0.99) / 10, seen.longest_word.covering(0.999)
        both = [
            Setting("empty", True, f"{seen.empty:,} of {seen.pairs:,} pairs have an empty side."),
            self._identical(),
            Setting("duplicates", True, f"{seen.duplicates:,} pairs came before."),
        ]
        if self.is_summary:  # its sides are meant to differ in length
            return both
        return [
            *both,
            Setting(
                "max_characters",
                _tens(2 * longest),
                f"99.9 % of the sides have at most {longest:,}; twice as many, rounded up to tens.",
            ),
            Setting(
                "max_ratio",
                round(max(3.0, 1.5 * uneven), 1),
                f"In 99 % of the pairs the longer side has at most {uneven} characters for each one of the shorter, "
                "plus 10; half as much again, and at least 3.",
            ),
            Setting(
                "max_word",
                max(40, _tens(2 * word)),
                f"In 99.9 % of the pairs the longest word has at most {word:,} characters; twice as many, and at "
                "least 40.",
            ),
            *(
                Setting(
                    f"{name}_scripts", side.main_scripts, f"Letters of the {name}s: {_shares(side.scripts)}."
                )
                for name, side in (("source", seen.source), ("target", seen.target))
                if side.main_scripts
            ),
        ]

    def _identical(self) -> Setting:
        count = f"{self.seen.identical:,} of {self.seen.pairs:,} pairs have the same text on both sides"
        if self.is_spelt:
            return Setting("identical", False, f"{count}: a short answer may be what was asked.")
        if self.seen.identical >= 0.1 * self.seen.pairs:
            return Setting("identical", False, f"{count}: so many seem to be meant.")
        return Setting("identical", True, f"{count}: they would teach to copy.")

    def _pieces(self) -> dict[str, list[Setting]]:
        why = f"For about {self.pairs:,} pairs: the fewer they are, the fewer pieces, so that each is seen often."
        pieces = [Setting("kind", "bpe"), Setting("vocabulary", self.size.vocabulary, why)]
        scripts = [", ".join(side.main_scripts) or "none" for side in (self.seen.source, self.seen.target)]
        found = "in one script" if self.is_shared else "in different scripts"
        shared = Setting("shared", self.is_shared, f"The sides are {found}: {' and '.join(scripts)}.")
        return {
            "text": [shared],
            "text.source": pieces,
            **({} if self.is_shared else {"text.target": pieces}),
        }

    def _characters(self) -> dict[str, list[Setting]]:
        why = "{count:,} different characters were seen; 4 special pieces more, rounded up to tens, at most 10,000."
        return {
            f"text.{name}": [
                Setting("kind", "characters", "The targets are short, so they are spelt."),
                Setting("vocabulary", min(10_000, _tens(side.alphabet + 4)), why.format(count=side.alphabet)),
            ]
            for name, side in (("source", self.seen.source), ("target", self.seen.target))
        }

    def _dropout(self) -> Setting:
        return Setting(
            "dropout",
            self.size.dropout,
            f"The fewer pairs, the more of it: {self.size.dropout} for about {self.pairs:,}.",
        )

    def _transformer(self) -> dict[str, list[Setting]]:
        why = f"For about {self.pairs:,} pairs: {self.size.why}."
        sections = {"model": [Setting("preset", self.size.preset, why), self._dropout()]}
        if self.size.layers is not None:
            layers = [Setting("layers", self.size.layers, "Half of the preset's: see there.")]
            sections |= {"model.encoder": layers, "model.decoder": layers}
        if self.is_summary and self.is_shared:
            why = "A summary can copy words of its source, those never seen in training too."
            sections["model.attention"] = [Setting("pointer", True, why)]
        return sections

    def _recurrent(self) -> dict[str, list[Setting]]:
        width = self.size.width
        assert width is not None, "a size for what is spelt has a width"
        layer = [
            Setting("cell", "gru"),
            Setting("width", width, f"For about {self.pairs:,} pairs: {self.size.why}."),
        ]
        return {
            "model": [
                Setting("embedding", width // 2, "Half of the width: characters are few."),
                self._dropout(),
            ],
            "model.encoder": [*layer, Setting("directions", "both")],
            "model.attention": [Setting("score", "additive")],
            "model.decoder": layer,
        }

    def _mean_pieces(self) -> float:
        """Of the longer side of a pair, as far as it is read."""
        longer = self.cut.longer
        return min(longer.mean, LONGEST_READ) if self.is_summary else longer.mean

    def _why_budget(self) -> str:
        more = " Long sources fill them, so four times as many as for sentences." if self.is_summary else ""
        return f"Pieces: the more pairs, the larger the batches.{more}"

    def _training(self) -> list[Setting]:
        size, pieces = self.size, self._mean_pieces() + 1
        budget = (4 if self.is_summary else 1) * size.batch_tokens
        batches = max(1, round(1.1 * pieces * self.pairs / budget))  # a tenth is padding, about
        in_a_step = max(1, round((size.step_tokens or 0) / budget))
        steps = min(MOST_STEPS, max(LEAST_STEPS, _nice(size.passes * batches / in_a_step)))
        settings = [
            Setting(
                "steps",
                steps,
                f"{size.passes} passes through about {self.pairs:,} pairs of {pieces:.1f} pieces, {batches:,} batches "
                f"each; at least {LEAST_STEPS:,} and at most {MOST_STEPS:,}.",
            ),
            Setting("batch_tokens", budget, self._why_budget()),
        ]
        if size.step_tokens:
            why = "As in Vaswani et al. 2017; several batches make a step."
            settings.append(Setting("step_tokens", size.step_tokens, why))
        why = "What goes with a model and a batch of this size. If the loss jumps, take half."
        settings.append(Setting("learning_rate", size.learning_rate, why))
        if not self.is_spelt:
            why = "As in Vaswani et al. 2017: the second forgets faster than Adam's default."
            settings.append(Setting("betas", [0.9, 0.98], why))
            why = "As in Vaswani et al. 2017: other answers may be right, too."
            settings.append(Setting("label_smoothing", 0.1, why))
        return [
            *settings,
            Setting("schedule", "cosine"),
            Setting(
                "warmup",
                min(LONGEST_WARMUP, steps // 5),
                f"A fifth of the steps, at most {LONGEST_WARMUP:,}.",
            ),
            Setting("validate_every", steps // 10, "Ten times in all."),
            Setting("save_every", steps // 10, "With every validation."),
            Setting(
                "metric",
                "exact_match"
                if self.is_spelt
                else "rouge_l"
                if self.is_summary and not self._is_without_spaces
                else "chrf",
                "Decides which checkpoint is the best.",
            ),
        ]

    def _search(self) -> list[Setting]:
        beam = (
            Setting("beam", 1, "Greedy: short answers need no more.")
            if self.is_spelt
            else Setting("beam", 5, "As in the recipes for Multi30k; more takes longer.")
        )
        usual = self.cut.target.covering(0.999)
        why = f"99.9 % of the targets have at most {usual:,} pieces; half as many again, rounded up to tens."
        settings = [beam, Setting("max_length", _tens(1.5 * usual), why)]
        if self.is_summary:
            settings.append(
                Setting("no_repeat", 3, "Pieces in a row that never come twice: summaries repeat.")
            )
        return settings

    def _evaluation(self) -> list[Setting]:
        if self.is_summary:
            usual = Setting("metrics", ["rouge_1", "rouge_2", "rouge_l"], "The usual ones for summaries.")
            other = Setting(
                "metrics", ["chrf"], "ROUGE counts words, and the targets have no spaces between them."
            )
            return [
                other if self._is_without_spaces else usual,
                Setting(
                    "traits",
                    ["perplexity", "novelty_1", "novelty_2", "length"],
                    "What summaries are like; novelty is the share of words, or pairs of them, that the source lacks.",
                ),
            ]
        if self.is_spelt:
            return [Setting("metrics", ["exact_match", "character_error_rate"], "For short answers.")]
        if self._is_without_spaces:
            why = "BLEU counts words, and the targets have no spaces between them."
            return [Setting("metrics", ["chrf"], why)]
        return [Setting("metrics", ["bleu", "chrf"], "The usual ones for sentences.")]


@dataclass(frozen=True)
class Cut:
    """How many pieces a sample of the texts has."""

    source: Spread
    target: Spread
    longer: Spread  # of the two sides of a pair


def cut(seen: Survey, *, vocabulary: int | None, shared: bool) -> Cut:
    """Into BPE pieces that are learned from the sample itself; without a vocabulary, into characters."""
    sources, targets = [pair.source for pair in seen.sample], [pair.target for pair in seen.sample]
    if vocabulary is None:
        lengths = [(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
    else:
        learn = TOKENIZERS["bpe"]
        source = learn([*sources, *targets] if shared else sources, vocabulary=vocabulary)
        target = source if shared else learn(targets, vocabulary=vocabulary)
        rows = zip(source.encode_many(sources), target.encode_many(targets), strict=True)
        lengths = [(len(one), len(other)) for one, other in rows]
    return Cut(
        Spread(Counter(one for one, _ in lengths)),
        Spread(Counter(other for _, other in lengths)),
        Spread(Counter(map(max, lengths))),
    )


def _shares(scripts: Mapping[str, float]) -> str:
    return ", ".join(f"{share:.1%} {script}" for script, share in scripts.items() if share >= 0.001)


def _tens(number: float) -> int:
    return max(10, -(-int(number) // 10) * 10)


def _nice(number: float) -> int:
    """Two figures and zeros."""
    return int(float(f"{number:.1e}"))
