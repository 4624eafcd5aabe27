"""Numbers for people."""


def figure(value: float, *, like: float | None = None) -> str:
    """As exactly as it is told, or as another number is that it stands beside.

    Two decimals, but more of a small number: errors in metres are told as well as percents. Of a tiny one the first
    two digits, such as 1.2e-05, for it is not nothing.
    """
    return f"{value:{_form(value if like is None or _is_tiny(like) else like)}}"


def signed(value: float) -> str:
    return f"{value:+{_form(value)}}"


def finer(value: float) -> str:
    """Four decimals, where there are fewer digits before them or the order of like numbers counts."""
    return figure(value) if _is_tiny(value) else f"{value:.4f}"


def rounded(value: float) -> float:
    """For files that people read too."""
    return float(finer(value))


def _form(value: float) -> str:
    size = abs(value)
    if _is_tiny(value):
        return ".1e"
    return ".2f" if size >= 1 or size < 5e-5 else ".3f" if size >= 0.1 else ".4f"


def _is_tiny(value: float) -> bool:
    """Nothing is left of it in four decimals. What is smaller still is what sums of numbers are wrong by."""
    return 1e-12 <= abs(value) < 5e-5


def clock(seconds: float) -> str:
    """`1:02:03`, or `2:03` below an hour."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
