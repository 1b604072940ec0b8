"""The grammar by which a question is read that asks for something to be computed over the ends of its paths.

It is that of plain English questions: "how many", superlatives, comparatives, "before 1990", "but not". What
an adjective measures is data (`degrees`). What cannot be read is left in the question, and `unread` marks it.
"""

import re
from collections.abc import Sequence

from fedkg.reasoner.local.bounds import bounds
from fedkg.reasoner.local.comparisons import compared
from fedkg.reasoner.local.degrees import Measure, degrees
from fedkg.reasoner.local.operation_record import OperationReading
from fedkg.reasoner.local.operator_words import (
    ORDINALS,
    SUPERLATIVES,
    masked,
    named,
    numbered,
    plainly,
    quantity,
    tidy,
)

__all__ = ["computed"]

HOW_MANY = re.compile(r"\bhow many (?:of )?(?:different |distinct )?", re.IGNORECASE)
NUMBER_OF = re.compile(
    r"\b(?:what (?:is|was) )?the (?:total )?number of (?:different |distinct )?(?:the )?|"
    r"^count (?:all )?(?:of )?(?:the )?",
    re.IGNORECASE,
)
TIMES = re.compile(r"\bhow (?:many times|often)\b", re.IGNORECASE)
OWNING = r"(?:that |which |who )?(?:has|have|had|having|with)"
SUPERLATIVE = rf"(?:(?P<rank>{ORDINALS})[ -])?(?:(?P<form>{SUPERLATIVES})|(?P<degree>most|least) (?P<base>[a-z]+))"
QUANTIFIED = re.compile(
    rf"\b{OWNING} the (?:(?P<rank>{ORDINALS})[ -])?(?P<form>{SUPERLATIVES}|most|fewest|least) (?P<noun>[^⟦⟧,]+?)"
    r"(?= (?:of|among|in) |[,?]|\s*$)",
    re.IGNORECASE,
)
SPENT = re.compile(
    r"\b(?:(?P<verb>earned|grossed|cost) the (?P<form>most|least)\b(?: money)?|"
    r"(?:made|took in|brought in) the (?P<sum>most|least) money)(?: at the box office| to make| to produce)?",
    re.IGNORECASE,
)
HAPPENED = re.compile(
    r"\b(?:(?:is|are|was|were|been) )?(?P<event>born|died|founded|established|released|published|created|formed|"
    r"dissolved|came out|come out|premiered) (?P<form>first|last|earliest|latest)\b",
    re.IGNORECASE,
)
FIRST_TO = re.compile(
    r"\b(?:is |was |were )?the (?P<form>first|last|earliest|latest)(?P<noun> [^⟦⟧]*(?:⟦\d⟧)?)?? to (?:be |have been )?"
    r"(?P<event>born|die|come out|released|published|founded|established)\b",
    re.IGNORECASE,
)
BEING = re.compile(
    rf"\b(?:is|are|was|were|lies|lie|lay|runs|ran|lasts|ranks) (?:the )?{SUPERLATIVE}(?P<by> (?:by|in) [a-z ]+)?\s*$",
    re.IGNORECASE,
)
ATTRIBUTE = re.compile(rf"(?P<article>\bthe |'s )(?:{SUPERLATIVE}) (?P<noun>[a-z]+|⟦\d⟧)", re.IGNORECASE)
BY = re.compile(r" (?:by|in terms of) (?P<noun>[a-z]+)\s*$", re.IGNORECASE)
COMMON = re.compile(
    r"^(?P<before>.*?)\b(?:the )?(?P<degree>most|least) (?:common|frequent|often)\b ?(?P<after>.*)$", re.IGNORECASE
)
SURELY_AMONG = re.compile(r"^(?P<by>[^⟦⟧]*?)\b(?:among|amongst) (?:the )?(?P<set>.*⟦\d⟧.*)$", re.IGNORECASE)
AMONG = re.compile(r"^(?P<by>[^⟦⟧]*?)\b(?:of|among|amongst|for|in) (?:the )?(?P<set>.*⟦\d⟧.*)$", re.IGNORECASE)
MOST_OF = re.compile(
    r"\b(?:the (?P<degree>most|fewest)|most of|(?:(?<=do )|(?<=in )|(?<=of )|(?<=re )|(?<=id ))most(?= [a-z ]+s\b)) "
    r"(?:of )?(?P<set>(?!(?:of )?⟦\d⟧$)[^⟦⟧]*⟦\d⟧(?:'s [a-z]+)?)",
    re.IGNORECASE,
)
"""The words before "most drugs" are an auxiliary ("do", "are", "did") or a preposition."""
MADE_MOST = re.compile(
    r"^(?P<by>(?:(?:with|for|in|at|on|to|by) )?(?:which|what) [a-z ]+?) "
    r"(?P<clause>(?:did|does|do|has|have) ⟦\d⟧ [a-z]+) the (?P<degree>most|fewest) (?P<noun>[a-z]+)$",
    re.IGNORECASE,
)
"""As in "with which director did X make the most films": it is the films of X that are grouped."""
RANKED = re.compile(r"^(?:which|what|who)\b.*\b(?:is|are|was|were) $", re.IGNORECASE)
"""Before "the most popular": it is no set of which most have something."""
NEGATED = re.compile(r"\b(?:not|without|except|excluding)\b|n't\b", re.IGNORECASE)
TOPIC = re.compile(r"⟦\d⟧")


