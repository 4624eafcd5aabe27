from importlib.resources import files

import numpy as np
from matplotlib.colors import to_rgb

from regard.viewing.colours import ANCHORS, hexadecimal, oklab, ramp


def test_the_scale_goes_through_its_anchors() -> None:
    for weight, colour in zip((0, 0.5, 1), ANCHORS, strict=True):
        assert hexadecimal(weight) == colour


def test_even_steps_of_weight_are_even_steps_of_lightness() -> None:
    lightness = np.array([oklab(hexadecimal(weight))[0] for weight in np.linspace(0, 1, 21)])
    steps = -np.diff(lightness)
    assert (steps > 0).all()
    assert steps.max() / steps.min() < 1.35


def test_oklab_agrees_with_the_published_value_of_red() -> None:
    # CSS Color 4: red is oklab(62.796% 0.22486 0.12585).
    np.testing.assert_allclose(oklab("#ff0000"), [0.62796, 0.22486, 0.12585], atol=2e-5)


def test_weights_outside_zero_and_one_take_the_end_colours() -> None:
    np.testing.assert_allclose(ramp([-1, 2]), [to_rgb(ANCHORS[0]), to_rgb(ANCHORS[-1])], atol=1e-6)


def test_the_page_uses_the_same_anchors() -> None:
    style = files("regard.viewing").joinpath("assets", "base.css").read_text(encoding="utf-8")
    low, middle, high = ANCHORS
    assert f"--low: {low}; --middle: {middle}; --high: {high};" in style
