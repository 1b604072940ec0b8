"""Bounds that a question sets to the ends: dates, numbers with their units, and words that a value contains."""

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from fedkg.reasoner.local.degrees import degrees
from fedkg.reasoner.local.operator_words import COMPARATIVES, tidy

__all__ = ["TITLES", "BoundReading", "Comparison", "bounds"]

Comparison = Literal["equal", "less", "at_most", "more", "at_least", "before", "after", "between", "contains"]

MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:of )?(?:{MONTH} )?(?:\d{{1,2}}, )?"
DATE = rf"(?:{DAY}(?:\d{{1,4}} ?(?:BCE?|AD)\b|\d{{3,4}})(?![\d,.]\d)(?! ?(?:km|m|kg)\b))"
AMOUNT = r"(?P<number>\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion|trillion))?)(?P<of> (?:square )?[a-z²2]+)?"
EVENT = (
    r"(?:(?:that|which|who)? ?\b(?:is|are|was|were|been|got|has been|have been)? ?"
    r"(?P<event>born|died|founded|established|released|published|created|formed|built|dissolved|premiered|"
    r"came out|come out|came into being|came into existence|began|started|ended)?) ?"
)
WHEN: tuple[tuple[str, Comparison], ...] = (
    (r"(?:between (?P<low>{d}) and|from (?P<from>{d}) (?:to|until|till|through)) (?P<date>{d})", "between"),
    (r"in the (?:year )?(?P<decade>\d{{3}}0)s\b", "between"),
    (r"in the (?P<century>\d{{1,2}})(?:st|nd|rd|th) century\b", "between"),
    (r"(?:before|prior to|earlier than) (?:the year )?(?P<date>{d})", "before"),
    (r"(?:after|later than) (?:the year )?(?P<date>{d})", "after"),
    (r"since (?:the year )?(?P<date>{d})", "at_least"),
    (r"(?:in|during) (?:the year )?(?P<date>{d})(?!\d)", "equal"),
)
TIMES = [(re.compile(rf"{EVENT}\b{pattern.format(d=DATE)}", re.IGNORECASE), kind) for pattern, kind in WHEN]
SIGNS: dict[str, Comparison] = {
    "more than": "more", "greater than": "more", "over": "more", "above": "more", "larger than": "more",
    "higher than": "more", "bigger than": "more", "at least": "at_least", "no less than": "at_least",
    "less than": "less", "fewer than": "less", "under": "less", "below": "less", "smaller than": "less",
    "lower than": "less", "at most": "at_most", "no more than": "at_most", "up to": "at_most",
}  # fmt: skip
SIGN = "|".join(sorted(SIGNS, key=len, reverse=True))
OWNING = r"(?:(?:that |which |who )?(?:have|has|had|having|with|of|earned|grossed|cost|lie|lies|lying) )"
THAT = r"(?:(?:that|which|who) )?"
HAVING = r"(?:are|is|belong|belongs|have|has|with)(?: to| in)?"
INSIDE = r"(?: in (?:its|the) name)?"
THAN = re.compile(
    rf"{THAT}(?:\b(?:is|are|was|were|lie|lies|run|runs|last|lasts) )?\b(?P<form>{COMPARATIVES}) than {AMOUNT}"
    r"(?: above sea level| long| high| tall)?",
    re.IGNORECASE,
)
NUMBERED = re.compile(
    rf"(?:(?:and|that|which|who) )*{OWNING}?(?:an? |the )?"
    r"(?:(?P<noun>(?!(?:of|is|have|has|with)\b)[a-z]+(?: (?!of\b|is\b)[a-z]+)?) )?(?:of |is )?"
    rf"\b(?P<sign>{SIGN}) {AMOUNT}"
    r"(?: (?:at the box office|above sea level|in area))?",
    re.IGNORECASE,
)
RANGE = re.compile(
    rf"(?:(?:and|that|which|who) )*{OWNING}(?:an? |the )?(?P<noun>[a-z]+)? ?(?:of )?"
    r"between (?P<low>\d[\d,.]*(?: (?:thousand|million|billion))?)"
    rf" and {AMOUNT}",
    re.IGNORECASE,
)
QUOTE = r"[\"“](?P<text>[^\"”]+)[\"”]"
CONTAINED = (
    re.compile(
        rf"{THAT}(?:have|has|with) an? (?P<noun>[a-z]+) (?:with|containing|that contains|that has) {QUOTE}{INSIDE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{THAT}{HAVING} an? (?P<noun>[a-z]+) (?:that contains|containing|with) {QUOTE}{INSIDE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:(?:that|which|who) )?(?:have|has|with|having) {QUOTE} in (?:the|its|their) (?P<noun>title|name)s?",
        re.IGNORECASE,
    ),
)
EQUAL = re.compile(rf"{THAT}{HAVING} the (?P<noun>[a-z]+) (?:{QUOTE}|(?P<name>[A-Z][^⟦⟧]*))$")
TITLES = {"title": ("title", "label", "name"), "name": ("name", "label", "title")}