def computed(question: str, names: Sequence[str]) -> OperationReading | None:
    """What the question asks to be computed; None where it is nothing, or cannot be read.

    `names` are those of its topics, as it has them.
    """
    reading = _read(masked(question, names))
    if reading is None:
        return None
    rest, minus = (named(plainly(text), names) for text in (reading.rest, reading.minus))
    group = named(reading.group, names)
    pair = tuple(named(topic, names) for topic in reading.pair)
    return reading._replace(rest=rest, group=group, minus=minus, pair=pair)


def _read(text: str) -> OperationReading | None:
    if TIMES.search(text):
        return None
    if pair := compared(text):
        return OperationReading(pair.rest, "compare", pair.measure, form=pair.form, pair=pair.topics)
    found, text = bounds(text)
    reading = _extreme(text) or _group(text) or _difference(text) or OperationReading(text)
    if reading.result == "ends" and (asked := _counted(reading.rest)):
        reading = reading._replace(rest=asked, result="count")
    return reading._replace(bounds=found) if found or reading.result != "ends" or reading.minus else None


def _counted(text: str) -> str:
    """The question for what is counted; "" where nothing is."""
    for pattern in (HOW_MANY, NUMBER_OF):
        if match := pattern.search(text):
            of = "of " if match.group().lower().startswith("how many of") else ""
            return tidy(f"{text[: match.start()]}which {of}{text[match.end() :]}")
    return ""


def _extreme(text: str) -> OperationReading | None:
    return _of_quantity(text) or _of_verb(text) or _of_being(text) or _of_attribute(text)


def _of_quantity(text: str) -> OperationReading | None:
    """As in "has the largest area", "with the most inhabitants"; a noun that no list has may be a relation's name."""
    match = QUANTIFIED.search(text)
    if not match or not (names := quantity(match["noun"])):
        return None
    most = _most(match["form"])
    if most is None:
        return None
    return _extreme_of(text, match, Measure(names, most))


def _of_verb(text: str) -> OperationReading | None:
    """As in "earned the most", "was founded first"."""
    if match := SPENT.search(text):
        names = degrees().quantities[(match["verb"] or "earned").lower()]
        return _extreme_of(text, match, Measure(names, (match["form"] or match["sum"]).lower() == "most"))
    if match := FIRST_TO.search(text):
        event = {"die": "died", "come out": "released"}.get(match["event"].lower(), match["event"].lower())
        reading = _extreme_of(
            text, match, Measure(degrees().events[event], match["form"].lower() in {"last", "latest"})
        )
        return reading._replace(rest=tidy(f"{text[: match.start()]}{match['noun'] or ''}{text[match.end() :]}"))
    if match := HAPPENED.search(text):
        event = match["event"].lower()
        names = degrees().events["released" if event.endswith(" out") else event]
        return _extreme_of(text, match, Measure(names, match["form"].lower() in {"last", "latest"}))
    return None


