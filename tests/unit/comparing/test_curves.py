from dataclasses import replace
from pathlib import Path

from matplotlib.text import Text

from regard.comparing.curves import figure, learned, minutes, over_length
from regard.comparing.saving import save_result
from regard.comparing.standings import Result


def test_a_picture_has_a_line_for_each_model_over_length_and_over_time(result: Result) -> None:
    drawn = figure(result)
    assert drawn is not None
    over, learning = drawn.axes
    names = [text.get_text() for text in drawn.findobj(Text)]
    for one, lengths in zip(result.standings, over_length(result, result.metric), strict=True):
        assert sum(name.startswith(one.name) for name in names) == 2
        assert any(line.get_xydata().tolist() == list(map(list, lengths)) for line in over.lines)
        course = learned(one.learnings[0], result.metric, minutes)
        assert any(line.get_xydata().tolist() == list(map(list, course)) for line in learning.lines)


def test_without_validations_lengths_alone_are_drawn_and_without_both_nothing(
    result: Result, tmp_path: Path
) -> None:
    silent = [
        replace(one, learnings=[replace(each, points=[]) for each in one.learnings])
        for one in result.standings
    ]
    lengths = figure(replace(result, standings=silent))
    assert lengths is not None
    assert len(lengths.axes) == 1
    bare = replace(result, standings=silent, by_length={})
    assert figure(bare) is None
    names = [path.name for path in save_result(replace(result, standings=silent), tmp_path)]
    assert names == ["compare.json", "compare.md", "compare.html", "compare.png"]
