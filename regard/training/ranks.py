"""Several processes that train one model, each on its share of every batch.

All they exchange is sums: of gradients, of counts, and of texts that each writes into a row of its own. One process
alone is the same with sums of one.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, Protocol, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from regard.core.errors import UserError
from regard.core.load import Load

Result = TypeVar("Result")
Rows = TypeVar("Rows", bound="Sliceable")

_BUCKET = 2**23  # numbers of gradients that are sent together
_PATIENCE = timedelta(days=1)  # for one that prepares big data; of one that ends, the others know at once


class Sliceable(Protocol):
    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice) -> Any: ...


class LostError(UserError):
    """Another process has ended, so that this one has nobody to sum with."""


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together."""

    number: int = 0  # of this process; the first writes and speaks
    count: int = 1
    total: Callable[[Tensor], Tensor] = lambda own: own  # the sum over all, without a gradient
    calls: Callable[[str], int] = lambda name: 1  # how often this name was called by all, this call included
    local: int = 0  # number of this process on its machine

    @property
    def is_first(self) -> bool:
        return self.number == 0

    def share(self, rows: Rows) -> tuple[Rows, int]:
        """This process's rows of a batch, and how many processes have them.

        Every `count`th, so that long and short are dealt alike. Too few for all are everybody's.
        """
        return (rows, self.count) if len(rows) < self.count else (rows[self.number :: self.count], 1)

    def sum(self, number: float) -> float:
        return float(self.total(torch.tensor(number, dtype=torch.float64)))

    def mean(self, values: Tensor) -> Tensor:
        """Of the values that all have together."""
        return self.total(values.detach().sum()) / self.sum(values.numel())

    def agreed(self, number: float) -> float:
        """What the first says."""
        return self.sum(number if self.is_first else 0.0)

    def any(self, word: str | None) -> str | None:
        """A word that one of them has, if one has."""
        return next(filter(None, self.gather(word or "")), None) if self.sum(word is not None) else None

    def gather(self, text: str) -> list[str]:
        """What each has written, by number."""
        own = torch.frombuffer(bytearray(text.encode()) or bytearray(1), dtype=torch.uint8)
        lengths = torch.zeros(self.count, dtype=torch.int64)
        lengths[self.number] = len(text.encode())
        lengths = self.total(lengths)
        table = torch.zeros(self.count, max(1, int(lengths.max())), dtype=torch.uint8)
        table[self.number, : len(own)] = own
        rows = zip(self.total(table), lengths.tolist(), strict=True)
        return [row[:length].numpy().tobytes().decode() for row, length in rows]

    def spread(self, items: Sequence[Any], work: Callable[[Sequence[Any]], Sequence[Result]]) -> list[Result]:
        """What `work` makes of the items, one JSON value of each; every process does a part, all get the whole."""
        own = work(items[self.number :: self.count])
        results: list[Any] = [None] * len(items)
        for number, text in enumerate(self.gather(json.dumps(list(own)))):
            results[number :: self.count] = json.loads(text)
        return results

    def once(self, work: Callable[[], object]) -> None:
        """Done by the first, while the others wait."""
        if self.is_first:
            work()
        self.sum(0)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The first goes ahead; the others find done what it did."""
        if not self.is_first:
            self.sum(0)
        yield
        if self.is_first:
            self.sum(0)

    def add_up(self, parameters: Iterable[nn.Parameter]) -> None:
        """The gradients of all become one, the same for each. What nobody has a gradient of has none."""
        if self.count == 1:
            return
        for some in _buckets([one for one in parameters if one.requires_grad]):
            grads = [torch.zeros_like(one) if one.grad is None else one.grad for one in some]
            known = grads[0].new_tensor([one.grad is not None for one in some])
            summed = self.total(torch.cat([*map(torch.flatten, grads), known]))
            *sums, known = torch.split(summed, [*(one.numel() for one in some), len(some)])
            for one, added, are_known in zip(some, sums, known.tolist(), strict=True):
                one.grad = added.view_as(one) if are_known else None

    def whole(self, load: Load) -> Load:
        """With what all experts of this layer were given anywhere, but the gate's own probabilities here: the
        penalties of all processes add up to the one of the whole batch.
        """
        positions = round(self.sum(load.positions))
        return replace(load, given=self.total(load.given), positions=positions)

    def begin_alike(self, module: nn.Module) -> None:
        """With the first's weights, whatever another processor made of the same seed."""
        if self.count > 1:
            for tensor in (*module.parameters(), *module.buffers()):
                own = tensor.detach()
                own.copy_(self.total(own.clone() if self.is_first else torch.zeros_like(own)))

    def draw_apart(self, seed: int) -> None:
        """The others draw other numbers than the first, or all would drop the same places of their rows."""
        if not self.is_first:
            torch.manual_seed(Random(f"{seed} {self.number}").getrandbits(32))

    def device(self, device: torch.device) -> torch.device:
        """Of several on one machine each has a GPU of its own."""
        if self.count == 1 or device.type != "cuda":
            return device
        if str(device) != "cuda":
            raise UserError(
                f"training.device is {device}, but {self.count} processes need a GPU each. Set it to cuda or auto."
            )
        if self.local >= torch.cuda.device_count():
            raise UserError(
                f"There are {torch.cuda.device_count()} GPUs here for more processes. "
                "Start as many as there are GPUs: torchrun --nproc-per-node."
            )
        torch.cuda.set_device(self.local)
        return torch.device("cuda", self.local)

    def may_say(self, error: Exception) -> bool:
        """Whether nobody has said it yet. That somebody is lost is worth no word after another error."""
        errors = self.calls("an error")
        return errors == 1 if isinstance(error, LostError) else self.calls(str(error)) == 1


ALONE = Ranks()


def _buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    bucket: list[nn.Parameter] = []
    for one in parameters:
        if bucket and sum(other.numel() for other in bucket) + one.numel() > _BUCKET:
            yield bucket
            bucket = []
        bucket.append(one)
    if bucket:
        yield bucket


@contextmanager
def joined() -> Iterator[Ranks]:
    """The processes that torchrun started, or this one alone."""
    if not dist.is_torchelastic_launched() or os.environ["WORLD_SIZE"] == "1":
        yield ALONE
        return

    with _nobody_lost():
        store, number, count = next(rendezvous("env://", timeout=_PATIENCE))
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        dist.init_process_group(backend, store=store, rank=number, world_size=count, timeout=_PATIENCE)

    def total(own: Tensor) -> Tensor:
        summed = own.detach().clone()
        with _nobody_lost():
            dist.all_reduce(summed)
        return summed

    def calls(name: str) -> int:
        try:
            return int(store.add(f"regard {name}", 1))
        except RuntimeError:  # whoever kept the count has ended too
            return 1

    yield Ranks(number, count, total, calls, int(os.environ.get("LOCAL_RANK", 0)))
    dist.destroy_process_group()


@contextmanager
def _nobody_lost() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise LostError(
            "Another process of this training has ended or can't be reached. "
            "No checkpoint is half written: the same command again goes on from the newest."
        ) from error
