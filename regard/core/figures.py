"""Numbers for people."""


def decimals(value: float) -> int:
    """Two, but more of a small number: errors in metres are told as well as percents."""
    size = abs(value)
    return 2 if size >= 1 or size < 5e-5 else 3 if size >= 0.1 else 4


def figure(value: float) -> str:
    return f"{value:.{decimals(value)}f}"


def clock(seconds: float) -> str:
    """`1:02:03`, or `2:03` below an hour."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
