"""Search: a stepper -> hypotheses. It knows no model."""

from regard.search.beam import beam
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis
from regard.search.plan import SearchPlan
from regard.search.ranks import LengthPenalty, Rank
from regard.search.stepper import Stepper

__all__ = ["Hypothesis", "LengthPenalty", "Rank", "SearchPlan", "Stepper", "beam", "greedy"]
