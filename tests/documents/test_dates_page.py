import re
from pathlib import Path

from regard.tasks.date_formats import date_formats

PAGE = (Path(__file__).parent.parent.parent / "docs/dates.md").read_text(encoding="utf-8")


def test_the_page_lists_exactly_the_formats_that_are_left_out() -> None:
    rows = re.findall(r"^\| (\w\w) \| `(.*?)` \| (.*?) \|$", PAGE, flags=re.MULTILINE)
    assert rows == [(one.locale, one.pattern, one.reason) for one in date_formats().left_out]
    assert f"one of {len(date_formats().kept)} formats" in PAGE
