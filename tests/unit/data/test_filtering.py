from regard.data import PairReport


def test_a_report_adds_up() -> None:
    report = PairReport(1, 2, 3, 4) + PairReport(10, 20, 30, 40)
    assert report == PairReport(kept=11, empty=22, source_too_long=33, target_too_long=44)
    assert report.total == 110


def test_a_report_names_only_what_was_left_out() -> None:
    assert str(PairReport(kept=1_000)) == "1,000 pairs"
    assert str(PairReport(kept=1_000, empty=2, target_too_long=3)) == (
        "1,000 of 1,005 pairs (left out: 2 with an empty side, 3 with a target too long)"
    )
