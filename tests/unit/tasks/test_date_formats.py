from datetime import date, timedelta
from random import Random

import pytest
from babel.dates import format_date

from regard.core.errors import UserError
from regard.tasks.date_formats import (
    CASINGS,
    COMMON_PATTERNS,
    DEFAULT_LOCALES,
    FIRST_YEAR,
    LAST_YEAR,
    DateFormat,
    LeftOut,
    date_formats,
    lower,
    upper,
)


def days(first: int, last: int) -> list[date]:
    start = date(first, 1, 1)
    return [start + timedelta(number) for number in range((date(last, 12, 31) - start).days + 1)]


def reasons(locales: list[str]) -> dict[tuple[str, str], str]:
    return {(form.locale, form.pattern): form.reason for form in date_formats(locales).left_out}


# ---- Promises about what is kept


def test_every_string_of_the_default_locales_means_exactly_one_date() -> None:
    meanings: dict[str, date] = {}
    for form in date_formats().kept:
        write = form.writer()
        for day in days(2019, 2021):
            text = write(day)
            for casing in CASINGS:
                written = casing(text, form.locale)
                assert meanings.setdefault(written, day) == day, (form, written)
    assert set(meanings.values()) == set(days(2019, 2021))


def test_locales_that_clash_leave_only_strings_with_one_meaning() -> None:
    meanings: dict[str, date] = {}
    for form in date_formats(["cs", "hr", "ja", "fa", "vi"]).kept:
        write = form.writer()
        for day in days(2020, 2020):
            for casing in CASINGS:
                written = casing(write(day), form.locale)
                assert meanings.setdefault(written, day) == day, (form, written)


@pytest.mark.parametrize("day", [date(2018, 12, 31), date(2021, 1, 1), date(1900, 1, 1), date(2099, 12, 31)])
def test_days_around_new_year_carry_their_calendar_year(day: date) -> None:
    for form in date_formats().kept:
        assert str(day.year) in form.writer()(day), form


def test_the_week_year_would_have_been_wrong_on_these_days() -> None:
    assert format_date(date(2018, 12, 31), "YYYY", "en_GB") == "2019"
    assert not any("Y" in pattern for pattern in COMMON_PATTERNS)


@pytest.mark.parametrize(
    "locales", [DEFAULT_LOCALES, ["ar", "fa", "he", "th", "fi", "zh_Hant", "hu", "pt-BR"]]
)
def test_what_is_written_is_what_babel_writes(locales: list[str]) -> None:
    random = Random(1)
    everything = days(FIRST_YEAR, LAST_YEAR)
    for form in date_formats(locales).kept:
        for day in random.sample(everything, 20):
            expected = format_date(day, form.pattern, form.locale.replace("-", "_"))
            assert form.writer()(day) == expected, form


def test_a_writer_of_one_format_agrees_with_babel_on_every_day_of_a_leap_year() -> None:
    form = DateFormat("pl", "EEEE, d MMMM y")
    write = form.writer()
    for day in days(2020, 2020):
        assert write(day) == format_date(day, form.pattern, form.locale)


def test_known_dates_are_written_as_people_write_them() -> None:
    day = date(2015, 5, 9)
    assert DateFormat("en", "EEEE dd MMMM y").writer()(day) == "Saturday 09 May 2015"
    assert DateFormat("es", "d 'de' MMMM 'de' y").writer()(day) == "9 de mayo de 2015"
    assert DateFormat("de", "EEEE, d. MMMM y").writer()(day) == "Samstag, 9. Mai 2015"


def test_every_default_locale_keeps_its_own_long_way_and_many_common_ones() -> None:
    kept = date_formats().by_locale
    assert tuple(kept) == DEFAULT_LOCALES
    assert DateFormat("es", "EEEE, d 'de' MMMM 'de' y") in kept["es"]
    assert DateFormat("tr", "d MMMM y EEEE") in kept["tr"]
    for locale, forms in kept.items():
        assert {DateFormat(locale, pattern) for pattern in COMMON_PATTERNS} <= set(forms)
        assert len(set(forms)) == len(forms)


def test_the_order_of_the_locales_does_not_decide_what_is_kept() -> None:
    straight, turned = date_formats(["cs", "hr", "en"]), date_formats(["en", "hr", "cs"])
    assert set(straight.kept) == set(turned.kept)
    assert len(straight.left_out) == len(turned.left_out)


