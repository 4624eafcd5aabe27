import json
import math
from dataclasses import replace

import numpy as np
import pytest

from regard.core.prediction import AttentionRecord, BeamNode, Prediction
from regard.viewing import as_document
from regard.viewing.document import as_json


def test_the_document_survives_a_round_trip_through_strict_json(two_by_three: Prediction) -> None:
    document = json.loads(as_json(as_document(two_by_three)))
    assert document == {
        "format": "regard.attention/1",
        "source": "a c",
        "source_pieces": ["a", " ", "c"],
        "text": "xy",
        "target_pieces": ["x", "y"],
        "score": -0.25,
        "finished": False,
        "attention": {"cross": {"shape": [1, 1, 2, 3], "weights": [[[[0.1, 0.2, 0.7], [0.9, 0.06, 0.04]]]]}},
    }


@pytest.mark.parametrize("pieces", [1, 3, 7, 60, 3000])
def test_rows_of_any_length_sum_to_one_and_stay_within_a_millionth(predict, pieces: int) -> None:
    scores = np.random.default_rng(pieces).normal(size=(2, 2, 5, pieces))
    weights = (np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)).astype(np.float32)
    written = np.array(
        as_document(predict(["s"] * pieces, ["t"] * 5, weights))["attention"]["cross"]["weights"]
    )
    assert np.abs(written.sum(-1) - 1).max() < 1e-9
    assert np.abs(written - weights).max() < 2e-6
    assert written.min() >= 0


def test_half_precision_rows_sum_to_one(predict) -> None:
    weights = np.full((1, 1, 1, 333), 1 / 333).astype(np.float16)
    assert abs(float(weights.astype(np.float64).sum()) - 1) > 1e-5
    (row,) = as_document(predict(["s"] * 333, ["t"], weights))["attention"]["cross"]["weights"][0][0]
    assert abs(sum(row) - 1) < 1e-5


def test_a_row_that_is_no_distribution_is_written_as_it_is(predict) -> None:
    document = as_document(predict(["a", "b"], ["x"], [[[[0.0, 0.25]]]]))
    assert document["attention"]["cross"]["weights"] == [[[[0.0, 0.25]]]]


def test_numbers_that_are_not_finite_become_null(predict) -> None:
    prediction = replace(predict(["a", "b"], ["x"], [[[[math.nan, 1.0]]]]), score=-math.inf)
    document = json.loads(as_json(as_document(prediction)))
    assert document["score"] is None
    assert document["attention"]["cross"]["weights"] == [[[[None, 1.0]]]]


def test_half_a_surrogate_pair_can_be_written_as_utf_8(hostile: Prediction) -> None:
    content = as_json(as_document(hostile)).encode("utf-8")
    pieces = json.loads(content)["source_pieces"]
    assert "\ufffd" in pieces
    assert "\u2028" in pieces


def test_every_kind_of_attention_is_written_and_none_is_no_trouble(predict) -> None:
    assert as_document(predict(["a"], ["x"], None))["attention"] == {}
    record = AttentionRecord(("a",), ("x",), {"self": np.ones((1, 1, 2, 2), np.float32) / 2})
    document = as_document(replace(predict(["a"], ["x"]), attention=record))
    assert document["attention"] == {"self": {"shape": [1, 1, 2, 2], "weights": [[[[0.5, 0.5], [0.5, 0.5]]]]}}


def test_an_empty_source_or_answer_has_empty_lists(predict) -> None:
    empty = as_document(predict([], ["</s>"], np.zeros((1, 1, 1, 0))))
    assert empty["attention"]["cross"] == {"shape": [1, 1, 1, 0], "weights": [[[[]]]]}
    assert as_document(predict(["a"], [], np.zeros((1, 1, 0, 1))))["attention"]["cross"]["weights"] == [[[]]]


def test_a_recorded_beam_is_written_node_by_node(small_beam: Prediction) -> None:
    nodes = (*small_beam.beam, BeamNode(4, "\ud800", -3.0, -math.inf, "pruned", 3))
    written = json.loads(as_json(as_document(replace(small_beam, beam=nodes))))["beam"]
    assert len(written) == 9
    assert written[3] == {
        "parent": 1, "piece": "x", "score": -0.625, "rank": -0.5, "fate": "kept", "step": 2
    }  # fmt: skip
    assert written[8] == {
        "parent": 4, "piece": "\ufffd", "score": -3.0, "rank": None, "fate": "pruned", "step": 3
    }  # fmt: skip
    assert "beam" not in as_document(replace(small_beam, beam=None))
