"""Comparisons of two topics: which of them is older, whether one is taller, how many years lie between them."""

import re
from typing import Literal, NamedTuple

from fedkg.reasoner.local.degrees import Measure, degrees
from fedkg.reasoner.local.operator_words import COMPARATIVES, SUPERLATIVES, quantity
from fedkg.reasoner.local.wording import kind_noun

__all__ = ["PairReading", "compared"]

TOPIC = r"(?:the )?(⟦\d⟧)"
OR = re.compile(rf"^(?P<head>.*?)[,:]? {TOPIC},? or {TOPIC}(?P<tail>.*)$", re.IGNORECASE)
ONE_OF = re.compile(
    rf"^(?P<head>(?:which|who|what)(?: one| [a-z]+)?(?: (?:is|was) the (?:{COMPARATIVES})(?: one)?)?),? "
    rf"of {TOPIC} and {TOPIC}(?P<tail>.*)$",
    re.IGNORECASE,
)
ASKING = re.compile(r"^(?:which|what|who|whose)\b", re.IGNORECASE)
WHETHER = re.compile(
    rf"^(?:is|are|was|were|did|do|does|has|have|had) (?:the (?P<value>[a-z ]+) of |the [a-z]+ )?{TOPIC} "
    rf"(?P<middle>.*?)\b(?P<sign>than|before|after) (?:(?:that|the [a-z ]+) of |the [a-z]+ )?{TOPIC}"
    r"(?: (?:is|are|was|were|did|do|does|has|have|had))?$",
    re.IGNORECASE,
)
HOW_MUCH = re.compile(r"^(?:by )?how (?:many (?P<unit>[a-z]+)|much)\b|\bdifference\b", re.IGNORECASE)
TWO = re.compile(r"⟦(\d)⟧.*⟦(\d)⟧")
FORM = rf"(?P<form>{COMPARATIVES}|{SUPERLATIVES}|more|less|fewer|most|least|fewest)"
FORMS = re.compile(rf"\b{FORM}\b", re.IGNORECASE)
GREATER = re.compile(rf"\b{FORM}\b(?: (?P<noun>[a-z]+(?: [a-z]+){{0,3}}))?", re.IGNORECASE)
EVENT = re.compile(
    r"\b(?P<event>born|births?|ages?|died?|deaths?|founded|founding|foundation|established|released?|published|publication|"
    r"created|formed|inception|dissolved|came out|come out|premiered?|came into being|came into existence)\b",
    re.IGNORECASE,
)
EARLIER = re.compile(r"\b(?P<early>first|earlier|earliest|before)|\b(?:last|later|latest|after)\b", re.IGNORECASE)
VERB = re.compile(
    r"\b(?P<verb>earn(?:ed|s)?|gross(?:ed)?|costs?|(?:made?|make|took in|take in|brought in)(?= (?:the )?\w+ money)) "
    r"(?:the )?(?P<form>more|most|less|least)\b",
    re.IGNORECASE,
)
LIVED = re.compile(r"\b(?:lived?|reigned?|ruled?|served?|worked|played|held|stayed)\b", re.IGNORECASE)
"""Verbs of which it is their span that is longer or shorter."""
LASTS = re.compile(r"\b(?:runs?|lasts?|lasted)\b", re.IGNORECASE)
APART = re.compile(r"\b(?:than|between|before|after|separates?|apart)\b", re.IGNORECASE)
SMALL = re.compile(r"^(?:is|are|was|were|does|do|did|lie|lies|in|by|than|of|at|on|above|the|there|between|or)\b")


class PairReading(NamedTuple):
    """Two topics, what they are compared by, how the question asks, and the question for that of either."""

    topics: tuple[str, str]
    measure: Measure
    form: Literal["which", "whether", "difference"]
    rest: str


def compared(text: str) -> PairReading | None:
    """The comparison of two topics, which stand as ⟦0⟧ and ⟦1⟧; None where there is none, or it cannot be read."""
    return _which(text) or _whether(text) or _difference(text)


