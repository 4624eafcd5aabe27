"""One training from a configuration to a model in a run folder."""

import filecmp
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import torch

from regard import build
from regard.card import model_card
from regard.config import Config, difference
from regard.config.going_on import harmful, harmless
from regard.core.batch import Batch
from regard.core.errors import UserError
from regard.core.files import copy_whole, write_whole
from regard.data import (
    BatchPlan,
    Mixture,
    Store,
    cache_folder,
    fingerprint,
    shares,
)
from regard.run import Run, mean_file
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples
from regard.text import Recutter
from regard.training import (
    ALONE,
    Averaged,
    Checkpoint,
    Checkpoints,
    Ended,
    Event,
    Loop,
    Noted,
    Ranks,
    Recorder,
    Saved,
    Validated,
)
from regard.training.checkpoints import DamagedError, model_file
from regard.training.recording import read_metrics
from regard.validating import Validator
from regard.viewing import curves, save, save_figure

log = logging.getLogger("regard")


class Trainer:
    """Trains in a run folder, going on from its newest checkpoint if it has one.

    `events()` does the work and tells of it as it goes; `stop` is asked after every step and
    ends the training, saved, with whatever reason it gives. Of several processes (`ranks`) each has a trainer;
    the first one's writes.
    """

    def __init__(
        self,
        config: Config,
        folder: str | Path,
        *,
        stop: Callable[[], str | None] = lambda: None,
        ranks: Ranks = ALONE,
    ):
        self.run = Run(folder)
        self.config = self.run.as_begun(config)
        self.plan = build.plan(config)
        self.checkpoints = Checkpoints(
            self.run.checkpoints, keep=config.training.keep, planned=self.plan.saves_at
        )
        self.stop = stop
        self.ranks = ranks

    def events(self) -> Iterator[Event]:
        with self.run.locked() if self.ranks.is_first else nullcontext():
            for event in self._train():
                if isinstance(event, Noted) and self.ranks.is_first:
                    self.run.note(event.text)
                yield event

    def _claim(self) -> Iterator[Event]:
        """The folder is this configuration's once there is a checkpoint; until then a first try may be mended.

        What no weight depends on may change later, too.
        """
        earlier = self.run.config()
        if earlier is None or not self.checkpoints.steps():
            self._require_nothing_of_worth(is_run=earlier is not None)
            self.run.start(self.config)
        elif changes := harmful(earlier, self.config):
            raise UserError(
                f"{self.run} was started with another configuration ({'; '.join(changes)}). "
                "Go on with the old one, or give another folder with --run."
            )
        elif changes := harmless(earlier, self.config):
            self.run.change(self.config)
            yield Noted(f"changed since it was started: {'; '.join(changes)}")

    def _require_nothing_of_worth(self, *, is_run: bool) -> None:
        """What would be cleared away is a first try's own."""
        if is_run and self.run.model.weights_path.exists():
            raise UserError(
                f"{self.run} has a trained model, but no checkpoint to go on from. Give another folder with --run, or "
                "remove this one."
            )
        if not is_run and (found := self.run.cleared()):
            raise UserError(
                f"{self.run} is no run, but has {', '.join(path.name for path in found)}, which a training would write "
                "over. Give another folder with --run."
            )

    def _follow(self) -> None:
        """What the first has claimed is what this process trains too."""
        earlier = self.run.config()
        if earlier is None or not self.run.model.config_path.exists():
            raise UserError(
                f"{self.run} is not to be seen by process {self.ranks.number} of {self.ranks.count}. "
                "Put the run folder where all machines can read it, and give it with --run."
            )
        if changes := difference(earlier, self.config):
            raise UserError(
                f"Process {self.ranks.number} of {self.ranks.count} has another configuration than the first "
                f"({'; '.join(changes)}). Give all of them the same."
            )

    def _train(self) -> Iterator[Event]:
        config, ranks = self.config, self.ranks
        with ranks.turn():
            if ranks.is_first:
                yield from self._claim()
            else:
                self._follow()
            examples = build.task(config).examples()
            if examples.note:
                yield Noted(examples.note)
            codec = self._codec(examples)
            train, validation = self._stores(examples, codec)
        self.checkpoints.made_for = self.run.model.made_for()
        for report in examples.reports():
            yield Noted(report)
        yield from map(Noted, _told(train, examples))
        yield Noted(f"validation: {validation.report}")

        torch.manual_seed(config.training.seed)
        device = ranks.device(build.device(config.training.device))
        newest = self._newest()
        start = build.Start(config.origin) if config.origin is not None and newest is None else None
        model = start.model(config, codec) if start is not None else build.model(config, codec.sizes)
        model = model.to(device)
        ranks.begin_alike(model)
        ranks.draw_apart(config.training.seed)
        together = f", in {ranks.count} processes" if ranks.count > 1 else ""
        yield Noted(f"model: {sum(p.numel() for p in model.parameters()):,} parameters on {device}{together}")

        loop = Loop(
            model,
            StoreBatches(
                train,
                config.training.batch_tokens,
                config.training.seed,
                build.recutters(config, codec),
                ranks,
                by_length=config.training.by_length,
            ),
            build.objective(config, ranks),
            build.optimizer(config, model),
            build.schedule(config),
            self.plan,
            checkpoints=self.checkpoints,
            validate=Validator(config, model, codec, examples, validation, device, ranks),
            judge=lambda validation: validation.by(config.training.metric),
            device=device,
            stop=self.stop,
            ranks=ranks,
        )
        if newest is not None:
            loop.restore(newest)
            yield Noted(f"going on from step {loop.state.step:,}")
            yield from map(Noted, _joined_since(loop.state.processes, ranks.count))
        events = chain(loop.begin() if start is not None else (), loop.run())
        yield from self._kept(events, loop) if ranks.is_first else events

    def _kept(self, events: Iterator[Event], loop: Loop) -> Iterator[Event]:
        """The events, after the run folder has got what it gets of them."""
        run, best = self.run, loop.state.best
        if best is not None and not (loop.will_average and run.model.averaged()):
            # It may have been killed between saving and exporting.
            self._export(self.checkpoints.path(best.step))
        board = run.tensorboard if self.config.training.tensorboard else None
        recorder = Recorder(run.metrics_path, board, step=loop.state.step, again=loop.state.validating)
        try:
            for event in events:
                recorder.record(event)
                self._keep(event, loop)
                yield event
        finally:
            recorder.close()

    def _newest(self) -> Checkpoint | None:
        """The checkpoint to go on from. All must see the same."""
        newest = self.checkpoints.newest()
        seen = self.ranks.gather(str(newest.folder.name if newest else "none"))
        if len(set(seen)) > 1:
            raise UserError(
                f"{self.run.checkpoints}: the processes see different newest checkpoints ({', '.join(seen)}). "
                "Put the run folder where all machines can read it."
            )
        return newest

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
        elif folder.config() != self.config:
            folder.describe(self.config, vocabulary=codec.sizes, data=now)
        return train, validation

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
                try:
                    self._draw_curves()
                except Exception as error:  # as with samples
                    log.warning("The curves could not be drawn: %s", error)

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
        model = self.run.model
        content = mean_file(event.weights, event.steps, made_for=model.made_for())
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


