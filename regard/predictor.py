"""load(run) -> predict(inputs) -> predictions."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Unpack, overload

import numpy as np
import torch

from regard import build
from regard.config import NO_ATTENTION
from regard.core.batch import Source, Tokens
from regard.core.cores import check_workers
from regard.core.errors import TooLongError, UserError, did_you_mean
from regard.core.kinds import AT_SOURCE, CROSS, KINDS, NOTHING, member_kind
from regard.core.memory import Memory
from regard.core.prediction import Prediction, Request
from regard.data import in_order
from regard.engines import ENGINES, Engine, find_export, load_engine
from regard.layers import pack, round_to_int8, with_narrow_head
from regard.metrics import UTILITIES, expected
from regard.models import Seq2Seq
from regard.run import find_model
from regard.search import (
    NOBODY,
    SPACES,
    Finder,
    Options,
    Question,
    Shortened,
    Shortlist,
    ShortStepper,
    Stepper,
    Watch,
    everyone,
)
from regard.tasks.codec import Codec, Read
from regard.tasks.unknowns import Copying, read_dictionary

GIVEN_UP = "nobody waits for it any more"
NATIVE = ENGINES[0]
LEAVE_OUT = "Take the native engine for that."
RECORDS = {"cross": AT_SOURCE, "all": KINDS, "none": NOTHING}
COMPUTE_TYPES: dict[str, Callable[[Seq2Seq], None]] = {"float32": pack, "int8": round_to_int8}  # on a CPU


def load(
    *paths: str | Path,
    device: str = "auto",
    space: str = "probability",
    copy_unknown: bool = False,
    dictionary: str | Path | None = None,
    engine: str | None = None,
    compute_type: str | None = None,
    shortlist: bool = False,
    workers: int | None = None,
) -> "Predictor":
    """A trained model from its run folder (or from a `model/` folder on its own, or one that was exported).

    Several become an ensemble, whose probabilities are averaged, or whose log-probabilities
    (`space="log"`). The first says how to search. With `copy_unknown`, or with a `dictionary` (a file with
    `source word<TAB>target word` in each line), unknown words are copied from where the model looked.

    With the `compute_type` "int8" instead of "float32" matrices are rounded to whole numbers of 8 bits: faster on a
    CPU, with scores that are a little off. With `shortlist` answers are searched among the pieces that the source's own
    probably become: `regard shortlist` has learned which.

    `engine="ctranslate2"` answers faster and records no attention. It has so many `workers`, each with a thread and a
    batch of its own: one for each core, if that is left out. An exported model has its own engine. For several
    processes of the native engine see `regard.crowd`.
    """
    check_workers(workers)
    if not paths:
        raise UserError("Nothing to load: give a run folder, such as runs/dates.")
    chosen = _engine(paths, engine)
    if chosen != NATIVE:
        if shortlist:
            raise UserError(f"The {chosen} engine has no shortlist. {LEAVE_OUT}")
        if len(paths) > 1 or copy_unknown or dictionary is not None:
            raise UserError(
                f"The {chosen} engine runs one model by itself and does not tell where it looked: no ensemble, and "
                f"nothing to copy unknown words by. {LEAVE_OUT}"
            )
        return _run_by(chosen, paths[0], build.device(device), compute_type, workers)
    computing = _computing(compute_type, build.device(device))
    if space not in SPACES:
        raise UserError(f"There is no space {space!r} to average in.{did_you_mean(space, SPACES)}")
    models, codecs = [], []
    for path in paths:
        folder = find_model(path)
        config = folder.config()
        codecs.append(build.load_codec(config, folder))
        models.append(build.load_model(config, folder, codecs[-1]).eval())
        computing(models[-1])
        if type(codecs[-1]) is not type(codecs[0]) or not codecs[-1].agrees(codecs[0]):
            raise UserError(
                f"{path} and {paths[0]} have other pieces or measures: models answer together only with the same "
                "tokenizers, or the same scaling of points. Train one with the other's data and text settings."
            )
    first = find_model(paths[0]).config()
    codec = codecs[0]
    if copy_unknown or dictionary is not None:
        if first.model.attention.score == NO_ATTENTION:
            raise UserError(
                f"{paths[0]} has no attention that would tell which word to copy. Leave out copy_unknown and the "
                "dictionary."
            )
        words = {} if dictionary is None else read_dictionary(Path(dictionary))
        codec = codec.copying_unknown(Copying(words))
    short = build.load_shortlist(find_model(paths[0]), models, codec) if shortlist else None
    return Predictor(
        models,
        codec,
        search=build.search_plan(first),
        batch_tokens=first.evaluation.batch_tokens,
        device=build.device(device),
        space=space,
        shortlist=short,
    )


@dataclass(frozen=True)
class Asked:
    """A source that was read, and what a search has to know of it."""

    read: Read
    question: Question


def _engine(paths: Sequence[str | Path], asked: str | None) -> str:
    if asked is not None and asked not in ENGINES:
        raise UserError(f"There is no engine {asked!r}.{did_you_mean(asked, ENGINES)}")
    exported = next((found for path in paths if (found := find_export(path))), None)
    if exported is not None and exported.to not in ENGINES:
        raise UserError(
            f"{exported.folder} was exported to {exported.to}, for programs of your own: see docs/engines.md."
        )
    if exported is not None and asked == NATIVE:
        raise UserError(
            f"{exported.folder} was exported to {exported.to}. Give the run itself for the native engine."
        )
    return asked or (exported.to if exported else NATIVE)


def _computing(asked: str | None, device: torch.device) -> Callable[[Seq2Seq], None]:
    """What makes a model compute in the type asked for."""
    kind = asked or "float32"
    if kind not in COMPUTE_TYPES:
        raise UserError(f"The native engine does not compute in {kind!r}.{did_you_mean(kind, COMPUTE_TYPES)}")
    if device.type == "cpu":
        return COMPUTE_TYPES[kind]
    if kind != "float32":
        raise UserError(
            f"The native engine computes in {kind} on a CPU alone. Take --device cpu, or leave it out."
        )
    return lambda model: None


def _run_by(
    engine: str, path: str | Path, device: torch.device, compute_type: str | None, workers: int | None
) -> "Predictor":
    loaded = load_engine(path, engine, device=device, compute_type=compute_type, workers=workers)
    return Predictor(
        [],
        loaded.codec,
        search=build.search_plan(loaded.config),
        batch_tokens=loaded.config.evaluation.batch_tokens,
        device=device,
        engine=loaded.engine,
    )


class Predictor:
    """Answers sources with a model, with several as one, or with an engine that stands for model and search.

    What it answers to one source does not depend on what else it is asked.
    """

    def __init__(
        self,
        models: Sequence[Seq2Seq],
        codec: Codec,
        *,
        search: Finder,
        batch_tokens: int,
        device: torch.device,
        space: str = "probability",
        engine: Engine | None = None,
        shortlist: Shortlist | None = None,
    ):
        self.models = [model.to(device) for model in models]
        self.codec = codec
        self.search = search
        self.batch_tokens = batch_tokens
        self.device = device
        self.space = space
        self.engine = engine
        self.shortlist = shortlist.to(device) if shortlist is not None else None

    @property
    def parameters(self) -> int:
        """Numbers that were learned."""
        if self.engine is not None:
            return self.engine.parameters
        return sum(one.numel() for model in self.models for one in model.parameters())

    @overload  # to a type checker a str is texts too; at run time the first overload wins
    def predict(  # type: ignore[overload-overlap]
        self,
        inputs: str | Request,
        *,
        attention: str | None = None,
        mbr: str | None = None,
        **options: Unpack[Options],
    ) -> Prediction: ...
    @overload
    def predict(
        self,
        inputs: Iterable[str | Request],
        *,
        attention: str | None = None,
        mbr: str | None = None,
        **options: Unpack[Options],
    ) -> list[Prediction]: ...

    def predict(
        self,
        inputs: str | Request | Iterable[str | Request],
        *,
        attention: str | None = None,
        mbr: str | None = None,
        **options: Unpack[Options],
    ) -> Prediction | list[Prediction]:
        """One prediction for each input, in their order; for a single input, a single one.

        `attention` says what is recorded: the look at the source ("cross"), that and the looks of source
        and answer at themselves ("all"), or nothing ("none"), which is fastest; left out, it is "cross", or
        "none" where an engine records nothing. `options` change the search: `beam=5`, `best=3` (the others are
        the prediction's `alternatives`), `sample=True` and so on.
        With `mbr`, "chrf" or "bleu", the answer is not the likeliest of the `best`, but the one most like all.
        """
        attention = attention or ("none" if self.engine else "cross")
        if attention not in RECORDS:
            raise UserError(
                f"There is no attention {attention!r} to record.{did_you_mean(attention, RECORDS)}"
            )
        search = self.search.changed(options)
        if mbr is not None and mbr not in UTILITIES:
            raise UserError(f"There is no likeness {mbr!r} for mbr.{did_you_mean(mbr, UTILITIES)}")
        if mbr is not None and self.codec.answers.kind != "text":
            raise UserError("mbr compares texts: the answers of this model are points.")
        if mbr is not None and search.best < 2:
            raise UserError("mbr chooses among several answers: ask for more with best.")
        single = isinstance(inputs, str | Request)
        asked = [inputs] if isinstance(inputs, str | Request) else list(inputs)
        requests = [Request(one) if isinstance(one, str) else one for one in asked]
        answers = self.answer(requests, search, attention=attention)
        if mbr is not None:
            answers = [by_consensus(answer, mbr, sampled=search.draw is not None) for answer in answers]
        return answers[0] if single else answers

    def stream(
        self,
        inputs: Iterable[str | Request],
        *,
        window: int = 512,
        attention: str | None = None,
        mbr: str | None = None,
        **options: Unpack[Options],
    ) -> Iterator[Prediction]:
        """Predictions in the order of the inputs, which are read `window` at a time and never all at once."""
        remaining = iter(inputs)
        while some := list(islice(remaining, window)):
            yield from self.predict(some, attention=attention, mbr=mbr, **options)

    @torch.inference_mode()
    def answer(
        self,
        requests: Sequence[Request],
        search: Finder,
        *,
        attention: str = "cross",
        watches: Sequence[Watch] = (),
    ) -> list[Prediction]:
        """One prediction for each request, by a search that is known already.

        `watches` are of each request: one that is not wanted any more is given up at the next step.
        """
        wanted = RECORDS[attention]
        if self.engine is not None:
            _check(self.engine, search, attention)
        for model in self.models:
            if model.training:  # a training that goes on afterwards sets its own mode at each step
                model.eval()
        different = list(dict.fromkeys(requests))  # the same twice has the same answer
        watching = _together(requests, watches)
        answers: dict[Request, Prediction] = {}
        asked: dict[Request, Asked] = {}
        for request, read in zip(different, self.codec.read(different), strict=True):
            one, problem = self._asked(request, read, search, watching.get(request, NOBODY))
            if one is None:
                answers[request] = self.codec.nothing(request.text, problem=problem)
            else:
                asked[request] = one
        if search.coverage or self.codec.looks:
            wanted = wanted | {CROSS}
        ways = {
            request: (search.suited(one.question), self._shortens(one.question))
            for request, one in asked.items()
        }
        for plan, shortens in set(ways.values()):
            alike = [request for request in asked if ways[request] == (plan, shortens)]
            if self.engine is not None:
                some = [one for one in alike if asked[one].question.watch.wanted()]
                beyond = {one: self.engine.beyond(asked[one].read, asked[one].question, plan) for one in some}
                answers |= {
                    one: self.codec.nothing(one.text, problem=why) for one, why in beyond.items() if why
                }
                some = [one for one in some if not beyond[one]]
                reads = [asked[one].read for one in some]
                questions = [asked[one].question for one in some]
                for number, told in self.engine(reads, questions, plan):
                    answers[some[number]] = self.codec.answer(reads[number], told)
                continue
            lengths = np.array([len(asked[request].read) for request in alike], dtype=np.int64)
            # Every source becomes as many rows as the plan has.
            for batch in in_order(lengths, self.batch_tokens // plan.rows):
                some = [alike[place] for place in batch if asked[alike[place]].question.watch.wanted()]
                if some:
                    found = self._found_of_all([asked[one] for one in some], plan, wanted, shortens)
                    answers |= zip(some, found, strict=True)
        for request in asked.keys() - answers.keys():
            answers[request] = self.codec.nothing(request.text, problem=GIVEN_UP)
        return [answers[request] for request in requests]

    def _asked(
        self, request: Request, read: Read | UserError | None, search: Finder, watch: Watch
    ) -> tuple[Asked | None, str | None]:
        """What to search for; or nothing, and why, if there is a reason that a person should know."""
        if read is None or isinstance(read, UserError):
            return None, None if read is None else str(read)
        try:
            question = Question(len(read), read.name, self.codec.rules(request), watch)
        except UserError as error:
            return None, str(error)
        if self.engine is not None and question.rules:
            return None, f"the {self.engine.name} engine keeps no rules of answers: the native engine does"
        problem = search.impossible(question)
        return (None, problem) if problem else (Asked(read, question), None)

    def _shortens(self, question: Question) -> bool:
        """Whether the shortlist is searched. Rules call pieces by their numbers, and may ask for any."""
        return self.shortlist is not None and not question.rules

    def _found_of_all(
        self, asked: Sequence[Asked], search: Finder, wanted: frozenset[str], shortens: bool
    ) -> list[Prediction]:
        """Where the model has no room for one of them, that one alone has no answer."""
        try:
            return list(self._found(asked, search, wanted, shortens))
        except TooLongError as error:
            if len(asked) == 1:
                return [self.codec.nothing(asked[0].read.text, problem=str(error))]
            return [found for one in asked for found in self._found_of_all([one], search, wanted, shortens)]

    def _found(
        self, asked: Sequence[Asked], search: Finder, wanted: frozenset[str], shortens: bool
    ) -> Iterator[Prediction]:
        source = self.codec.collate([one.read for one in asked]).to(self.device)
        questions = [one.question for one in asked]
        short = self._shortened(source) if shortens else None
        stepper, memory, mask, seen = self._read(source, search, wanted, short)
        if short is None:
            found = search(stepper, memory, questions, mask)
        else:
            found = list(map(short.back, search(stepper, memory, list(map(short.asked, questions)), mask)))
        for place, (one, answer) in enumerate(zip(asked, found, strict=True)):
            if not answer.hypotheses and not one.question.watch.wanted():
                yield self.codec.nothing(one.read.text, problem=GIVEN_UP)
                continue
            looks = {kind: weights[place] for kind, weights in seen.items()}
            whole = tuple(
                replace(hypothesis, attention={**looks, **hypothesis.attention})
                for hypothesis in answer.hypotheses
            )
            yield self.codec.answer(one.read, replace(answer, hypotheses=whole))

    def _shortened(self, source: Source) -> Shortened:
        assert self.shortlist is not None
        assert isinstance(source, Tokens)
        return self.shortlist.of(source.ids, source.mask)

    def _read(
        self, source: Source, search: Finder, wanted: frozenset[str], short: Shortened | None
    ) -> tuple[Stepper[Any], Memory | list[Memory], torch.Tensor, dict[str, torch.Tensor]]:
        """Who will step, from what memory, where something stands in it, and what the encoders looked at meanwhile."""
        memories = [model.encoder.encode(source, wanted) for model in self.models]
        mask = memories[0].mask  # B S
        decoders: list[Any] = [model.decoder for model in self.models]
        if short is not None:
            decoders = [
                ShortStepper(with_narrow_head(decoder, short.pieces), short) for decoder in decoders
            ]  # before they answer together: what one finds of others' pieces must not count
        if len(memories) == 1:
            return decoders[0], memories[0], mask, dict(memories[0].attention)
        seen = {
            member_kind(kind, number): weights
            for number, memory in enumerate(memories, start=1)
            for kind, weights in memory.attention.items()
        }
        together = search.together(decoders, self.space)
        return together, memories, mask, seen


def _check(engine: Engine, search: Finder, attention: str) -> None:
    """Refuses what an engine does not do."""
    reason = "records no attention" if RECORDS[attention] else engine.refusal(search)
    if reason:
        raise UserError(f"The {engine.name} engine {reason}. {LEAVE_OUT}")


def _together(requests: Sequence[Request], watches: Sequence[Watch]) -> dict[Request, Watch]:
    """For each different request one watch, for all who asked the same."""
    several: dict[Request, list[Watch]] = {}
    for request, watch in zip(requests, watches, strict=bool(watches)):
        several.setdefault(request, []).append(watch)
    return {request: some[0] if len(some) == 1 else everyone(some) for request, some in several.items()}


def by_consensus(prediction: Prediction, utility: str, *, sampled: bool) -> Prediction:
    """Of a prediction and its alternatives the one that is most like all of them, with the others after it.

    Samples count alike, because the likely ones come often; answers of a beam by their probability.
    """
    everyone = [replace(prediction, alternatives=()), *prediction.alternatives]
    weights = [1.0 if sampled else math.exp(one.score - prediction.score) for one in everyone]
    worth = expected([one.text for one in everyone], weights, UTILITIES[utility]())
    order = sorted(range(len(everyone)), key=lambda number: -worth[number])
    best, *others = (everyone[number] for number in order)
    return replace(best, alternatives=tuple(others), beam=prediction.beam)
