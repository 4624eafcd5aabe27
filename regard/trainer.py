"""One training from a configuration to a model in a run folder."""

import filecmp
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from regard import build
from regard.card import model_card
from regard.config import Config, difference
from regard.core.batch import Batch
from regard.core.errors import UserError
from regard.core.files import copy_whole, write_whole
from regard.data import (
    BatchPlan,
    Mixture,
    Store,
    cache_folder,
    fingerprint,
    in_order,
    shares,
)
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.run import Run, mean_file
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples
from regard.text import Recutter
from regard.training import (
    Averaged,
    Checkpoints,
    CrossEntropy,
    Ended,
    Event,
    Loop,
    Noted,
    Recorder,
    Saved,
    Validated,
    Validation,
)
from regard.training.checkpoints import DamagedError, model_file
from regard.training.recording import read_metrics
from regard.viewing import curves, save, save_figure

log = logging.getLogger("regard")


class Trainer:
    """Trains in a run folder, going on from its newest checkpoint if it has one.

    `events()` does the work and tells of it as it goes; `stop` is asked after every step and
    ends the training, saved, with whatever reason it gives.
    """

    def __init__(self, config: Config, folder: str | Path, *, stop: Callable[[], str | None] = lambda: None):
        self.config = config
        self.run = Run(folder)
        self.plan = build.plan(config)
        self.checkpoints = Checkpoints(
            self.run.checkpoints, keep=config.training.keep, planned=self.plan.saves_at
        )
        self.stop = stop

    def events(self) -> Iterator[Event]:
        with self.run.locked():
            self._claim()
            yield from self._train()

    def _claim(self) -> None:
        """The folder is this configuration's once there is a checkpoint; until then a first try may be mended."""
        earlier = self.run.config()
        if earlier is None or not self.checkpoints.steps():
            self.run.start(self.config)
        elif changes := difference(earlier, self.config):
            raise UserError(
                f"{self.run} was started with another configuration ({'; '.join(changes)}). "
                "Go on with the old one, or give another folder with --run."
            )

    def _train(self) -> Iterator[Event]:
        config, run = self.config, self.run
        examples = build.task(config).examples()
        if examples.note:
            yield Noted(examples.note)
        codec = self._codec(examples)
        train, validation = self._stores(examples, codec)
        for report in examples.reports():
            yield Noted(report)
        yield from map(Noted, _told(train, examples))
        yield Noted(f"validation: {validation.report}")

        torch.manual_seed(config.training.seed)
        device = build.device(config.training.device)
        newest = self.checkpoints.newest()
        start = build.Start(config.origin) if config.origin is not None and newest is None else None
        model = start.model(config, codec) if start is not None else build.model(config, codec.sizes)
        model = model.to(device)
        yield Noted(f"model: {sum(p.numel() for p in model.parameters()):,} parameters on {device}")

        loop = Loop(
            model,
            StoreBatches(
                train,
                config.training.batch_tokens,
                config.training.seed,
                build.recutters(config, codec),
                by_length=config.training.by_length,
            ),
            build.objective(config),
            build.optimizer(config, model),
            build.schedule(config),
            self.plan,
            checkpoints=self.checkpoints,
            validate=Validator(config, model, codec, examples, validation, device),
            judge=self._judge,
            device=device,
            stop=self.stop,
        )
        if newest is not None:
            loop.restore(newest)
            yield Noted(f"going on from step {loop.state.step:,}")
            best = loop.state.best  # it may have been killed between saving and exporting
            if best is not None and not (loop.will_average and run.model.averaged()):
                self._export(self.checkpoints.path(best.step))
        board = run.tensorboard if config.training.tensorboard else None
        recorder = Recorder(run.metrics_path, board, step=loop.state.step)
        try:
            for event in chain(loop.begin() if start is not None else (), loop.run()):
                recorder.record(event)
                self._keep(event, loop)
                yield event
        finally:
            recorder.close()

    def _codec(self, examples: Examples) -> Codec:
        folder = self.run.model
        if folder.config_path.exists():
            return build.load_codec(self.config, folder)
        if self.config.origin is not None:
            codec = build.Start(self.config.origin).codec(self.config, examples)
        else:
            codec = build.learn_codec(self.config, examples)
        codec.save(folder.folder)
        return codec

    def _stores(self, examples: Examples, codec: Codec) -> tuple[Store, Store]:
        """The stores to train with. On going on, the pairs must be the ones it was started with."""
        opened = partial(codec.store, cache_folder() / "stores")
        train: Store
        if examples.corpora:
            parts = [opened(corpus.pairs) for corpus in examples.corpora]
            weights = [corpus.weight for corpus in examples.corpora]
            drawn = shares(list(map(len, parts)), weights, examples.temperature)
            train = Mixture(parts, drawn, self.config.training.seed)
        else:
            train = opened(examples.train)
        validation = opened(lambda: examples.validation)
        now = {
            "train": {"pairs": len(train), "fingerprint": train.fingerprint},
            "validation": {
                "pairs": len(examples.validation),
                "fingerprint": fingerprint(pair.texts for pair in examples.validation),
            },
            "test": {
                "pairs": len(examples.test),
                "fingerprint": fingerprint(pair.texts for pair in examples.test),
            },
        }
        folder = self.run.model
        if not folder.config_path.exists():
            folder.describe(self.config, vocabulary=codec.sizes, data=now)  # last: the tokenizers are there
        elif changed := [name for name in now if folder.data().get(name) != now[name]]:
            earlier = folder.data().get(changed[0], {}).get("pairs", 0)
            raise UserError(
                f"{self.run} was started with other pairs: {changed[0]} had {earlier:,} pairs then and has "
                f"{now[changed[0]]['pairs']:,} now, and the contents differ. Bring the old data back, "
                "or give another folder with --run."
            )
        return train, validation

    def _judge(self, validation: Validation) -> float:
        metric = self.config.training.metric
        return validation.loss if metric == "loss" else validation.scores[metric]

    def _keep(self, event: Event, loop: Loop) -> None:
        """What the run folder gets of an event, besides the record."""
        match event:
            case Validated():
                self._keep_samples(event)
            case Saved() if loop.state.best is not None and loop.state.best.step == event.step:
                self._export(event.folder)
            case Averaged(is_best=True):
                self._adopt(event)
            case Averaged():
                self._export(self.checkpoints.path(event.best))
            case Ended():
                self._draw_curves()

    def _export(self, checkpoint: Path) -> None:
        """The best weights become the model, unless they are already, or are damaged."""
        try:
            found = model_file(checkpoint)
        except DamagedError as damage:
            log.warning("%s. The model stays as it is.", damage)
            return
        weights = self.run.model.weights_path
        if not weights.exists() or not filecmp.cmp(found, weights, shallow=False):
            self.run.forget_scores()
            write_whole(self.run.model.card_path, model_card(self.config, self.run.folder.name))
            copy_whole(found, weights)  # last: as long as they differ, all is done again

    def _adopt(self, event: Averaged) -> None:
        """The mean of checkpoints becomes the model, unless it is already."""
        content, model = mean_file(event.weights, event.steps), self.run.model
        if not model.weights_path.exists() or model.weights_path.read_bytes() != content:
            self.run.forget_scores()
            card = model_card(self.config, self.run.folder.name, averaged=event.steps)
            write_whole(model.card_path, card)
            write_whole(model.weights_path, content)

    def _keep_samples(self, event: Validated) -> None:
        folder = self.run.samples / f"step-{event.step:06d}"
        samples = event.validation.samples
        lines = [json.dumps({"source": one.source, "text": one.text, "score": one.score}) for one in samples]
        write_whole(folder / "predictions.jsonl", "".join(line + "\n" for line in lines))
        for number, sample in enumerate(samples[:1]):
            try:
                save(sample, folder / f"{number}.png")
            except Exception as error:  # whatever a drawing trips over, training goes on
                log.warning("The picture of a sample could not be drawn: %s", error)

    def _draw_curves(self) -> None:
        lines = list(read_metrics(self.run.metrics_path))
        training = [line for line in lines if line["kind"] == "train"]
        validation = [line for line in lines if line["kind"] == "validation"]
        if not training:
            return
        names = [name for name in (validation[0] if validation else {}) if name not in ("kind", "step")]
        figure = curves(
            _points(training, "loss"),
            {name: _points(validation, name) for name in names},
            title=self.run.folder.name,
        )
        save_figure(figure, self.run.curves_path)


