"""Dates that a graph states twice: "17 December 1994" beside 1994-12-17, a year beside the first of its January."""

import re
from collections.abc import Collection, Iterable

from fedkg.core.literals import DATES, MONTHS
from fedkg.core.terms import Literal, Term

__all__ = ["repeated"]

WRITTEN = re.compile(r"(-?\d{1,6})(?:-(\d\d))?(?:-(\d\d))?(?:T00:00:00(?:\.0+)?)?(?:Z|[+-]00:00)?")
WORDED = re.compile(rf"(?:(\d{{1,2}}) )?({'|'.join(MONTHS)}) (\d{{1,4}})")
Date = tuple[int, ...]
"""Year, month and day, as far as they are stated."""


def repeated(ends: Iterable[Term]) -> set[Term]:
    """Those of one relation's ends that state a date which another one states as well, or better.

    Of one date a typed literal stays. A year or month beside its first day is what is known: stores without precision
    fill up the rest with 01.
    """
    dated: dict[Date, list[Literal]] = {}
    for end in dict.fromkeys(ends):
        if isinstance(end, Literal) and (date := _date(end.value)):
            dated.setdefault(date, []).append(end)
    if sum(map(len, dated.values())) < 2:
        return set()
    again = {end for same in dated.values() for end in sorted(same, key=lambda end: end.datatype not in DATES)[1:]}
    filled = (date for date in dated if len(date) == 3 and _is_filled(date, dated.keys()))
    return again | {end for date in filled for end in dated[date]}


def _is_filled(date: Date, stated: Collection[Date]) -> bool:
    """Whether a date is the first day of a year or month that is stated by itself."""
    year, month, day = date
    wholes: list[Date] = [(year, month)] if day == 1 else []
    wholes += [(year,)] if (month, day) == (1, 1) else []
    return any(whole in stated for whole in wholes)


def _date(text: str) -> Date:
    """The date that a text is; empty for any other text."""
    if match := WRITTEN.fullmatch(text):
        return tuple(int(part) for part in match.groups() if part)
    if match := WORDED.fullmatch(text):
        day, month, year = match.groups()
        return int(year), MONTHS.index(month) + 1, *([int(day)] if day else [])
    return ()