def _of_being(text: str) -> OperationReading | None:
    """As in "is the longest", "is the largest by area"."""
    match = BEING.search(text)
    measure = match and _measured(match, _noun(text), match["by"] or "")
    return _extreme_of(text, match, measure) if match and measure else None


def _of_attribute(text: str) -> OperationReading | None:
    """As in "the second longest film", "'s oldest child", "the largest of"."""
    match = ATTRIBUTE.search(text)
    if not match:
        return None
    by = BY.search(text)
    noun = match["noun"].lower()
    measure = _measured(match, _thing(f"{noun} {text[match.end() :]}"), by["noun"] if by else "")
    if measure is None:
        return None
    rest = text[: by.start()] if by else text
    of = noun == "of"
    article = "" if of else match["article"]
    return OperationReading(
        tidy(f"{rest[: match.start()]}{article}{'' if of else noun}{rest[match.end() :]}"),
        "extreme",
        measure,
        numbered(match["rank"]),
    )


def _measured(match: re.Match[str], noun: str, by: str) -> Measure | None:
    """What the superlative measures, by a noun of quantity where that is said."""
    form = match["form"] or match["base"]
    known = degrees().of_adjective(form, noun)
    if known is None:
        return None
    most = known.most if match["form"] or match["degree"].lower() == "most" else not known.most
    return Measure(quantity(by) if by else known.names, most)


def _extreme_of(text: str, match: re.Match[str], measure: Measure) -> OperationReading:
    rank = match.groupdict().get("rank")
    return OperationReading(tidy(text[: match.start()] + " " + text[match.end() :]), "extreme", measure, numbered(rank))


def _most(form: str) -> bool | None:
    """Whether the greatest is meant."""
    if form.lower() in {"most", "fewest", "least"}:
        return form.lower() == "most"
    known = [measure.most for _, measure in degrees().forms.get(form.lower(), ())]
    return known[0] if known else None


def _group(text: str) -> OperationReading | None:
    """As in "the most common genre of the films of X", "which director made most of the films of X"."""
    if match := COMMON.match(text):
        parts = SURELY_AMONG.match(match["after"]) or AMONG.match(match["after"])
        if parts is None:
            return None
        by = parts["by"].strip() or match["before"].strip()
        return OperationReading(
            tidy(f"Which {parts['set']}"), "group", Measure((), match["degree"].lower() == "most"), group=_asking(by)
        )
    if match := MADE_MOST.match(text):
        measure = Measure((), match["degree"].lower() == "most")
        return OperationReading(f"Which {match['noun']} {match['clause']}", "group", measure, group=match["by"])
    if match := MOST_OF.search(text):
        if match["degree"] and RANKED.search(text[: match.start()]):
            return None
        by = tidy(text[: match.start()] + " " + text[match.end() :])
        measure = Measure((), (match["degree"] or "most").lower() == "most")
        return OperationReading(tidy(f"Which {match['set']}"), "group", measure, group=_asking(by))
    return None


def _asking(by: str) -> str:
    """The words for the group as a question."""
    bare = re.sub(r"\b(?:is|are|was|were)\s*$", "", by).strip()
    return bare if re.search(r"\b(?:which|what|who|whom|where)\b", bare, re.IGNORECASE) else f"Which {bare}"


