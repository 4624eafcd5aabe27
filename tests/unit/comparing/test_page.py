import re
from dataclasses import replace

from regard.comparing.page import page, style_of
from regard.comparing.standings import Result


def test_the_page_fetches_and_runs_nothing(result: Result) -> None:
    html = page(result)
    assert "<script" not in html
    assert not re.search(r"(src|href)=|url\(|@import", html)
    assert "default-src 'none'" in html


def test_names_and_texts_enter_as_text(result: Result) -> None:
    html = page(result)
    for text in ("<b>best</b>", "<i>b", "<u>"):
        assert text not in html
    assert "&lt;b&gt;best&lt;/b&gt;" in html


def test_every_model_has_a_line_in_every_chart_and_a_look_at_every_sentence(result: Result) -> None:
    html = page(result)
    charts = re.findall(r'<figure class="chart">.*?</figure>', html, re.DOTALL)
    assert len(charts) == 2 + 4  # two metrics by length; quality and loss over time and over pieces
    for chart in charts:
        assert set(re.findall(r'class="curve (m\d)"', chart)) == {"m0", "m1"}
    assert html.count('class="look"') == 1
    assert html.count("No attention to draw") == 1
    assert len(re.findall('class="said"', html)) == 2  # translations are better or worse, not wrong
    dates = replace(result, by_length={"exact_match": result.by_length["bleu"], **result.by_length})
    assert len(re.findall('class="said wrong"', page(dates))) == 1


def test_a_seed_has_a_line_of_its_own(result: Result) -> None:
    first = result.standings[0]
    one_seed = replace(result, standings=[replace(first, learnings=first.learnings[:1]), result.standings[1]])
    assert page(result).count('class="curve m0"') - page(one_seed).count('class="curve m0"') == 4


def test_the_seventh_model_has_the_first_colour_and_another_stroke() -> None:
    assert [style_of(place) for place in (0, 5, 6, 12, 18)] == ["m0", "m5", "m0 again1", "m0 again2", "m0"]
