"""Answers and gold answers as they are compared: numbers and dates by their values, names by their words."""

import re
from decimal import Decimal

from fedkg.common.normalize import normalized_answer
from fedkg.core.literals import readable

__all__ = ["bare_number", "comparable"]

NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?")
QUANTITY = re.compile(rf"({NUMBER.pattern})\s*[^\W\d_][^\d,]{{0,30}}")
MIDNIGHT = re.compile(r"-?\d{4,}-\d\d-\d\dT00:00:00(?:\.0+)?(?:Z|[+-]00:00)?")
DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"


def comparable(text: str) -> str:
    """What the text is compared by: a number without signs and zeros that change nothing, the day of a midnight.

    "2,000", "+2000" and "2000.0" are alike, and "1947-08-14T00:00:00Z" and "1947-08-14"; other texts are compared by
    their words.
    """
    stripped = text.strip()
    if NUMBER.fullmatch(stripped):
        return _number(stripped)
    if MIDNIGHT.fullmatch(stripped):
        return normalized_answer(readable(stripped, DATE_TIME))
    return normalized_answer(text)


def bare_number(text: str) -> str:
    """The number of a quantity ("1,020 m", "25 years") as it is compared, "" of any other text.

    A gold answer without a unit is right in any: its question names the unit. "At least 12" is none, as it is not 12.
    """
    match = QUANTITY.fullmatch(text.strip())
    return _number(match[1]) if match else ""


def _number(text: str) -> str:
    number = f"{Decimal(text.replace(',', '')):f}"
    trimmed = number.rstrip("0").rstrip(".") if "." in number else number
    return "0" if trimmed in {"-0", "0"} else trimmed
