"""Search: a stepper -> hypotheses. It knows no model."""

from regard.search.beam import Groups, beam
from regard.search.ensemble import SPACES, Ensemble
from regard.search.finding import Finder
from regard.search.frame import Frame
from regard.search.greedy import greedy
from regard.search.hypothesis import Found, Hypothesis, Likeliest
from regard.search.options import Options, parse
from regard.search.plan import SearchPlan
from regard.search.point_ensemble import PointEnsemble
from regard.search.question import Question
from regard.search.ranks import RANKS, Average, Coverage, LengthPenalty, Rank
from regard.search.rollout import Course, Rolled, Rollout
from regard.search.rules import Forbidden, NoRepeat, Outside, Phrase, Prefix, Required, Rule, Rules
from regard.search.sampling import Draw, sample
from regard.search.shortlist import Shortened, Shortlist, ShortStepper
from regard.search.stepper import Stepper
from regard.search.tree import Node, Tree
from regard.search.watch import NOBODY, Watch, everyone

__all__ = [
    "NOBODY",
    "RANKS",
    "SPACES",
    "Average",
    "Course",
    "Coverage",
    "Draw",
    "Ensemble",
    "Finder",
    "Forbidden",
    "Found",
    "Frame",
    "Groups",
    "Hypothesis",
    "LengthPenalty",
    "Likeliest",
    "NoRepeat",
    "Node",
    "Options",
    "Outside",
    "Phrase",
    "PointEnsemble",
    "Prefix",
    "Question",
    "Rank",
    "Required",
    "Rolled",
    "Rollout",
    "Rule",
    "Rules",
    "SearchPlan",
    "ShortStepper",
    "Shortened",
    "Shortlist",
    "Stepper",
    "Tree",
    "Watch",
    "beam",
    "everyone",
    "greedy",
    "parse",
    "sample",
]