# ---- What is left out, and why


def test_a_year_of_two_digits_is_left_out() -> None:
    assert "two digits" in reasons(["en"])["en", "M/d/yy"]


@pytest.mark.parametrize(("locale", "pattern"), [("fr", "dd/MM/y"), ("de", "dd.MM.y"), ("es_PA", "MM/dd/y")])
def test_a_numeric_month_after_which_the_year_follows_is_left_out(locale: str, pattern: str) -> None:
    assert "month is a number" in reasons([locale])[locale, pattern]


@pytest.mark.parametrize(
    ("locale", "pattern"), [("sv", "y-MM-dd"), ("ja", "y年M月d日"), ("hu", "y. MM. dd.")]
)
def test_a_numeric_month_after_the_year_is_kept(locale: str, pattern: str) -> None:
    assert DateFormat(locale, pattern) in date_formats([locale]).kept


def test_month_names_with_two_meanings_are_left_out_in_both_locales() -> None:
    left_out = date_formats(["cs", "hr"]).left_out
    assert LeftOut("cs", "d MMM y", "'srp' is August in 'cs' and July in 'hr'") in left_out
    assert LeftOut("hr", "d MMM y", "'srp' is July in 'hr' and August in 'cs'") in left_out
    assert DateFormat("cs", "d MMMM y") in date_formats(["cs", "hr"]).kept


def test_a_dot_or_a_capital_does_not_tell_two_month_names_apart() -> None:
    # Norwegian "jan." is January; Southern Sotho "Jan" is not.
    assert format_date(date(2018, 1, 1), "MMM", "nn") == "jan."
    assert reasons(["nn", "st"])["nn", "d MMM y"] == "'jan.' is January in 'nn' and June in 'st'"


def test_a_clash_leaves_a_third_locale_alone() -> None:
    alone, beside = date_formats(["fr"]).kept, date_formats(["cs", "fr", "hr"]).by_locale["fr"]
    assert alone == beside


def test_polish_and_croatian_together_are_refused_by_name() -> None:
    with pytest.raises(
        UserError, match=r"'pl' and 'hr' cannot be used together: 'listopada' is November in 'pl'"
    ):
        date_formats(["en", "pl", "hr"])


def test_months_in_other_digits_are_left_out() -> None:
    # The short month names of Dzongkha are Tibetan numbers.
    assert reasons(["dz"])["dz", "སྤྱི་ལོ་y ཟླ་MMM ཚེས་dd"] == "it writes numbers with digits other than 0 to 9"
    assert "month is a number" in reasons(["dz"])["dz", "d MMM y"]
    assert DateFormat("dz", "y-MM-dd") in date_formats(["dz"]).kept


@pytest.mark.parametrize("locale", ["ar", "fa", "bn", "my", "ne"])
def test_a_locale_with_digits_of_its_own_is_written_with_0_to_9(locale: str) -> None:
    for form in date_formats([locale]).kept:
        digits = {character for character in form.writer()(date(2018, 5, 19)) if character.isdecimal()}
        assert digits <= set("0123456789")


# ---- Casing


def test_turkish_keeps_the_dot_of_its_i() -> None:
    assert upper("Nisan Salı", "tr") == "NİSAN SALI"
    assert lower("NİSAN SALI", "tr") == "nisan salı"
    assert upper("iyul", "az-Latn") == "İYUL"


def test_other_languages_have_the_usual_capitals() -> None:
    assert upper("février Ii", "fr") == "FÉVRIER II"
    assert lower("MIÉRCOLES Ii", "es") == "miércoles ii"


# ---- Mistakes


@pytest.mark.parametrize(
    ("locale", "hint"),
    [("pt_BB", "Did you mean 'pt_BR'"), ("french", "fr"), ("12", "unknown"), ("", "unknown")],
)
def test_an_unknown_locale_is_named_with_the_nearest(locale: str, hint: str) -> None:
    with pytest.raises(UserError, match=hint) as error:
        date_formats(["en", locale])
    assert f"The locale {locale!r} is unknown" in str(error.value)
    assert len(str(error.value)) < 300


def test_no_locale_is_refused() -> None:
    with pytest.raises(UserError, match="No locale was named"):
        date_formats([])


def test_a_locale_named_twice_is_refused() -> None:
    with pytest.raises(UserError, match="'en' is named twice"):
        date_formats(["en", "fr", "en"])
