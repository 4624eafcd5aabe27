"""CTranslate2 as an engine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ctranslate2
import numpy as np
import torch

from regard.core.cores import cores
from regard.core.errors import UserError, did_you_mean
from regard.core.pieces import END
from regard.data import in_order
from regard.engines.folders import Export
from regard.search import RANKS, Found, Hypothesis, Question, SearchPlan
from regard.search.stepper import check_numbers
from regard.tasks.text import Row

PATIENCE = (
    2  # hypotheses that end before a search does, for each of the beam: more of them change next to no answer
)
TOLD = 32  # answers that are scored at a time: each step of each has a number for every piece
FEW = 32  # sources in a batch: fewer cost more for each
FEW_UNROUNDED = 64  # the same where numbers are not rounded to 8 bits
LEAST = -1e30  # worse scores are of hypotheses that are none: a beam as wide as a small vocabulary has some


Bound = tuple[int, ...] | None  # None: everything was allowed


@dataclass(frozen=True)
class _Asked:
    row: Sequence[int]
    question: Question


@dataclass(frozen=True)
class _Batch:
    """Questions that are searched for together."""

    numbers: Sequence[int]
    limit: int
    least: int
    patient: bool  # many hypotheses have to end before the search does


class CTranslate2:
    """Searches on all cores: each worker has a thread and takes a batch of its own.

    Which hypotheses live is the same as in Regard's own search, and so is how they are ranked.
    """

    name = "ctranslate2"

    def __init__(
        self,
        export: Export,
        *,
        source: Sequence[str],
        target: Sequence[str],
        batch_tokens: int,
        device: torch.device,
        compute_type: str | None = None,
        workers: int | None = None,
    ):
        """`source` and `target` are the names of the pieces. Without a `compute_type` it is as exported."""
        self.workers = (cores() if device.type == "cpu" else 1) if workers is None else workers
        try:
            self.parameters = int(export.facts["parameters"])
            self._places: int | None = export.facts["places"]
        except KeyError as error:
            raise export.unreadable(f"it does not tell its {error.args[0]}") from error
        except (TypeError, ValueError) as error:
            raise export.unreadable(f"it does not tell how many parameters it has: {error}") from error
        self._source = list(source)
        self._target = {name: number for number, name in enumerate(target)}
        self.batch_tokens = batch_tokens
        known = ctranslate2.get_supported_compute_types(device.type)
        if compute_type is not None and compute_type not in known:
            raise UserError(
                f"CTranslate2 does not compute in {compute_type!r} here.{did_you_mean(compute_type, known)}"
            )
        try:
            self._translator = ctranslate2.Translator(
                str(export.files),
                device=device.type,
                device_index=device.index or 0,
                compute_type=compute_type or "default",
                inter_threads=self.workers,
                intra_threads=1,
            )
        except (RuntimeError, IndexError, ValueError) as error:
            raise export.unreadable(str(error)) from error
        self._few = FEW if "int8" in self._translator.compute_type else FEW_UNROUNDED

    def refusal(self, plan: SearchPlan) -> str | None:
        reasons = {
            "draws no samples": plan.draw is not None,
            "keeps no tree of a beam": plan.record,
            "has no groups of a beam": plan.groups.count > 1,
            "has no coverage penalty like Regard's": plan.coverage > 0,
            "has no threshold for the end": plan.end_threshold > 0,
            "tells no likeliest pieces": plan.likeliest > 0,
        }
        return next((reason for reason, is_so in reasons.items() if is_so), None)

    def beyond(self, read: Row, question: Question, plan: SearchPlan) -> str | None:
        longest = max(plan.limit(question), len(read.ids))
        if self._places is None or longest <= self._places:
            return None
        return (
            f"CTranslate2 was given {self._places} positions of this model, but {longest} pieces may stand in a "
            "row. Lower max_length, shorten the text, or take the native engine"
        )

    def __call__(
        self, reads: Sequence[Row], questions: Sequence[Question], plan: SearchPlan
    ) -> Iterator[tuple[int, Found]]:
        asked = [_Asked(read.ids, question) for read, question in zip(reads, questions, strict=True)]
        limits = [plan.limit(question) for question in questions]
        again = []
        for number, found in self._search(asked, plan, self._batches(asked, plan, limits)):
            if _is_open(found, plan) or _longest(found) > limits[number]:
                again.append(number)
            else:
                yield number, _best(found, plan)
        for number, found in self._search(asked, plan, self._own_batches(asked, plan, limits, again)):
            yield number, _best(found, plan)

    def _batches(self, asked: Sequence[_Asked], plan: SearchPlan, limits: Sequence[int]) -> Iterator[_Batch]:
        """By length, so that little is padded; as many for each worker."""
        for least in sorted({plan.least(one.question) for one in asked}):
            numbers = [n for n, one in enumerate(asked) if plan.least(one.question) == least]
            lengths = np.array([len(asked[n].row) for n in numbers], dtype=np.int64)
            budget = max(1, self.batch_tokens // plan.rows)
            for batch in in_order(lengths, budget, among=self.workers, few=self._few):
                some = [numbers[place] for place in batch]
                yield _Batch(some, max(limits[n] for n in some), least, _is_patient(plan))

    def _own_batches(
        self, asked: Sequence[_Asked], plan: SearchPlan, limits: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[_Batch]:
        """For those whose first batch went further than they may, or stopped at an unfinished one too early."""
        groups: dict[tuple[int, int], list[int]] = {}
        for n in numbers:
            groups.setdefault((limits[n], plan.least(asked[n].question)), []).append(n)
        for (limit, least), some in groups.items():
            yield _Batch(some, limit, least, patient=plan.rows > 1)

    def _search(
        self, asked: Sequence[_Asked], plan: SearchPlan, batches: Iterable[_Batch]
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """All hypotheses that ended, of each question by its number.

        Later batches are still searched for meanwhile, but where answers have to be scored again.
        """
        waiting = []
        for batch in batches:
            rows = [self._names(asked[n].row) for n in batch.numbers]
            waiting.append((batch, rows, self._translate(rows, plan, batch)))
        for batch, rows, results in waiting:
            answers = self._hypotheses([result.result() for result in results], plan)
            if plan.no_repeat or batch.least or not plan.unknown:
                answers = self._rescored(rows, answers, plan, batch.least)
            yield from zip(batch.numbers, answers, strict=True)

    def _names(self, row: Sequence[int]) -> list[str]:
        return [self._source[piece] for piece in row]

    def _translate(self, rows: list[list[str]], plan: SearchPlan, batch: _Batch) -> Any:
        """Begins to search."""
        return self._translator.translate_batch(
            rows,
            asynchronous=True,
            beam_size=plan.rows,
            num_hypotheses=PATIENCE * plan.rows if batch.patient else 1,
            patience=PATIENCE if batch.patient else 1,
            length_penalty=0,  # it gives log-probabilities: Regard ranks them itself
            no_repeat_ngram_size=plan.no_repeat,
            disable_unk=not plan.unknown,
            max_input_length=0,
            max_decoding_length=batch.limit,
            min_decoding_length=batch.least,
            return_scores=True,
            return_end_token=True,
        )

    def _hypotheses(self, results: Sequence[Any], plan: SearchPlan) -> list[list[Hypothesis]]:
        check_numbers([score for result in results for score in result.scores])
        return _ranked(
            [
                [
                    (tuple(self._target[name] for name in names), score)
                    for names, score in zip(result.hypotheses, result.scores, strict=True)
                    if score > LEAST
                ]
                for result in results
            ],
            plan,
        )

    def _rescored(
        self, rows: list[list[str]], answers: list[list[Hypothesis]], plan: SearchPlan, least: int
    ) -> list[list[Hypothesis]]:
        """With the model's own log-probabilities: CTranslate2 shares out those of what may not come.

        Where that was the end alone, hypotheses that begin alike gained the same by it: one of them tells.
        """
        names = list(self._target)
        asked: dict[tuple[int, Bound], Hypothesis] = {}
        for number, some in enumerate(answers):
            for one in some:
                asked.setdefault((number, _bound(one.tokens, plan, least)), one)
        asked = {key: one for key, one in asked.items() if key[1] is not None}
        told = [[names[token] for token in one.tokens if token != END] for one in asked.values()]
        scored = self._translator.score_batch(
            [rows[number] for number, _ in asked], told, max_input_length=0, max_batch_size=TOLD
        )
        gained: dict[tuple[int, Bound], float] = {
            key: one.score - sum(result.log_probs[: len(one.tokens)])
            for (key, one), result in zip(asked.items(), scored, strict=True)
        }

        def own(one: Hypothesis, number: int) -> float:
            return one.score - gained.get((number, _bound(one.tokens, plan, least)), 0.0)

        return _ranked(
            [[(one.tokens, own(one, number)) for one in some] for number, some in enumerate(answers)], plan
        )


def _bound(tokens: tuple[int, ...], plan: SearchPlan, least: int) -> Bound:
    """The part of an answer on which it depends what was not allowed."""
    if not plan.unknown or (plan.no_repeat and _was_bound(tokens, plan.no_repeat)):
        return tokens
    return tokens[: least - 1] if least else None


def _was_bound(tokens: Sequence[int], no_repeat: int) -> bool:
    """Whether some piece was not allowed on the way: something came twice, so what had followed it could not."""
    size = no_repeat - 1
    begun = [tuple(tokens[start : start + size]) for start in range(len(tokens) - size)]
    return len(set(begun)) < len(begun)


def _ranked(
    answers: Sequence[Sequence[tuple[tuple[int, ...], float]]], plan: SearchPlan
) -> list[list[Hypothesis]]:
    """Of each question, from pieces and their log-probability."""
    every = [one for some in answers for one in some]
    scores = torch.tensor([score for _, score in every], dtype=torch.float64)
    lengths = torch.tensor([len(tokens) for tokens, _ in every], dtype=torch.float64)
    ranks = iter(RANKS[plan.penalty](plan.length_penalty)(scores, lengths).tolist())
    return [
        [Hypothesis(tokens, score, next(ranks), tokens[-1] == END, {}) for tokens, score in some]
        for some in answers
    ]


def _is_patient(plan: SearchPlan) -> bool:
    """Where ranks are log-probabilities and one answer is wanted, the first to lead is the answer."""
    return plan.rows > 1 and (plan.length_penalty > 0 or plan.best > 1)


def _is_open(hypotheses: Sequence[Hypothesis], plan: SearchPlan) -> bool:
    """One that was cut off led alone: those that finished come before it, but were not given."""
    return plan.rows > 1 and not _is_patient(plan) and not any(one.finished for one in hypotheses)


def _longest(hypotheses: Iterable[Hypothesis]) -> int:
    return max((len(one.tokens) for one in hypotheses), default=0)


def _best(hypotheses: Iterable[Hypothesis], plan: SearchPlan) -> Found:
    """Finished ones first, then by rank."""
    order = sorted(hypotheses, key=lambda one: (not one.finished, -one.rank))
    return Found(tuple(order[: plan.best]))
