"""Rollouts, on a rule of numbers instead of a network."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.core.errors import UserError
from regard.core.state import StepOutput
from regard.layers.points import POINT_HEADS, Gaussian, PointHead
from regard.search import Draw, PointEnsemble, Question, Rolled, Rollout, Watch

SIZE = 2


@dataclass(frozen=True)
class RuleState:
    sources: Tensor  # rows, which source each row belongs to
    said: Tensor  # rows T D, all that was fed

    def select(self, rows: Tensor) -> "RuleState":
        return RuleState(self.sources[rows], self.said[rows])


class RuleStepper:
    """The next point is half of the last, plus the number of the source: 0 where nothing is known yet.

    It looks at two places: the source's number and the first value it was fed; and at itself, once more each step.
    """

    def __init__(self, head: PointHead | None = None, shift: float = 0.0):
        self.head = head or POINT_HEADS["squared"](1, SIZE)
        self.shift = shift
        self.rows_stepped: list[int] = []

    def begin(self, source: Tensor) -> RuleState:
        return RuleState(source, torch.zeros(len(source), 0, SIZE))

    def step(self, tokens: Tensor, state: RuleState) -> StepOutput[RuleState]:
        self.rows_stepped.append(len(tokens))
        mean = tokens.nan_to_num(0) / 2 + state.sources[:, None] + self.shift  # rows D
        said = torch.zeros(len(tokens), self.head.out_features)
        said[:, :SIZE] = mean
        fed = torch.cat([state.said, tokens[:, None]], dim=1)
        looks = {
            "cross": torch.stack([state.sources.float(), tokens[:, 0]], dim=1)[:, None, None],
            "decoder": fed[:, None, None, :, 0],
        }  # rows L H S
        return StepOutput(said, looks, RuleState(state.sources, fed))


def asked(numbers: Sequence[int], **more: object) -> list[Question]:
    return [Question(0, f"source {number}".encode(), **more) for number in numbers]


def rolled(
    plan: Rollout, numbers: Sequence[int], stepper: RuleStepper | None = None, **more: object
) -> list[Rolled]:
    stepper = stepper or RuleStepper()
    mask = torch.ones(len(numbers), 1, dtype=torch.bool)
    return plan(stepper, torch.tensor(numbers), asked(numbers, **more), mask)


def gaussian() -> RuleStepper:
    return RuleStepper(Gaussian(1, SIZE))


def test_every_point_goes_on_from_the_one_before_and_the_first_from_nothing() -> None:
    (found,) = rolled(Rollout(steps=3), [4])
    (course,) = found.hypotheses
    assert course.points.tolist() == [[4, 4], [6, 6], [7, 7]]
    assert course.points.dtype == np.float32
    assert course.finished
    assert found.tree is None


def test_the_attention_of_every_step_stays_with_its_course() -> None:
    (course,) = rolled(Rollout(steps=3), [4])[0].hypotheses
    assert course.attention["cross"].shape == (1, 1, 3, 2)
    torch.testing.assert_close(
        course.attention["cross"][0, 0], torch.tensor([[4, np.nan], [4, 4], [4, 6]]), equal_nan=True
    )
    own = course.attention["decoder"][0, 0].nan_to_num(-1)  # 3 3: what it had been fed, and nothing beyond
    assert own.tolist() == [[-1, 0, 0], [-1, 4, 0], [-1, 4, 6]]


def test_each_question_may_ask_for_its_own_number_of_steps() -> None:
    stepper = RuleStepper()
    questions = [
        Question(0, b"a", steps=1),
        Question(0, b"b"),
        Question(0, b"c", steps=2),
    ]
    found = Rollout(steps=4)(stepper, torch.tensor([1, 2, 3]), questions, torch.ones(3, 1))
    assert [len(one.hypotheses[0].points) for one in found] == [1, 4, 2]
    assert stepper.rows_stepped == [3, 2, 1, 1]
    for number, one in zip([1, 2, 3], found, strict=True):
        alone = rolled(Rollout(steps=4), [number])[0].hypotheses[0]
        assert one.hypotheses[0].points.tolist() == alone.points[: len(one.hypotheses[0].points)].tolist()
        assert (one.hypotheses[0].attention["cross"][..., 0] == number).all()


def test_several_courses_are_the_expected_one_and_draws() -> None:
    (found,) = rolled(Rollout(steps=5, best=4), [2], gaussian())
    first, *others = (course.points for course in found.hypotheses)
    assert first.tolist() == rolled(Rollout(steps=5), [2])[0].hypotheses[0].points.tolist()
    assert len({one.tobytes() for one in [first, *others]}) == 4


@pytest.mark.parametrize("plan", [Rollout(steps=2, best=2), Rollout(steps=2, draw=Draw())])
@pytest.mark.parametrize("kind", ["squared", "huber"])
def test_where_nothing_can_be_drawn_no_other_future_is_made_up(plan: Rollout, kind: str) -> None:
    with pytest.raises(UserError, match=r"nothing to draw.*gaussian"):
        rolled(plan, [2], RuleStepper(POINT_HEADS[kind](1, SIZE)))


def test_with_a_draw_all_are_drawn_and_the_likeliest_comes_first() -> None:
    (found,) = rolled(Rollout(steps=5, best=6, draw=Draw()), [2], gaussian())
    scores = [course.score for course in found.hypotheses]
    assert scores == sorted(scores, reverse=True)
    expected = rolled(Rollout(steps=5), [2], gaussian())[0].hypotheses[0]
    assert all(course.score < expected.score for course in found.hypotheses)


def test_a_score_is_the_sum_of_its_steps_under_the_head() -> None:
    stepper = gaussian()
    for course in rolled(Rollout(steps=4, best=3), [2], stepper)[0].hypotheses:
        fed = torch.cat([torch.zeros(1, SIZE), torch.from_numpy(course.points[:-1])])
        said = torch.cat([fed / 2 + 2, torch.zeros(4, SIZE)], dim=-1)
        expected = stepper.head.log_probability(said, torch.from_numpy(course.points))
        assert course.steps == pytest.approx(expected.tolist(), abs=1e-5)
        assert course.score == course.rank == pytest.approx(sum(course.steps))


@pytest.mark.parametrize("plan", [Rollout(steps=6, best=3), Rollout(steps=6, best=3, draw=Draw())])
def test_a_sources_courses_do_not_depend_on_its_neighbours_or_its_place(plan: Rollout) -> None:
    def points(numbers: Sequence[int]) -> list[list[list[float]]]:
        found = rolled(plan, numbers, gaussian())
        return [[course.points.tolist() for course in one.hypotheses] for one in found]

    together = points([0, 1, 2, 3])
    for order in ([3, 1], [2], [1, 0, 3, 2]):
        assert points(order) == [together[number] for number in order]


def test_a_seed_draws_the_same_and_another_something_else() -> None:
    def drawn(seed: int, best: int = 1) -> list[bytes]:
        plan = Rollout(steps=4, best=best, draw=Draw(), seed=seed)
        return [course.points.tobytes() for course in rolled(plan, [1], gaussian())[0].hypotheses]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1)[0] in drawn(1, best=5)


def test_more_steps_change_none_of_the_first() -> None:
    short, long = (
        rolled(Rollout(steps=steps, draw=Draw()), [1], gaussian())[0].hypotheses[0].points for steps in (3, 9)
    )
    assert short.tolist() == long[:3].tolist()


def test_a_low_temperature_keeps_near_the_mean() -> None:
    def away(temperature: float) -> float:
        plan = Rollout(steps=1, best=50, draw=Draw(temperature))
        return float(
            np.std(
                [course.points[0] for course in rolled(plan, [1], gaussian())[0].hypotheses], axis=0
            ).mean()
        )

    assert away(0.01) == pytest.approx(away(1.0) / 10, rel=0.01)


def test_a_source_that_nobody_waits_for_leaves_and_the_others_go_on() -> None:
    stepper, left = gaussian(), iter([True, False])
    questions = [
        Question(0, b"a"),
        Question(0, b"b", watch=Watch(lambda: next(left))),
        Question(0, b"c"),
    ]
    found = Rollout(steps=4, best=2)(stepper, torch.tensor([1, 2, 3]), questions, torch.ones(3, 1))
    assert [len(one.hypotheses) for one in found] == [2, 0, 2]
    assert stepper.rows_stepped == [6, 6, 4, 4]
    assert (
        found[2].hypotheses[0].points.tolist()
        == rolled(Rollout(steps=4), [3])[0].hypotheses[0].points.tolist()
    )


@pytest.mark.parametrize(
    ("plan", "hears"), [(Rollout(3), 3), (Rollout(3, best=2), 3), (Rollout(3, 2, Draw()), 0)]
)
def test_what_is_heard_grows_into_the_answer(plan: Rollout, hears: int) -> None:
    heard: list[list[list[float]]] = []
    (found,) = rolled(plan, [4], gaussian(), watch=Watch(hear=lambda points: heard.append(list(points))))
    assert [len(points) for points in heard] == list(range(1, hears + 1))
    if hears:
        assert heard[-1] == found.hypotheses[0].points.tolist()


@pytest.mark.parametrize("shift", [float("nan"), float("inf")])
def test_a_model_that_gives_no_numbers_is_told(shift: float) -> None:
    with pytest.raises(UserError, match="no numbers"):
        rolled(Rollout(steps=2), [1], RuleStepper(shift=shift))


def test_the_plan_answers_what_a_predictor_asks_of_it() -> None:
    plan, (question,) = Rollout(steps=7, best=3), asked([1])
    assert plan.rows == 3
    assert plan.suited(question) is plan
    assert plan.impossible(question) is None
    assert plan.coverage == 0
    assert plan.limit(question) == 7
    assert len({plan, Rollout(steps=7, best=3)}) == 1


def test_options_change_a_plan() -> None:
    plan = Rollout(steps=3).changed({"best": 5, "max_length": 9, "sample": None})
    assert plan == Rollout(steps=9, best=5)
    assert plan.changed({"sample": True, "temperature": 0.5}).draw == Draw(0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"beam": 5}, "no option 'beam'. Known: best, max_length,"),
        ({"best": 0}, "must be from 1"),
        ({"max_length": 0}, "max_length is 0, but must be from 1"),
        ({"temperature": 0.5}, "ask for sampling too"),
    ],
)
def test_options_that_make_no_sense_are_told(options: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Rollout().changed(options)


def test_points_are_drawn_by_temperature_alone() -> None:
    with pytest.raises(UserError, match="leave out top_k"):
        Rollout(draw=Draw(top_k=3))


# ---- ensembles


def test_an_ensemble_says_the_mean_of_its_members_points() -> None:
    both = PointEnsemble([RuleStepper(shift=1.0), RuleStepper(shift=3.0)])
    sources = [torch.tensor([4])] * 2
    (found,) = Rollout(steps=2)(both, sources, asked([4]), torch.ones(1, 1))
    (course,) = found.hypotheses
    assert course.points.tolist() == [[6, 6], [9, 9]]
    assert set(course.attention) == {"cross.1", "cross.2", "decoder.1", "decoder.2"}


def test_an_ensembles_likelihood_is_the_mean_of_its_members_and_its_draws_are_theirs() -> None:
    """Members around 0 and 20 with a scale of one: each draw is near one of them, both come up."""
    members = [RuleStepper(Gaussian(1, SIZE), shift) for shift in (0.0, 20.0)]
    plan = Rollout(steps=1, best=40, draw=Draw())
    (found,) = plan(PointEnsemble(members), [torch.tensor([0])] * 2, asked([0]), torch.ones(1, 1))
    firsts = np.array([course.points[0] for course in found.hypotheses])
    near = np.abs(firsts) < 6
    assert (near | (np.abs(firsts - 20) < 6)).all()
    assert 8 < near[:, 0].sum() < 32
    assert (near[:, 0] == near[:, 1]).all()
    head = members[0].head
    for course in found.hypotheses:
        point = torch.from_numpy(course.points)
        each = [head.log_probability(torch.tensor([[m, m, 0.0, 0.0]]), point) for m in (0.0, 20.0)]
        assert course.score == pytest.approx(torch.stack(each).exp().mean().log().item(), abs=1e-4)
