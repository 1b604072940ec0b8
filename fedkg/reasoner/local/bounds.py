"""Bounds that a question sets to the ends: dates, numbers with their units, and words that a value contains."""

import re
from collections.abc import Callable, Sequence

from fedkg.reasoner.local.degrees import degrees
from fedkg.reasoner.local.operation_record import TITLES, BoundReading, Comparison
from fedkg.reasoner.local.operator_words import COMPARATIVES, tidy

__all__ = ["bounds"]

MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:of )?(?:{MONTH} )?(?:\d{{1,2}}, )?"
DATE = rf"(?:{DAY}(?:\d{{1,4}} ?(?:BCE?|AD)\b|\d{{3,4}})(?![\d,.]\d)(?! ?(?:km|m|kg)\b))"
AMOUNT = (
    r"(?P<sum>[$€£])?(?P<number>\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion|trillion))?)"
    r"(?P<of> (?:square )?[a-z²2]+)?"
)
COUNTING = "one two three four five six seven eight nine ten eleven twelve".split()
COUNTED = re.compile(rf"\b(a|{'|'.join(COUNTING)}) (?=(?:thousand|million|billion|hours?|minutes)\b)", re.IGNORECASE)
EVENT = (
    r"(?:(?:that|which|who)? ?\b(?:is|are|was|were|been|got|has been|have been)? ?"
    r"(?P<event>born|died|founded|established|released|published|created|formed|built|dissolved|premiered|"
    r"came out|come out|came into being|came into existence|began|started|ended|opened|made|produced|shot|filmed|"
    r"appeared|(?:existed|exist) since)?) ?"
)
WHEN: tuple[tuple[str, Comparison], ...] = (
    (r"(?:between (?P<low>{d}) and|from (?P<from>{d}) (?:to|until|till|through)) (?P<date>{d})", "between"),
    (r"(?:in|from|of|during) the (?:years? )?(?P<years>{d}) (?:to|until|till|through) (?P<date>{d})", "between"),
    (r"(?:in|from|of|during) the (?:year )?(?P<decade>\d{{3}}0)s\b", "between"),
    (r"(?<=which )(?P<adjective>\d{{3}}0)s(?= [a-z]+)", "between"),
    (r"in the (?P<century>\d{{1,2}})(?:st|nd|rd|th) century\b", "between"),
    (r"(?:(?:dated?|dates) )?(?:from )?(?:before|prior to|earlier than) (?:the year )?(?P<date>{d})", "before"),
    (r"(?:(?:dated?|dates) )?(?:from )?(?:after|later than) (?:the year )?(?P<date>{d})", "after"),
    (r"since (?:the year )?(?P<date>{d})", "at_least"),
    (r"(?:in|during|from) (?:the year )?(?P<date>{d})(?!\d)", "equal"),
    (r"of (?:the year )?(?P<date>[12]\d{{3}})(?![\d,.])", "equal"),
)
TIMES = [(re.compile(rf"{EVENT}\b{pattern.format(d=DATE)}", re.IGNORECASE), kind) for pattern, kind in WHEN]
SIGNS: dict[str, Comparison] = {
    "more than": "more", "greater than": "more", "over": "more", "above": "more", "larger than": "more",
    "higher than": "more", "bigger than": "more", "exceeding": "more", "exceeds": "more", "exceed": "more",
    "longer than": "more", "heavier than": "more", "shorter than": "less", "lighter than": "less",
    "at least": "at_least", "no less than": "at_least",
    "less than": "less", "fewer than": "less", "under": "less", "below": "less", "smaller than": "less",
    "lower than": "less", "at most": "at_most", "no more than": "at_most", "up to": "at_most",
}  # fmt: skip
SIGN = "|".join(sorted(SIGNS, key=len, reverse=True))
OWNING = (
    r"(?:(?:that |which |who )?(?:(?:have|has|had|having|with|of|earned|grossed|cost|made|took in|brought in|covers?|"
    r"covering|weighs?|is|are)|(?:lie|lies|lying|is|are)(?: at)?|(?:run|runs|running|last|lasts|lasted|lasting)"
    r"(?: for)?) )"
)
RISING = re.compile(r"\b(?:lie|lies|lying|above|below)\b", re.IGNORECASE)
TAKING = re.compile(r"\b(?:made|took in|brought in|earned|grossed)\b", re.IGNORECASE)
THAT = r"(?:(?:that|which|who) )?"
HAVING = r"(?:are|is|belong|belongs|have|has|with)(?: to| in)?"
HOLDING = "(?:with|contain|containing|that contains?|that has|including|that includes?)"
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
    r"(?: (?:at the box office|to make|to produce|above sea level|in area|long))?",
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
        rf"{THAT}{HAVING} (?:an? |the )?(?P<noun>[a-z]+) {HOLDING} (?:the words? )?{QUOTE}{INSIDE}", re.IGNORECASE
    ),
    re.compile(
        rf"{THAT}(?:have|has|with|having|contains?|containing) (?:the words? )?{QUOTE} in (?:the|its|their) "
        r"(?P<noun>[a-z]+)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:whose|and their|and its) (?P<noun>[a-z]+) (?:contains?|includes?|has|have) (?:the words? )?{QUOTE}",
        re.IGNORECASE,
    ),
)
PLACED = re.compile(
    rf"{THAT}(?:are|is|lie|lies|sit|sits)(?: located| found| situated)? on (?:the )?"
    r"(?P<noun>[a-z]+) (?P<value>\d+|[A-Z])$"
)
EQUAL = re.compile(rf"{THAT}{HAVING} the (?P<noun>[a-z]+) (?:{QUOTE}|(?P<name>[A-Z][^⟦⟧]*))$")