def is_over(config: Config, run: Run) -> bool:
    """Whether a run's newest checkpoint says that nothing is left to train."""
    state = Checkpoints(run.checkpoints).newest_state()
    return state is not None and build.plan(config).over(state) is not None


def _points(lines: Sequence[Mapping[str, Any]], name: str) -> tuple[list[float], list[float]]:
    return [line["step"] for line in lines], [line[name] for line in lines]


def _told(train: Store, examples: Examples) -> Iterator[str]:
    if not isinstance(train, Mixture):
        yield f"train: {train.report}"
        return
    for corpus, store, share in zip(examples.corpora, train.stores, train.shares, strict=True):
        yield f"train {corpus.name}: {store.report}, {share:.1%} of what is trained on"


class StoreBatches:
    """Training batches from a store, as a pure function of epoch and position.

    The sides that have a recutter are cut into other pieces each time.
    """

    def __init__(
        self,
        store: Store,
        budget: int,
        seed: int,
        recutters: Mapping[str, Recutter] | None = None,
        *,
        by_length: bool = True,
    ):
        self.store = store
        self.seed = seed
        self.recutters = recutters or {}
        drawn = store.drawn if isinstance(store, Mixture) else None
        self.plan = BatchPlan(
            store.source_lengths,
            store.target_lengths,
            budget=budget,
            seed=seed,
            by_length=by_length,
            drawn=drawn,
        )

    def length(self, epoch: int) -> int:
        return len(self.plan.epoch(epoch))

    def batch(self, epoch: int, position: int) -> Batch:
        chance = Random(f"{self.seed} {epoch} {position}")
        recuts = {side: partial(recutter, chance=chance) for side, recutter in self.recutters.items()}
        return self.store.batch(self.plan.batch(epoch, position), **recuts)


