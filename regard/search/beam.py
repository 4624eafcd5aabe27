"""Beam search over a whole batch."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from regard.core.errors import UserError
from regard.core.kinds import CROSS, plain_kind
from regard.core.state import Looks, State
from regard.search.banks import share_out
from regard.search.frame import Frame
from regard.search.hypothesis import Ending, Found, Trail
from regard.search.pools import Pool
from regard.search.ranks import Coverage, LengthPenalty, Rank
from regard.search.rules import Rules, after
from regard.search.stepper import Stepper, check_numbers, log_probabilities
from regard.search.tops import tops
from regard.search.tree import FINISHED, KEPT, PRUNED, Node, Tree


@dataclass(frozen=True)
class Groups:
    """Parts of a beam that avoid each other (Vijayakumar et al. 2018).

    A piece that earlier groups took at a step is worth `strength` less to a group, for each hypothesis that did.
    """

    count: int = 1
    strength: float = 0.5


def beam(
    stepper: Stepper[Any],
    source: Any,
    frame: Frame,
    *,
    width: int = 5,
    best: int = 1,
    rank: Rank | None = None,
    coverage: tuple[Coverage, Tensor] | None = None,
    groups: Groups | None = None,
    record: bool = False,
) -> list[Found]:
    """The `best` hypotheses for each row of the source, best first.

    Every source keeps `width` live hypotheses. One that ends is set aside, if it is among the
    `width` best candidates of its step. A source leaves the batch when nobody waits for it any more, when no
    live hypothesis can still enter its `best`, or at its limit: then, if it finished too few, its best
    unfinished ones come after them. What several groups come to is one answer: they go on until there are
    enough. `coverage` comes with the source's mask (B S). With `record` all that was considered is kept as
    a tree.
    """
    groups = groups or Groups()
    assert 1 <= best <= width, (best, width)
    assert width % groups.count == 0, (width, groups)
    search = _Search(frame, width // groups.count, best, rank, coverage, groups)
    if record:
        search.trees = [Tree() for _ in range(len(frame))]
    search.run(stepper, source)
    return [search.found(number) for number in range(len(frame))]


@dataclass
class _Search:
    """A strand is one group of one source: it has its own live hypotheses."""

    frame: Frame
    width: int  # of a strand
    best: int  # of a source
    rank: Rank | None
    coverage: tuple[Coverage, Tensor] | None
    groups: Groups
    trees: list[Tree] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rank_by: Rank = self.rank or LengthPenalty()
        count = self.groups.count
        self.source_of = [number for number in range(len(self.frame)) for _ in range(count)]
        self.group_of = list(range(count)) * len(self.frame)
        self.pools = [Pool(count, min(self.best, self.width), self.best) for _ in range(len(self.frame))]
        self.trail = Trail()

    def found(self, number: int) -> Found:
        answers = tuple(map(self.trail.trace, self.pools[number].answers()))
        return Found(answers, self.trees[number] if self.trees else None)

    def run(self, stepper: Stepper[Any], source: Any) -> None:
        frame, device = self.frame, self.frame.limits.device
        state: State = stepper.begin(source)
        strands = list(range(len(self.source_of)))  # N, those that are still searched
        if self.groups.count > 1:
            state = state.select(torch.tensor(self.source_of, device=device))
        rules = [frame.rules_of(number) for number in self.source_of]  # rows: N times K
        parents = strands  # rows: their row one step before
        fed = [frame.begin] * len(strands)  # rows: what they read
        nodes: list[int | None] = [None] * len(strands)  # rows: their nodes in the trees
        tokens = frame.limits.new_full((len(strands),), frame.begin)  # rows
        # N K, in float64: many small ones add up
        scores = torch.zeros(len(strands), 1, device=device, dtype=torch.float64)
        seen: Tensor | None = None  # rows S, what each row looked at so far, if that counts
        for length in range(1, max(frame.bounds) + 1):
            output = stepper.step(tokens, state)
            likely = log_probabilities(output.logits)  # rows V
            totals = scores.flatten().tolist()
            self.trail.step(parents, fed, totals, output.attention, frame.tops(likely))
            if self.coverage is not None:
                seen = _look(output.attention) + (0.0 if seen is None else seen)
            live = scores.shape[1]
            owners = [self.source_of[strand] for strand in strands for _ in range(live)]
            following = frame.restrict(likely, length, owners, rules)  # rows V
            step = self._choose(following, scores, strands, rules)
            check_numbers(step.scores[:, 0].tolist())
            values = self._values(step, length, seen, strands)  # N C
            ended = step.ended(frame.end, self.width)  # N C
            self._set_aside(step, ended, values, strands, length)
            order = step.going_on(frame.end, self.groups.count * self.width)  # N C, of which K live on
            scores = step.scores.masked_fill(step.tokens == frame.end, -torch.inf).gather(1, order)  # N C
            made = self._record(step, ended, order[:, : self.width], values, strands, nodes, length)
            tokens, rows = step.tokens.gather(1, order), step.rows.gather(1, order)  # N C
            staying = self._staying(scores, rows, tokens, values.gather(1, order), strands, length)
            if not staying:
                break
            scores, tokens, rows = (part[:, : self.width] for part in (scores, tokens, rows))  # N K
            kept = torch.tensor(staying, device=device)
            scores, tokens, rows = scores[kept], tokens[kept].flatten(), rows[kept].flatten()
            state = output.state.select(rows)
            strands = [strands[n] for n in staying]
            parents, fed = rows.tolist(), tokens.tolist()
            rules = [after(rules[row], piece) for row, piece in zip(parents, fed, strict=True)]
            nodes = [node for n in staying for node in made[n]]
            if seen is not None:
                seen = seen[rows]

    def _choose(
        self, following: Tensor, scores: Tensor, strands: Sequence[int], rules: Sequence[Rules]
    ) -> "_Step":
        """The best candidates of every strand, group after group: one avoids what those before it take."""
        if self.groups.count == 1:
            return self._candidates(following, scores, rules)
        live, vocabulary = scores.shape[1], following.shape[1]
        taken = following.new_zeros(len(self.frame), vocabulary)  # sources V, by how many hypotheses
        order: list[int] = []
        steps: list[_Step] = []
        for group in range(self.groups.count):
            some = [n for n, strand in enumerate(strands) if self.group_of[strand] == group]
            if not some:
                continue
            sources = torch.tensor([self.source_of[strands[n]] for n in some], device=taken.device)
            places = [n * live + k for n in some for k in range(live)]  # rows
            less = self.groups.strength * taken[sources]  # some V
            own = self._candidates(following[places], scores[some], [rules[row] for row in places], less)
            took = own.taken(self.frame.end, self.width).to(taken.dtype)  # some C
            taken.index_put_((sources[:, None], own.tokens), took, accumulate=True)
            steps.append(replace(own, rows=torch.tensor(places, device=taken.device)[own.rows]))
            order += some
        back = torch.tensor(order, device=taken.device).argsort()
        parts = zip(*((one.tokens, one.rows, one.scores, one.worth) for one in steps), strict=True)
        return _Step(*(torch.cat(part)[back] for part in parts))

    def _candidates(
        self, following: Tensor, scores: Tensor, rules: Sequence[Rules], less: Tensor | None = None
    ) -> "_Step":
        """The best candidates of some strands, to which pieces are worth `less` (N V) than they are likely."""
        (count, live), vocabulary = scores.shape, following.shape[1]
        # Even if `width` of them end, so many remain to go on; in groups, even if all others have the same.
        wanted = min((1 + self.groups.count) * self.width, live * vocabulary)
        liked = following if less is None else following - less.repeat_interleave(live, dim=0)  # rows V
        places = _best_of(liked, scores, wanted)  # N C
        tokens = places % vocabulary
        totals = scores.gather(1, places // vocabulary) + following.view(count, -1).gather(1, places)  # N C
        worth = totals if less is None else totals - less.gather(1, tokens)  # N C
        first = torch.arange(count, device=scores.device)[:, None] * live
        step = _Step(tokens, first + places // vocabulary, totals, worth)
        for n in range(count):
            own = slice(n * live, (n + 1) * live)
            if any(rule.progress is not None for some in rules[own] for rule in some):
                every = following[own].double() + scores[n, :, None]  # K V
                self._bank(step, n, every, every if less is None else every - less[n], rules[own])
        return step

    def _bank(self, step: "_Step", n: int, totals: Tensor, worth: Tensor, rules: Sequence[Rules]) -> None:
        """Where phrases are required: candidates (K V) compete with those that have as much of them (in place)."""
        chosen = share_out(worth, rules, self.width, self.frame.end)
        step.scores[n] = step.worth[n] = -torch.inf
        for place, (row, piece, value) in enumerate(chosen[: step.scores.shape[1]]):
            step.tokens[n, place], step.rows[n, place] = piece, n * len(totals) + row
            step.scores[n, place], step.worth[n, place] = totals[row, piece], value

    def _values(self, step: "_Step", length: int, seen: Tensor | None, strands: Sequence[int]) -> Tensor:
        """N C, what the candidates would be worth as answers."""
        values = self.rank_by(step.scores, length)
        if self.coverage is None or seen is None:
            return values
        penalty, mask = self.coverage
        owners = torch.tensor([self.source_of[strand] for strand in strands], device=seen.device)
        covered = penalty(seen[step.rows.flatten()], mask[owners].repeat_interleave(step.rows.shape[1], 0))
        return values + covered.view(values.shape)

    def _set_aside(
        self, step: "_Step", ended: Tensor, values: Tensor, strands: Sequence[int], length: int
    ) -> None:
        for (n, _), row, score, value in zip(
            ended.nonzero().tolist(),
            step.rows[ended].tolist(),
            step.scores[ended].tolist(),
            values[ended].tolist(),
            strict=True,
        ):
            self._add(strands[n], Ending(length, row, self.frame.end, score, value, finished=True))

    def _add(self, strand: int, ending: Ending) -> None:
        if self.groups.count > 1:
            tokens = self.trail.tokens(ending.step, ending.row, ending.token)
            ending = replace(ending, tokens=tuple(tokens))
        self.pools[self.source_of[strand]].add(self.group_of[strand], ending)

    def _staying(
        self,
        scores: Tensor,
        rows: Tensor,
        tokens: Tensor,
        values: Tensor,
        strands: Sequence[int],
        length: int,
    ) -> list[int]:
        """Which strands go on with the first K of these (N C): none that nobody waits for.

        One at its limit that finished too few gives its best unfinished ones.
        """
        owners = [self.source_of[strand] for strand in strands]
        # At its best a hypothesis gets no less likely, goes on to its limit and leaves nothing uncovered.
        attainable = self.rank_by(scores[:, : self.width].amax(1), self.frame.limits[owners]).tolist()
        # Lists, once for each step: a number asked of a GPU by itself waits for all that it has to do.
        origins, chosen, totals, worth = rows.tolist(), tokens.tolist(), scores.tolist(), values.tolist()
        staying = []
        for n, (strand, owner) in enumerate(zip(strands, owners, strict=True)):
            pool, group, watch = self.pools[owner], self.group_of[strand], self.frame.watch(owner)
            if not watch.wanted():
                continue
            if watch.hear and group == 0 and math.isfinite(totals[n][0]):
                watch.hear(self.trail.tokens(length, origins[n][0], chosen[n][0]))
            if self.frame.bounds[owner] > length:
                ends_greedily = self.width == self.groups.count == 1 and pool.is_full(group)
                if not ends_greedily and not pool.beats(group, attainable[n]):
                    staying.append(n)
            elif not pool.is_full(group):
                cut_off = zip(origins[n], chosen[n], totals[n], worth[n], strict=True)
                for place, (row, token, score, value) in enumerate(cut_off):
                    if place >= self.width and pool.is_full(group):
                        break  # those that don't live on stand in for what groups before it have
                    if math.isfinite(score):
                        self._add(strand, Ending(length, row, token, score, value, finished=False))
        return staying

    def _record(
        self,
        step: "_Step",
        ended: Tensor,
        order: Tensor,
        values: Tensor,
        strands: Sequence[int],
        nodes: Sequence[int | None],
        length: int,
    ) -> list[list[int | None]]:
        """Adds a step to the trees; gives the nodes of the hypotheses that go on, N K."""
        if not self.trees:
            return [[None] * order.shape[1] for _ in strands]
        made = []
        columns = [part.tolist() for part in (step.tokens, step.rows, step.scores, values, ended, order)]
        for strand, tokens, rows, scores, worth, ends, going_on in zip(strands, *columns, strict=True):
            tree, found = self.trees[self.source_of[strand]], {}
            for place, score in enumerate(scores[: 2 * self.width]):
                if math.isfinite(score):
                    kept = place in going_on and tokens[place] != self.frame.end
                    fate = FINISHED if ends[place] else KEPT if kept else PRUNED
                    node = Node(nodes[rows[place]], tokens[place], score, worth[place], fate, length)
                    found[place] = tree.add(node)
            made.append([found.get(place) for place in going_on])
        return made


@dataclass(frozen=True)
class _Step:
    """The candidates of a step, of each strand those that are worth most first."""

    tokens: Tensor  # N C
    rows: Tensor  # N C, which live row each goes on from
    scores: Tensor  # N C, log-probabilities: what is told of them
    worth: Tensor  # N C, less than that where a group avoids a piece: what they are chosen by

    def ended(self, end: int, width: int) -> Tensor:
        """N C, which of them are answers."""
        ended = (self.tokens == end) & self.scores.isfinite()
        ended[:, width:] = False
        return ended

    def going_on(self, end: int, width: int) -> Tensor:
        """N K, the places of those that live on."""
        worth = self.worth.masked_fill(self.tokens == end, -torch.inf)
        return worth.topk(min(width, worth.shape[1]), dim=1).indices

    def taken(self, end: int, width: int) -> Tensor:
        """N C, which of them end or live on."""
        living = torch.zeros_like(self.tokens, dtype=torch.bool)
        living = living.scatter(1, self.going_on(end, width), value=True) & (self.tokens != end)
        return self.ended(end, width) | (living & self.scores.isfinite())


def _best_of(following: Tensor, scores: Tensor, wanted: int) -> Tensor:
    """N C, the places among K*V of the best candidates: each is among the best of its own row."""
    (count, live), vocabulary = scores.shape, following.shape[1]
    best = tops(following, min(wanted, vocabulary))  # N*K C
    totals = (best.values.view(count, live, -1) + scores.float()[..., None]).flatten(1)  # N K*C
    chosen = totals.topk(wanted, dim=1).indices  # N C
    each = best.values.shape[1]
    pieces = best.places.view(count, -1).gather(1, chosen)  # N C
    return chosen // each * vocabulary + pieces


def _look(attention: Looks) -> Tensor:
    """rows S, the mean look at the source over members, layers and heads."""
    looks = [_mean(weights) for kind, weights in attention.items() if plain_kind(kind) == CROSS]
    if not looks:
        raise UserError(
            "coverage counts what was looked at, but this model has no attention: it never looks at its source. "
            "Set coverage to 0."
        )
    return torch.stack(looks).mean(0)


def _mean(weights: Tensor) -> Tensor:
    """rows S, of the looks of layers and heads (rows L H S).

    Layers that see nothing of the source, as some of one stream, do not count.
    """
    seeing = (weights.sum((2, 3)) > 0).sum(1, keepdim=True)  # rows 1, how many layers
    return weights.mean(2).sum(1) / seeing.clamp(min=1)
