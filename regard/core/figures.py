"""Numbers for people."""


def decimals(value: float) -> int:
    """Two, but more of a small number: errors in metres are told as well as percents."""
    size = abs(value)
    return 2 if size >= 1 or size < 5e-5 else 3 if size >= 0.1 else 4


def figure(value: float) -> str:
    return f"{value:.{decimals(value)}f}"
