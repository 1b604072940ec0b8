"""Values that are compared: numbers, dates of any precision, texts, and the words of a question that name them.

A value is an interval: a number is its own bounds, a date reaches from the first to the last day that it may mean. So a
year and a day are compared as far as that is decided, and no further. Years count as in XML Schema 1.1: 0000 is 1 BC.
A time of day and its zone are left out of account.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal as OneOf

import msgspec

from fedkg.core.literals import MONTHS, NUMBERS, XSD
from fedkg.core.terms import Iri, Literal, Term
from fedkg.operators.units import unit_of

__all__ = ["DAYS", "Bound", "ReadValue", "as_year", "read", "read_words"]

Bound = tuple[Decimal, ...]
"""A number alone, or year, month and day."""
LONGEST = 40
"""Characters beyond which a text is no number or date."""
DATE = re.compile(r"(-?\d{4,9}|-\d{3})(?:-(\d\d)(?:-(\d\d)(?:T[\d:.]+)?)?)?(?:Z|[+-]\d\d:\d\d)?")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?")
DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Of each month, at most."""
DATED = frozenset(XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth"))
NAMED_MONTHS = "|".join(MONTHS)
WORDED = re.compile(rf"(?:(\d{{1,2}})(?:st|nd|rd|th)? )?({NAMED_MONTHS}),? (\d{{1,4}})( bce?)?", re.IGNORECASE)
MONTH_FIRST = re.compile(rf"({NAMED_MONTHS}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{1,4}})( bce?)?", re.IGNORECASE)
DECADE = re.compile(r"(?:the )?['’]?((?:\d\d)?\d0)['’]?s", re.IGNORECASE)
CENTURY = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th) century( bce?)?", re.IGNORECASE)
BEFORE_CHRIST = re.compile(r"(\d{1,4}) bce?", re.IGNORECASE)
AMOUNT = re.compile(
    r"(?:(?P<money>[$€£¥]) ?)?(?P<number>[+-]?\d[\d,]*(?:\.\d+)?)"
    r"(?: ?(?P<scale>thousand|million|billion|trillion)\b)?(?: ?(?P<unit>[^\W\d][\w ./²³]*|%))?",
    re.IGNORECASE,
)
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


class ReadValue(msgspec.Struct, frozen=True):
    """A value from `low` to `high`, both included; a `text` has no bounds. `unit` is "" where none is stated."""

    kind: OneOf["number", "date", "text"]
    low: Bound = ()
    high: Bound = ()
    text: str = ""
    unit: str = ""

    def within(self, unit: str) -> "ReadValue | None":
        """The number in that unit; None where its own unit is of another dimension, or one of them is not known."""
        if self.unit.casefold() == unit.casefold():
            return self
        ours, other = unit_of(self.unit), unit_of(unit)
        if not (ours and other) or ours.dimension != other.dimension or self.kind != "number":
            return None
        low, high = ((bound[0] * ours.factor / other.factor,) for bound in (self.low, self.high))
        return msgspec.structs.replace(self, low=low, high=high, unit=unit)

    @property
    def exact(self) -> bool:
        """Whether it means one number, one day, or a text."""
        return self.low == self.high


def read(term: Term, names: Mapping[Term, str] | None = None, unit: str = "") -> ReadValue | None:
    """The value of a graph's term; None for what cannot be compared, such as an unknown value.

    A datatype that is none of XML Schema's is the unit of a number, else the `unit` that stands beside it. An entity is
    the text of its name, if it has one.
    """
    value = _plain(term, names)
    stated = unit and value and value.kind == "number" and not value.unit
    return msgspec.structs.replace(value, unit=unit) if value and stated else value


def _plain(term: Term, names: Mapping[Term, str] | None) -> ReadValue | None:
    """The value of the term alone."""
    if isinstance(term, Iri):
        name = (names or {}).get(term, "")
        return ReadValue("text", text=name) if name else None
    if not isinstance(term, Literal):
        return None
    if term.datatype in DATED:
        return _date(term.value)
    if term.datatype:
        return _number(term.value, "" if term.datatype in NUMBERS else term.datatype) if _measures(term) else None
    if term.language:  # words, whatever they look like: "1984"@en is a title
        return _text(term.value)
    return _number(term.value) or _date(term.value) or _worded(term.value) or _text(term.value)


