import pytest
import torch
from tables import TableStepper

from regard.search import Draw, Ensemble, Frame, beam, greedy, sample

BEGIN, END = 0, 1


def frame() -> Frame:
    return Frame(torch.tensor([7, 7, 4]), BEGIN, END)


SEARCHES = {
    "greedy": lambda stepper, source: greedy(stepper, source, frame()),
    "beam": lambda stepper, source: beam(stepper, source, frame(), width=4, best=3),
    "sampling": lambda stepper, source: sample(
        stepper, source, frame(), draw=Draw(), names=[b"a", b"b", b"c"], samples=3
    ),
}


@pytest.mark.parametrize("space", ["probability", "log"])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_stepper_with_itself_is_itself(name: str, space: str) -> None:
    stepper, search = TableStepper.random(3, vocabulary=6, seed=1), SEARCHES[name]
    alone = search(stepper, torch.arange(3))
    twice = search(Ensemble([stepper, stepper], space=space), [torch.arange(3)] * 2)
    for one, other in zip(alone, twice, strict=True):
        for single, double in zip(one.hypotheses, other.hypotheses, strict=True):
            assert single.tokens == double.tokens
            assert single.score == pytest.approx(double.score, abs=1e-5)
            for kind in ("cross.1", "cross.2"):
                assert torch.equal(double.attention[kind], single.attention["cross"])


@pytest.mark.parametrize("space", ["probability", "log"])
def test_the_mean_is_taken_in_the_space_that_was_asked_for(space: str) -> None:
    tables = torch.tensor([[0.0, 0.5, 0.3, 0.2], [0.0, 0.1, 0.3, 0.6]]).log()
    members = [TableStepper(table.expand(1, 4, 4, 4)) for table in tables]
    ensemble = Ensemble(members, space=space)
    output = ensemble.step(torch.tensor([BEGIN]), ensemble.begin([torch.arange(1)] * 2))
    mean = tables.exp().mean(0) if space == "probability" else tables.mean(0).exp()
    torch.testing.assert_close(output.logits.exp()[0], mean / mean.sum())


def test_every_member_keeps_its_own_looks_through_every_reordering() -> None:
    members = [TableStepper.random(2, vocabulary=6, seed=seed) for seed in (1, 2)]
    sources = [torch.tensor([0, 1]), torch.tensor([1, 0])]
    found = beam(Ensemble(members), sources, Frame(torch.tensor([7, 7]), BEGIN, END), width=3, best=3)
    for source, some in enumerate(found):
        for one in some.hypotheses:
            fed = (0, BEGIN, *one.tokens[:-1])
            for kind, number in (("cross.1", source), ("cross.2", 1 - source)):
                expected = [[number, fed[t], fed[t + 1]] for t in range(len(one.tokens))]
                assert one.attention[kind][0, 0].tolist() == expected
