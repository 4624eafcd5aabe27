"""How people write dates in many places, and which of those ways can be read back without a doubt."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from types import MappingProxyType

from babel import Locale, UnknownLocaleError
from babel.dates import DateTimeFormat, tokenize_pattern
from babel.localedata import locale_identifiers

from regard.core.errors import UserError, did_you_mean

DEFAULT_LOCALES = ("en", "fr", "de", "es", "it", "pt", "nl", "pl", "sv", "tr")

FIRST_YEAR, LAST_YEAR = 1900, 2099

# Ways of writing that every locale gets beside its own four of the CLDR. The year is always `y`:
# `Y` is the year of the week, another one on some days around New Year.
COMMON_PATTERNS = (
    "EEEE dd MMMM y",
    "EEEE d MMMM y",
    "EEE d MMM y",
    "EEE, dd MMM y",
    "d MMMM y",
    "d. MMMM y",
    "d MMM y",
    "dd MMM y",
    "MMMM d y",
    "MMMM d, y",
    "MMM d, y",
    "y MMMM d",
    "y-MM-dd",
    "y/MM/dd",
    "y.MM.dd",
)


@dataclass(frozen=True)
class DateFormat:
    """A CLDR pattern and the locale whose names it is filled with."""

    locale: str
    pattern: str

    def writer(self) -> Callable[[date], str]:
        """A fast `babel.dates.format_date(day, self.pattern, self.locale)` for the years 1900 to 2099."""
        parts = _parts(self)

        def write(day: date) -> str:
            return "".join([part if isinstance(part, str) else part(day) for part in parts])

        return write


@dataclass(frozen=True)
class LeftOut:
    """A format that is not used, and why."""

    locale: str
    pattern: str
    reason: str


@dataclass(frozen=True)
class DateFormats:
    kept: tuple[DateFormat, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def by_locale(self) -> dict[str, tuple[DateFormat, ...]]:
        grouped = defaultdict(list)
        for form in self.kept:
            grouped[form.locale].append(form)
        return {locale: tuple(forms) for locale, forms in grouped.items()}


def date_formats(locales: Sequence[str] = DEFAULT_LOCALES) -> DateFormats:
    """The formats of these locales in which every string means one date only, in any casing.

    What is kept does not depend on the order of the locales; only the order of the result does.
    """
    if not locales:
        raise UserError(f"No locale was named. Name at least one, such as {', '.join(DEFAULT_LOCALES)}.")
    for number, locale in enumerate(locales):
        _babel_locale(locale)
        if locale in locales[:number]:
            raise UserError(f"The locale {locale!r} is named twice. Name it once.")

    left_out, readable = [], []
    for form in (form for locale in locales for form in _candidates(locale)):
        reason = _unreadable(form)
        if reason is None:
            readable.append(form)
        else:
            left_out.append(LeftOut(form.locale, form.pattern, reason))

    clashes = _clashes(readable)
    kept = [form for form in readable if form not in clashes]
    left_out += [LeftOut(form.locale, form.pattern, clash.reason) for form, clash in clashes.items()]

    naming = {form.locale for form in kept if _month_names(form)}
    for form, clash in clashes.items():
        if form.locale not in naming:
            raise UserError(
                f"The locales {clash.locales[0]!r} and {clash.locales[1]!r} cannot be used together: "
                f"{clash.reason}, and {form.locale!r} has no other way to name a month. Leave one out."
            )
    return DateFormats(tuple(kept), tuple(left_out))


# ---- Casing


def as_it_comes(text: str, locale: str) -> str:  # noqa: ARG001 a casing like the others
    return text


def upper(text: str, locale: str) -> str:
    """Capitals as the locale writes them: Turkish `i` becomes `İ`."""
    return (text.translate(_DOTTED_CAPITALS) if _has_dotless_i(locale) else text).upper()


def lower(text: str, locale: str) -> str:
    """Small letters as the locale writes them: Turkish `I` becomes `ı`."""
    return (text.translate(_DOTTED_SMALL) if _has_dotless_i(locale) else text).lower()


CASINGS: tuple[Callable[[str, str], str], ...] = (as_it_comes, upper, lower)

_DOTTED_CAPITALS = str.maketrans("iı", "İI")
_DOTTED_SMALL = str.maketrans("Iİ", "ıi")


def _has_dotless_i(locale: str) -> bool:
    return locale.replace("-", "_").split("_")[0] in {"az", "crh", "tr"}


# ---- Locales and patterns


@lru_cache
def _babel_locale(name: str) -> Locale:
    try:
        return Locale.parse(name, sep="-" if "-" in name else "_")
    except (UnknownLocaleError, ValueError):
        known = (locale for locale in locale_identifiers() if locale[:1] == name[:1].lower())
        with_territory = "_" in name or "-" in name
        near = did_you_mean(name, [locale for locale in known if ("_" in locale) == with_territory])
        raise UserError(f"The locale {name!r} is unknown.{near}") from None


def _candidates(locale: str) -> Iterable[DateFormat]:
    own = _babel_locale(locale).date_formats
    patterns = [own[length].pattern for length in ("full", "long", "medium", "short")]
    return [DateFormat(locale, pattern) for pattern in dict.fromkeys((*patterns, *COMMON_PATTERNS))]


def _fields(form: DateFormat) -> list[str]:
    """The fields of a pattern without the text between them: `["EEEE", "d", "MMMM", "y"]`."""
    return [value[0] * value[1] for _, value in tokenize_pattern(form.pattern) if isinstance(value, tuple)]


# ---- What can be read back


def _unreadable(form: DateFormat) -> str | None:
    """Why a string of this format may mean more than one date, whatever the other formats are."""
    fields = _fields(form)
    letters = "".join(field[0] for field in fields).replace("L", "M")
    if "Y" in letters:
        return "its year is the year of the week, which is another one on some days around New Year"
    if not set("yMd") <= set(letters) <= set("yMdEcG"):
        return "it does not consist of a year, a month and a day"
    if "yy" in fields:
        return "its year has two digits, so that the century is open"
    if not _month_names(form) and not letters.index("y") < letters.index("M") < letters.index("d"):
        return "its month is a number and its year does not stand first: places differ on what comes first"
    sample = form.writer()
    if any(_has_foreign_digit(sample(day)) for day in _SAMPLE_DAYS):
        return "it writes numbers with digits other than 0 to 9"
    return None


# Every weekday, every month.
_SAMPLE_DAYS = (
    *(date(2018, 1, day) for day in range(1, 8)),
    *(date(2018, month, 1) for month in range(2, 13)),
)


def _has_foreign_digit(text: str) -> bool:
    return any(character.isdecimal() and character not in "0123456789" for character in text)


@dataclass(frozen=True)
class _Clash:
    locales: tuple[str, str]
    reason: str


def _clashes(forms: Sequence[DateFormat]) -> dict[DateFormat, _Clash]:
    """The formats with a month name that means another month in another format."""
    meanings: defaultdict[str, dict[int, str]] = defaultdict(dict)  # key of a name -> month -> a locale
    for form in forms:
        for month, name in _month_names(form).items():
            for key in _keys(name, form.locale):
                meanings[key].setdefault(month, form.locale)

    english = _months(Locale("en"), "MMMM")
    clashes = {}
    for form in forms:
        for month, name in _month_names(form).items():
            for key in _keys(name, form.locale):
                others = [(other, place) for other, place in meanings[key].items() if other != month]
                if others and form not in clashes:
                    other, place = others[0]
                    reason = (
                        f"{name!r} is {english[month]} in {form.locale!r} and {english[other]} in {place!r}"
                    )
                    clashes[form] = _Clash((form.locale, place), reason)
    return clashes


def _keys(name: str, locale: str) -> list[str]:
    """What is left of a name when casing and dots are not to be relied on."""
    return [casing(name, locale).casefold().replace(".", "").strip() for casing in CASINGS]


@lru_cache(maxsize=4096)
def _month_names(form: DateFormat) -> Mapping[int, str]:
    """Month -> its name in this format; nothing when the format writes months as numbers."""
    (field,) = [field for field in _fields(form) if field[0] in "ML"][:1] or [""]
    names = _months(_babel_locale(form.locale), field) if len(field) > 2 else {}
    named = any(character.isalpha() for name in names.values() for character in name)
    return MappingProxyType(names if named else {})


def _months(locale: Locale, field: str) -> dict[int, str]:
    return {month: DateTimeFormat(date(2018, month, 1), locale)[field] for month in range(1, 13)}


# ---- Fast writing

Part = str | Callable[[date], str]


def _parts(form: DateFormat) -> list[Part]:
    """Literal text, and for each field a look into a table that Babel filled."""
    return [
        value if isinstance(value, str) else _field_part(form.locale, value[0] * value[1])
        for _, value in tokenize_pattern(form.pattern)
    ]


@lru_cache(maxsize=4096)
def _field_part(name: str, field: str) -> Part:
    locale = _babel_locale(name)

    def texts(days: Iterable[date]) -> list[str]:
        return [DateTimeFormat(day, locale)[field] for day in days]

    match field[0]:
        case "y":
            years = texts(date(year, 1, 1) for year in range(FIRST_YEAR, LAST_YEAR + 1))
            return lambda day: years[day.year - FIRST_YEAR]
        case "M" | "L":
            months = texts(date(2018, month, 1) for month in range(1, 13))
            return lambda day: months[day.month - 1]
        case "d":
            days = texts(date(2018, 1, number) for number in range(1, 32))
            return lambda day: days[day.day - 1]
        case "E" | "c":
            weekdays = texts(date(2018, 1, number) for number in range(1, 8))  # a Monday to a Sunday
            return lambda day: weekdays[day.weekday()]
        case "G":
            return texts([date(FIRST_YEAR, 1, 1)])[0]
        case _:
            raise ValueError(f"{field!r} is not a field of a date")
