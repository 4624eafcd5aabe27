import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from regard.viewing import canvas, curves


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts + figure.artists]  # type: ignore[attr-defined]


def test_each_score_has_its_panel_and_all_share_the_steps() -> None:
    figure = curves(
        ([1, 2, 3], [3.0, 2.0, 1.0]), {"BLEU": ([2, 3], [10, 20]), "exact_match": ([2, 3], [0.5, 0.75])}
    )
    loss, bleu, exact = figure.axes
    assert {"loss", "BLEU", "exact_match"} <= set(words(figure))
    assert loss.get_xlim() == bleu.get_xlim() == exact.get_xlim()
    np.testing.assert_array_equal(loss.lines[0].get_xydata(), [[1, 3], [2, 2], [3, 1]])
    np.testing.assert_array_equal(bleu.lines[0].get_xydata(), [[2, 10], [3, 20]])
    assert canvas.png(figure).startswith(b"\x89PNG")


def test_validation_loss_shares_the_panel_of_the_training_loss() -> None:
    figure = curves(([1, 2], [3.0, 2.0]), {"loss": ([2], [2.5])}, title="$dates_1")
    (panel,) = figure.axes
    assert len(panel.lines) == 2
    assert {"training 2", "validation 2.5", "$dates_1"} <= set(words(figure))
    assert b"$dates_1" in canvas.svg(figure)


def test_a_long_noisy_loss_is_drawn_pale_with_its_moving_mean() -> None:
    steps = np.arange(400)
    values = np.where(steps % 2, 1.0, 3.0)
    raw, smooth = curves((steps, values)).axes[0].lines
    assert raw.get_alpha() == pytest.approx(0.25)
    middle = np.asarray(smooth.get_ydata())[20:-20]
    np.testing.assert_allclose(middle, 2.0, atol=0.06)


def test_a_step_that_diverged_leaves_a_gap() -> None:
    figure = curves(([1, 2, 3], [1.0, math.inf, math.nan]))
    values = np.asarray(figure.axes[0].lines[0].get_ydata())
    np.testing.assert_array_equal(np.isnan(values), [False, True, True])
    assert "training 1" in words(figure)
    canvas.png(figure)


def test_a_training_that_has_not_begun_gives_empty_panels() -> None:
    figure = curves(([], []), {"BLEU": ([], [])})
    assert len(figure.axes) == 2
    canvas.png(figure)


def test_steps_and_values_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 steps do not go with 1 values"):
        curves(([1, 2], [1.0]))
