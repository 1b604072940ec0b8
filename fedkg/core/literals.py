"""Literals as a person writes them: dates, years before Christ, numbers, places, spans of time.

What cannot be read with certainty is left as the endpoint wrote it. A readable text is for people and models; the
graph is asked again with the term.
"""

import re
from decimal import Decimal

__all__ = ["NUMBERS", "readable"]

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = frozenset(
    XSD + name
    for name in (
        "byte decimal double float int integer long negativeInteger nonNegativeInteger nonPositiveInteger "
        "positiveInteger short unsignedByte unsignedInt unsignedLong unsignedShort"
    ).split()
)
DATES = frozenset(XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth"))
DURATIONS = frozenset(XSD + name for name in ("duration", "dayTimeDuration", "yearMonthDuration"))
POINTS = "http://www.opengis.net/ont/geosparql#wktLiteral"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?")
# Blazegraph writes the years before Christ with three digits, too
DATE = re.compile(r"(-?)(\d{1,12})(?:-(\d\d))?(?:-(\d\d))?(?:T00:00:00(?:\.0+)?)?(?:Z|[+-]00:00)?")
POINT = re.compile(r"(?:<([^<>]*)>\s*)?POINT\s*\(\s*([-+\d.eE]+)\s+([-+\d.eE]+)\s*\)", re.IGNORECASE)
DURATION = re.compile(r"(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
UNITS = ("year", "month", "day", "hour", "minute", "second")
MONTHS = "January February March April May June July August September October November December".split()
LAST_DAY = 31
LONGEST = 40
DEGREES = 5  # decimals: about a metre
# longitude comes first in this reference system, as it does where none is named
LONGITUDE_FIRST = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
GLOBES = "http://www.wikidata.org/entity/"


def readable(value: str, datatype: str) -> str:
    """The text of a literal with that value and datatype IRI; the value itself where nothing would be left of it."""
    return _text(value, datatype) or value


def _text(value: str, datatype: str) -> str:
    if datatype in DATES:
        return _date(value)
    if datatype in NUMBERS:
        return _number(value)
    if datatype in DURATIONS:
        return _duration(value)
    if datatype == XSD + "boolean":
        return {"1": "true", "0": "false"}.get(value, value)
    return _point(value) if datatype == POINTS else value


def _date(value: str) -> str:
    """A date without a time of midnight and without time zone.

    Years count as in XML Schema 1.1, which RDF 1.1 and Wikidata follow: 0000 is the first year before Christ.
    """
    match = DATE.fullmatch(value)
    if not match:
        return value.removesuffix("Z")
    sign, year, month, day = match.groups()
    if not sign and int(year):
        return "-".join(filter(None, (year if month else str(int(year)), month, day)))
    if (month and not 1 <= int(month) <= len(MONTHS)) or (day and not 1 <= int(day) <= LAST_DAY):
        return value
    parts = (str(int(day)) if day else "", MONTHS[int(month) - 1] if month else "", f"{int(year) + 1} BC")
    return " ".join(filter(None, parts))


def _number(value: str) -> str:
    """A number without plus, needless zeros and exponent."""
    if len(value) > LONGEST or not NUMBER.fullmatch(value):
        return value.removeprefix("+")
    number = _trimmed(f"{Decimal(value):f}") if Decimal(value) else "0"
    return number if len(number) <= LONGEST else value.removeprefix("+")


def _trimmed(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def _duration(value: str) -> str:
    """Years, months, days, hours, minutes and seconds in words; "0 seconds" for none."""
    match = DURATION.fullmatch(value)
    sign, *counts = match.groups() if match else ("",)
    if not any(counts):
        return value
    words = [
        f"{_trimmed(count)} {unit}{'' if float(count) == 1 else 's'}"
        for count, unit in zip(counts, UNITS, strict=True)
        if count and float(count)
    ]
    return ("minus " if sign and words else "") + (" ".join(words) or "0 seconds")


def _point(value: str) -> str:
    """A place as latitude and longitude, with the item of another globe than the Earth."""
    match = POINT.fullmatch(value.strip())
    if not match:
        return value
    system, east, north = match.groups(default="")
    known = system in ("", LONGITUDE_FIRST) or system.startswith(GLOBES)
    if not known or not _is_degrees(north, 90) or not _is_degrees(east, 360):
        return value
    globe = f" (on {system.removeprefix(GLOBES)})" if system.startswith(GLOBES) else ""
    return f"{_degrees(north, 'NS')}, {_degrees(east, 'EW')}{globe}"


def _is_degrees(value: str, most: int) -> bool:
    return bool(NUMBER.fullmatch(value)) and abs(float(value)) <= most


def _degrees(value: str, sides: str) -> str:
    number = round(float(value), DEGREES)
    return f"{_trimmed(f'{abs(number):.{DEGREES}f}')} {sides[number < 0]}"
