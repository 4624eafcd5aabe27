import subprocess
import sys

from regard.metrics import Interval, Score


def test_a_score_prints_for_people() -> None:
    score = Score("bleu", 27.3456, "nrefs:1|version:2.6.0", higher_is_better=True)
    assert str(score) == "bleu 27.35 (nrefs:1|version:2.6.0)"


def test_importing_the_metrics_imports_none_of_their_libraries() -> None:
    program = "import sys, regard.metrics; print(*sorted({'sacrebleu', 'jiwer', 'torch'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_an_interval_is_shown_as_half_its_width() -> None:
    score = Score("bleu", 30.0, "version:1", True, Interval(29, 31.5))
    assert score.shown == "30.00 ±1.25"
