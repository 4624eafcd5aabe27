"""Regard: sequence-to-sequence learning with attention that you can see."""

__version__ = "0.1.0"