Found = tuple[BoundReading, str]


def bounds(text: str) -> tuple[tuple[BoundReading, ...], str]:
    """The bounds that the question sets, and the question without them."""
    known: list[BoundReading] = []
    text = COUNTED.sub(_figure, text)
    while (match := next((found for find in FINDERS if (found := find(text))), None)) is not None:
        known.append(match[0])
        text = tidy(match[1])
    return tuple(known), text


def _quoted(text: str) -> Found | None:
    for pattern in CONTAINED:
        if match := pattern.search(text):
            noun = _single(match["noun"].lower())
            return BoundReading(TITLES.get(noun, (noun,)), "contains", (match["text"],)), _cut(text, match)
    if match := EQUAL.search(text):
        return BoundReading((match["noun"],), "equal", ((match["text"] or match["name"]).strip(),)), _cut(text, match)
    if match := PLACED.search(text):
        return BoundReading((match["noun"],), "equal", (match["value"],)), _cut(text, match)
    return None


DATED = frozenset({"inception", "publication date", "date of birth"})


def _compared(text: str) -> Found | None:
    """As in "longer than 100 km"."""
    match = THAN.search(text)
    unit = ((match["of"] or "") if match else "").strip()
    measure = degrees().of_adjective(match["form"], _thing(text)) if match else None
    if not match or measure is None or not _is_unit(unit):
        return None
    before = re.search(r"([a-z]+)\s*$", text[: match.start()])
    if before and _of_quantity(before[1]):
        return None  # "a population larger than"
    names = tuple(dict.fromkeys((*measure.names, *_of_unit(unit))))
    if not unit and any(name in DATED for name in names):
        return BoundReading(names, "after" if measure.most else "before", (match["number"],)), _cut(text, match)
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
            _of_quantity(before)
            or _of_quantity(unit)
            or _of_quantity(named)
            or _taken(match)
            or (_of_unit(unit, match.group()) if not before else ())
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
            start = match.start("adjective") if match.groupdict().get("adjective") else match.start()
            return BoundReading(names, comparison, _range(match)), f"{text[:start]} {text[match.end() :]}"
    return None


FINDERS: Sequence[Callable[[str], Found | None]] = (_quoted, _compared, _counted, _dated)


def _range(match: re.Match[str]) -> tuple[str, ...]:
    said = match.groupdict()
    if decade := said.get("decade") or said.get("adjective"):
        return decade, str(int(decade) + 9)
    if century := said.get("century"):
        return str(int(century) * 100 - 99), str(int(century) * 100)
    low = said.get("low") or said.get("from") or said.get("years")
    return (low, match["date"]) if low else (match["date"],)


def _dates(event: str | None, text: str) -> tuple[str, ...]:
    """The relations that hold the date: that of the event or, without one, of works that somebody made."""
    lists = degrees()
    if event:
        words = event.lower().split()
        known = {"out": "released", "since": "existed"}
        return lists.events[known.get(words[-1], words[-1])]
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


def _of_unit(unit: str, said: str = "") -> tuple[str, ...]:
    """What the unit measures; of what lies higher it is no length."""
    if RISING.search(said) and "elevation above sea level" in degrees().units.get(unit.lower(), ()):
        return degrees().quantities["elevation"]
    if unit.lower().startswith("square "):
        return degrees().quantities["area"]
    return degrees().units.get(unit.rsplit(maxsplit=1)[-1].lower() if unit else "", ())


def _taken(match: re.Match[str]) -> tuple[str, ...]:
    """As in "made over $500 million"."""
    money = match["sum"] or (match["of"] or "").strip() in CURRENCIES
    return degrees().quantities["box"] if money and TAKING.search(match.group()) else ()


def _figure(match: re.Match[str]) -> str:
    word = match[1].lower()
    return f"{COUNTING.index(word) + 1 if word in COUNTING else 1} "


def _single(noun: str) -> str:
    return noun.removesuffix("ies") + "y" if noun.endswith("ies") else noun.removesuffix("s")


def _of_quantity(noun: str) -> tuple[str, ...]:
    return degrees().quantities.get(noun.rsplit(maxsplit=1)[-1].lower() if noun else "", ())


def _cut(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"