class Validator:
    """Loss and greedy answers on the validation pairs."""

    def __init__(
        self,
        config: Config,
        model: Seq2Seq,
        codec: Codec,
        examples: Examples,
        store: Store,
        device: torch.device,
    ):
        self.model = model
        self.store = store
        self.device = device
        self.budget = config.evaluation.batch_tokens
        self.samples = config.training.samples
        self.cases = examples.cases(examples.validation)
        self.predictor = Predictor(
            [model],
            codec,
            search=build.search_plan(config),
            batch_tokens=self.budget,
            device=device,
        )
        chosen = {metric.name: metric for metric in build.metrics(config)}
        if judge := build.judging_metric(config):
            chosen.setdefault(judge.name, judge)
        self.metrics = list(chosen.values())

    def __call__(self) -> Validation:
        requests = [case.request for case in self.cases]
        quick = self.predictor.search.quick()
        answers = self.predictor.answer(requests, quick, attention="none")
        samples = self.predictor.answer(requests[: self.samples], quick)
        texts, references = [answer.text for answer in answers], [case.targets for case in self.cases]
        scores = {metric.name: metric(texts, references).value for metric in self.metrics}
        return Validation(self._loss(), scores, samples)

    def _loss(self) -> float:
        objective, total, tokens = CrossEntropy(), 0.0, 0
        longest = np.maximum(self.store.source_lengths, self.store.target_lengths)
        for indices in in_order(longest, self.budget):
            loss = objective(self.model, self.store.batch(indices).to(self.device))
            total += float(loss.likelihood)
            tokens += loss.tokens
        return total / tokens