class BoundReading(NamedTuple):
    """A condition: relations that may hold the value, how it compares to the values, as written, and their unit."""

    names: tuple[str, ...]
    comparison: Comparison
    values: tuple[str, ...]
    unit: str = ""


Found = tuple[BoundReading, str]


def bounds(text: str) -> tuple[tuple[BoundReading, ...], str]:
    """The bounds that the question sets, and the question without them."""
    known: list[BoundReading] = []
    while (match := next((found for find in FINDERS if (found := find(text))), None)) is not None:
        known.append(match[0])
        text = tidy(match[1])
    return tuple(known), text


def _quoted(text: str) -> Found | None:
    for pattern in CONTAINED:
        if match := pattern.search(text):
            noun = match["noun"].lower()
            return BoundReading(TITLES.get(noun, (noun,)), "contains", (match["text"],)), _cut(text, match)
    if match := EQUAL.search(text):
        return BoundReading((match["noun"],), "equal", ((match["text"] or match["name"]).strip(),)), _cut(text, match)
    return None


def _compared(text: str) -> Found | None:
    """As in "longer than 100 km"."""
    match = THAN.search(text)
    unit = ((match["of"] or "") if match else "").strip()
    measure = degrees().of_adjective(match["form"], _thing(text)) if match else None
    if not match or measure is None or not _is_unit(unit):
        return None
    names = tuple(dict.fromkeys((*measure.names, *_of_unit(unit))))
    return BoundReading(names, "more" if measure.most else "less", (match["number"],), unit), _cut(text, match)


def _counted(text: str) -> Found | None:
    """As in "more than 1,000,000 inhabitants", "an area of more than 1,000 square kilometres"."""
    for pattern in (RANGE, NUMBERED):
        match = pattern.search(text)
        if match is None:
            continue
        unit, before = (match["of"] or "").strip(), (match["noun"] or "").lower()
        named = match.group().split()[0].lower()
        names = (
            _of_quantity(before) or _of_quantity(unit) or _of_quantity(named) or (_of_unit(unit) if not before else ())
        )
        if not names:
            return None
        low = match.groupdict().get("low")
        comparison = "between" if low else SIGNS[match["sign"].lower()]
        values = (low, match["number"]) if low else (match["number"],)
        rest = _cut(text, match) if _is_unit(unit) or _of_quantity(unit) else ""
        if not rest:
            return None
        return BoundReading(names, comparison, values, "" if _of_quantity(unit) else unit), rest
    return None


def _dated(text: str) -> Found | None:
    """As in "before 1990", "in the 1990s", "founded between 1980 and 1990"."""
    for pattern, comparison in TIMES:
        match = pattern.search(text)
        if match and (names := _dates(match["event"], text)):
            return BoundReading(names, comparison, _range(match)), _cut(text, match)
    return None


FINDERS: Sequence[Callable[[str], Found | None]] = (_quoted, _compared, _counted, _dated)


def _range(match: re.Match[str]) -> tuple[str, ...]:
    said = match.groupdict()
    if decade := said.get("decade"):
        return decade, str(int(decade) + 9)
    if century := said.get("century"):
        return str(int(century) * 100 - 99), str(int(century) * 100)
    low = said.get("low") or said.get("from")
    return (low, match["date"]) if low else (match["date"],)


def _dates(event: str | None, text: str) -> tuple[str, ...]:
    """The relations that hold the date: that of the event or, without one, of works that somebody made."""
    lists = degrees()
    if event:
        words = event.lower().split()
        return lists.events["released"] if words[-1] == "out" else lists.events[words[-1]]
    return next((lists.making[word] for word in re.findall(r"[a-z]+", text.lower()) if word in lists.making), ())


def _thing(text: str) -> str:
    """The first noun of the question that an adjective has a measure of its own for."""
    nouns = {noun for known in degrees().forms.values() for names, _ in known for noun in names}
    words = (word.removesuffix("s") for word in re.findall(r"[a-z]+", text.lower()))
    return next((word for word in words if word in nouns), "")


def _is_unit(word: str) -> bool:
    return (
        not word
        or word.rsplit(maxsplit=1)[-1].lower() in degrees().units
        or word.lower().startswith("square ")
        or word in CURRENCIES
    )


CURRENCIES = frozenset({"dollars", "euros", "pounds", "dollar", "euro", "yen"})


def _of_unit(unit: str) -> tuple[str, ...]:
    if unit.lower().startswith("square "):
        return degrees().quantities["area"]
    return degrees().units.get(unit.rsplit(maxsplit=1)[-1].lower() if unit else "", ())


def _of_quantity(noun: str) -> tuple[str, ...]:
    return degrees().quantities.get(noun.rsplit(maxsplit=1)[-1].lower() if noun else "", ())


def _cut(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"