OF_BOTH = r"(?P<first>.*⟦(?P<a>\d)⟧.*?)"
NOT = r"(?: not|n't)"
AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had)"
DIFFERENCES = [
    # "which X has that Y does not have"
    (
        rf"^{OF_BOTH},? (?:that|which|who|whom|but|while|whereas) (?:the )?(?P<second>⟦\d⟧ {AUXILIARY}){NOT}"
        r"(?P<verb> .*)?$"
    ),
    # "in which films that X directed does Y not appear"
    rf"^{OF_BOTH} (?P<second>{AUXILIARY} (?:the )?⟦\d⟧){NOT}(?P<verb> .*)?$",
    # "which X of A are not Y of B", "… but do not star B"
    rf"^{OF_BOTH},?(?: (?:but|and|that|which|who))?(?P<second> {AUXILIARY}){NOT}(?P<verb> .*⟦\d⟧.*)$",
    # "but not to B", "without B", "except those of B"
    rf"^{OF_BOTH},? (?:but not|without|except(?: for)?|excluding|and not)(?P<second>)(?P<verb> .*⟦\d⟧.*)$",
]


WITHOUT = re.compile(r"\bwithout$", re.IGNORECASE)
WORKS = re.compile(r"\b(?:films|movies|series|shows)\b", re.IGNORECASE)


def _difference(text: str) -> OperationReading | None:
    """The question before what is not so, and that of what is taken away, from another topic."""
    if not NEGATED.search(text):
        return None
    for pattern in DIFFERENCES:
        match = re.match(pattern, text, re.IGNORECASE)
        if match is None:
            continue
        first, clause = match["first"].rstrip(" ,"), f"{_asked_first(match['second'])}{match['verb'] or ''}"
        if WITHOUT.search(text[: match.start("verb")]) and (works := WORKS.search(first)):
            clause = f"which {works[0]} with{match['verb']}"
        if NEGATED.search(first) or NEGATED.search(clause):
            return None
        other = TOPIC.search(clause)
        if other is None or other.group() == f"⟦{match['a']}⟧":
            return None
        return OperationReading(tidy(first), minus=_taken(first, clause, f"⟦{match['a']}⟧", other.group()))
    return None


def _asked_first(clause: str) -> str:
    """The auxiliary before its subject, as in a question."""
    return re.sub(rf"^(⟦\d⟧) ({AUXILIARY})$", r"\2 \1", clause, flags=re.IGNORECASE)


def _taken(first: str, clause: str, topic: str, other: str) -> str:
    """The question of what is taken away; a clause that has no verb of its own says the same of another topic."""
    words = re.sub(
        rf"\b(?:{AUXILIARY}|to|in|of|by|with|for|from|the|those|at|on|have|has)\b|⟦\d⟧",
        " ",
        clause,
        flags=re.IGNORECASE,
    )
    if not words.strip():
        return tidy(first.replace(topic, other))
    asked = re.match(
        r"(?:in |of |to |for |with |by )?(?:which|what|who|whom)\b(?: of)?(?: the)?(?: [a-z-]+){0,2}?"
        r"(?= (?:that|which|who|with|of|in|did|does|do|has|have|directed|was|were|is|are|for)\b)",
        first,
        re.IGNORECASE,
    )
    if re.match("which|what", clause.strip()):
        return tidy(clause)
    return tidy(f"{asked.group() if asked else 'Which'} {clause.strip()}")


def _noun(text: str) -> str:
    """The noun behind the question word, in the singular: "film" of "which film by X"; "person" for who."""
    match = re.search(r"\b(?:which|what)(?: of)?(?: the)?(?: ⟦\d⟧'s)? ([a-z]+)", text, re.IGNORECASE)
    if match:
        return _singular(match.group(1).lower())
    return "person" if re.match(r"\W*who\b", text, re.IGNORECASE) else ""


def _thing(text: str) -> str:
    """The first of the next nouns, in the singular, that some adjective measures in a way of its own."""
    words = [_singular(word) for word in re.findall(r"[a-z]+|⟦", text.lower())][:3]
    return next((word for word in words if word in degrees().nouns), words[0] if words else "")


def _singular(noun: str) -> str:
    for ending, single in (("ies", "y"), ("sses", "ss"), ("children", "child"), ("people", "person"), ("s", "")):
        if noun.endswith(ending) and not noun.endswith("ss"):
            return noun.removesuffix(ending) + single
    return noun
