import json
from dataclasses import replace

from regard.comparing.standings import Result
from regard.comparing.tables import document, legend, markdown, table
from regard.core.figures import clock


def test_a_row_has_quality_with_spread_certainty_and_cost(result: Result) -> None:
    heads, rows = table(result)
    first, second = (dict(zip(heads, row, strict=True)) for row in rows)
    assert first == {
        "model": "<b>best</b>",
        "bleu ↑": "32.00 ±1.50",
        "p": "–",
        "ter ↓": "32.00 ±1.50",
        "perplexity": "12.50",
        "parameters": "5,678",
        "steps": "20",
        "time": "1:00",
        "pieces/s": "33",
        "to bleu 20": "1:00 (1 of 2)",
        "pieces until then": "200",
        "sentences/s": "123",
        "memory": "300 MiB",
    }
    assert second["p"] == "0.0120 worse"
    assert second["perplexity"] == ""
    assert second["to bleu 20"] == "never"


def test_a_column_that_nobody_asked_for_is_left_out(result: Result) -> None:
    standings = [replace(one, reached=None) for one in result.standings]
    heads, rows = table(replace(result, reach=None, standings=standings))
    assert "pieces until then" not in heads
    assert not any(head.startswith("to ") for head in heads)
    assert {len(row) for row in rows} == {len(heads)}


def test_the_legend_says_what_was_equal_and_what_failed(result: Result) -> None:
    told = "\n".join(legend(result))
    for words in (
        "20 steps each",
        "130 test sources",
        "over seeds",
        "<b>best</b> 100, other 90",
        "Failed: third-1: diverged",
    ):
        assert words in told


def test_the_legend_says_what_the_spread_of_a_model_with_one_run_is(result: Result) -> None:
    first, second = result.standings
    mixed = replace(result, standings=[first, replace(second, runs=second.runs[:1])])
    told = "\n".join(legend(mixed))
    assert "±: standard deviation over seeds; of other, with one run, half of the interval" in told
    single = [replace(one, runs=one.runs[:1]) for one in result.standings]
    assert "±: half of the interval" in "\n".join(legend(replace(result, standings=single)))


def test_markdown_has_a_table_and_one_by_length(result: Result) -> None:
    rows = [line for line in markdown(result).splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows] == ["| model", "| ---", "| <b>best</b>", "| other"] * 2
    assert "1 to 9 (70)" in rows[4]


def test_the_document_is_json_and_has_every_figure(result: Result) -> None:
    found = json.loads(json.dumps(document(result), allow_nan=False))
    best, other = found["models"]
    assert best["scores"]["bleu"]["values"] == [31.0, 33.0]
    assert best["scores"]["bleu"]["against"] is None
    assert other["scores"]["bleu"]["against"] == {"difference": -2.0, "p": 0.012, "verdict": "worse"}
    assert best["learning"][0][1] == {
        "step": 2,
        "target_pieces": 200,
        "seconds": 60.0,
        "bleu": 20.0,
        "loss": 0.5,
    }
    assert found["by_source_length"]["ter"][0]["values"] == {"<b>best</b>": 31.25, "other": 28.0}


def test_times_are_written_as_on_a_clock() -> None:
    assert [clock(seconds) for seconds in (0.4, 75, 3675)] == ["0:00", "1:15", "1:01:15"]