def _joined_since(before: int, now: int) -> Iterator[str]:
    if before != now:
        yield (
            f"saved by {before} processes, going on with {now}: the batches stay the same, but chance "
            "(dropout, say) falls differently than it would have"
        )


def _told(train: Store, examples: Examples) -> Iterator[str]:
    if not isinstance(train, Mixture):
        yield f"train: {train.report}"
        return
    for corpus, store, share in zip(examples.corpora, train.stores, train.shares, strict=True):
        yield f"train {corpus}: {store.report}, {share:.1%} of what is trained on"


class StoreBatches:
    """Training batches from a store, as a pure function of epoch and position.

    The sides that have a recutter are cut into other pieces each time. Of several processes each gets its share.
    """

    def __init__(
        self,
        store: Store,
        budget: int,
        seed: int,
        recutters: Mapping[str, Recutter] | None = None,
        ranks: Ranks = ALONE,
        *,
        by_length: bool = True,
    ):
        self.store = store
        self.seed = seed
        self.recutters = recutters or {}
        self.ranks = ranks
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
        apart = "" if self.ranks.is_first else f" {self.ranks.number}"
        chance = Random(f"{self.seed} {epoch} {position}{apart}")
        recuts = {side: partial(recutter, chance=chance) for side, recutter in self.recutters.items()}
        rows, copies = self.ranks.share(self.plan.batch(epoch, position))
        return replace(self.store.batch(rows, **recuts), copies=copies)