def _which(text: str) -> PairReading | None:
    match = ONE_OF.match(text)
    if match and not (FORMS.search(f"{match['head']} {match['tail']}") or EARLIER.search(match["tail"])):
        return None
    match = match or OR.match(text)
    if not match or not (ASKING.match(text) or text.lower().startswith(("is ", "was ", "are ", "were "))):
        return None
    measure = _measure(f"{match['head']} {match['tail']}", _noun(match["head"]))
    return _pair(match.group(2), match.group(3), measure, "which")


def _whether(text: str) -> PairReading | None:
    match = WHETHER.match(text)
    if not match:
        return None
    sign = "" if match["sign"].lower() == "than" else match["sign"]
    measure = _measure(f"{match['middle']} {sign}", "")
    if measure and (value := match["value"]):
        measure = Measure(quantity(value), measure.most)
    return _pair(match.group(2), match.group(5), measure, "whether")


def _difference(text: str) -> PairReading | None:
    both = TWO.search(text)
    asked = HOW_MUCH.search(text)
    if (
        not both
        or not asked
        or not re.search(r"\b(?:than|between|before|after|separates?|apart)\b", text, re.IGNORECASE)
    ):
        return None
    rest = f"{text[: asked.start()]} {text[asked.end() :]}"
    measure = _measure(re.sub(r"⟦\d⟧", "⟦⟧", rest), "")
    return _pair(f"⟦{both.group(1)}⟧", f"⟦{both.group(2)}⟧", measure, "difference")


def _pair(
    first: str, second: str, measure: Measure | None, form: Literal["which", "whether", "difference"]
) -> PairReading | None:
    if measure is None or not measure.names or first == second:
        return None
    return PairReading((first, second), measure, form, f"What is the {measure.names[0]} of {first} and of {second}")


def _measure(words: str, noun: str) -> Measure | None:
    """What the words compare; None where that cannot be read."""
    if LIVED.search(words):
        return None
    if match := VERB.search(words):
        names = degrees().quantities.get(match["verb"].lower(), degrees().quantities["earned"])
        return Measure(names, match["form"].lower() in {"more", "most"})
    if match := EVENT.search(words):
        time = EARLIER.search(words)
        event = match["event"].lower()
        names = degrees().events["released" if event.endswith(" out") else event.split()[-1]]
        return Measure(names, not time["early"]) if time else Measure(names)
    match = GREATER.search(words)
    return (
        _greater(match["form"].lower(), match["noun"] or "", "film" if LASTS.search(words) else noun)
        if match
        else _named(words)
    )


def _greater(form: str, following: str, noun: str) -> Measure | None:
    """As in "larger area", "more inhabitants", "more populous", "larger by area", "taller"."""
    lists = degrees()
    if form in {"more", "most", "less", "least", "fewer", "fewest"}:
        most, [word, *_] = form in {"more", "most"}, [*following.lower().split(), ""]
        if known := lists.of_adjective(word, noun):
            return Measure(known.names, known.most == most)
        return Measure(lists.quantities[word], most) if word in lists.quantities else None
    every = [measure for _, measure in lists.forms[form]]
    by = re.match(r"(?:by|in|in terms of) ([a-z]+)", following)
    if by:
        return Measure(quantity(by.group(1)), every[0].most)
    if following and not SMALL.match(following) and not _thing(following):
        return Measure(quantity(following), every[0].most)
    own = lists.of_adjective(form, noun or _thing(following))
    every_name = dict.fromkeys(name for measure in ([own] if own else []) + every for name in measure.names)
    return Measure(tuple(every_name), (own or every[0]).most)


def _thing(following: str) -> str:
    """The noun that tells what is compared and no quantity of it: "film" of "the longer film"; "" for none."""
    [word, *_] = [*following.lower().split(), ""]
    return word if word in {"one", "of"} or (word not in degrees().quantities and kind_noun(word)) else ""


def _named(words: str) -> Measure | None:
    """As in "the difference in height between"."""
    known = degrees().quantities
    names = next((known[word] for word in re.findall(r"[a-z]+", words.lower()) if word in known), ())
    return Measure(names) if names else None


def _noun(head: str) -> str:
    """As in "film" of "which film is longer"; a person for who."""
    match = re.search(r"\b(?:which|what) ([a-z]+)", head, re.IGNORECASE)
    return match.group(1).lower() if match else "person" if re.match(r"who\b", head, re.IGNORECASE) else ""