def _measures(term: Literal) -> bool:
    return term.datatype in NUMBERS or not term.datatype.startswith(XSD)


def _text(text: str) -> ReadValue | None:
    return ReadValue("text", text=text) if text else None


def read_words(words: str) -> ReadValue:
    """The value that the question's words name: a date, a number with its unit, else a text.

    "1980s" and "19th century" are dates of low precision; "5 million" is a number. A number of four digits is a number
    here, and a year beside dates (`as_year`).
    """
    text = " ".join(words.split()).strip(" \"'“”.,?!")
    if len(text) > LONGEST:
        return ReadValue("text", text=text)
    return _worded(text) or _amount(text) or _date(text) or ReadValue("text", text=text)


def as_year(value: ReadValue) -> ReadValue | None:
    """A whole number as the year of that number; None for any other value."""
    if value.kind != "number" or value.unit or value.low[0] != value.low[0].to_integral_value():
        return None
    return _days(int(value.low[0]))


def _number(text: str, unit: str = "") -> ReadValue | None:
    if len(text) > LONGEST or not NUMBER.fullmatch(text.strip()):
        return None
    number = (Decimal(text.strip()),)
    return ReadValue("number", number, number, unit=unit)


def _date(text: str) -> ReadValue | None:
    match = DATE.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if not match:
        return None
    year, month, day = (int(part) if part else 0 for part in match.groups())
    return _days(year, month, day) if match[2] is None or month else None


def _days(year: int, month: int = 0, day: int = 0) -> ReadValue | None:
    """The days of a year, month or day; None where there is no such date."""
    if month > len(DAYS) or (month and day > DAYS[month - 1]):
        return None
    low = year, month or 1, day or 1
    high = year, month or 12, day or (DAYS[month - 1] if month else 31)
    return _between(low, high)


def _between(low: tuple[int, int, int], high: tuple[int, int, int]) -> ReadValue:
    return ReadValue("date", tuple(map(Decimal, low)), tuple(map(Decimal, high)))


def _worded(text: str) -> ReadValue | None:
    """A date in words."""
    if match := WORDED.fullmatch(text):
        day, month, year, before = match.groups()
        if not (day or before) and len(year) <= 2:  # "March 15" is a day of any year
            return None
        return _days(_year(year, before), _month(month), int(day or 0))
    if match := MONTH_FIRST.fullmatch(text):
        month, day, year, before = match.groups()
        return _days(_year(year, before), _month(month), int(day))
    if match := DECADE.fullmatch(text):
        first, last = _decade(match[1])
        return _between((first, 1, 1), (last, 12, 31))
    if match := CENTURY.fullmatch(text):
        first = 100 * (int(match[1]) - 1) + 1
        first, last = (1 - first - 99, 1 - first) if match[2] else (first, first + 99)
        return _between((first, 1, 1), (last, 12, 31))
    match = BEFORE_CHRIST.fullmatch(text)
    return _days(_year(match[1], "bc")) if match else None


def _decade(digits: str) -> tuple[int, int]:
    """The first and the last year of "1980" or "80"; "1800" may mean ten years or a hundred: it is the hundred."""
    first = int(digits) + (1900 if len(digits) == 2 else 0)
    return first, first + (99 if digits[2:] == "00" else 9)


def _year(digits: str, before: str | None) -> int:
    return 1 - int(digits) if before else int(digits)


def _month(name: str) -> int:
    return MONTHS.index(name.capitalize()) + 1


def _amount(text: str) -> ReadValue | None:
    """A number in words of a question, with what stands behind it as its unit."""
    match = AMOUNT.fullmatch(text)
    if not match or ("," in match["number"] and not GROUPED.fullmatch(match["number"])):
        return None
    number = Decimal(match["number"].replace(",", "")) * 10 ** SCALES.get((match["scale"] or "").lower(), 0)
    return ReadValue("number", (number,), (number,), unit=(match["unit"] or match["money"] or "").strip())
