"""A question in the orders in which a walk from its topic may meet its words, and what it says of the first step.

English names relations outwards from the entity, before it ("the A of the B of X"), after it ("X's B's A") or on both
sides ("the A that X B"). So what stands before the topic is read backwards and what stands after it forwards, and
either may come first, or be met within the other.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Literal

from fedkg.common.english import english, root
from fedkg.common.normalize import STOP_WORDS, mentioned

__all__ = [
    "MOST_UNITS",
    "Role",
    "Unit",
    "Wording",
    "asks_the_kind",
    "content",
    "kind_noun",
    "plain",
    "small",
    "span_text",
]

MOST_UNITS = 16
"""A longer question is read by twos or threes of its words: spans grow with the square."""
MOST_MIXED = 8
"""Units of a question whose sides may be met within each other."""
TOKEN = re.compile(r"'s\b|[\w-]+")
WORD = re.compile(r"[^\W_]+")
APPOSITION = re.compile(r"\b(?:the|an?) ([\w-]+) $", re.IGNORECASE)
FIRST = frozenset("'s a an are did do does is of the was were".split())
"""Words that say nothing where a span begins with them."""
NEAR = 2
"""Content words beside a topic that may say what it does."""
KIND_OF = re.compile(
    r"\b(what|which) (kind|type|sort|genre|category|class)s? of "
    r"(?:[\w-]+ ){1,3}?(?=(?:is|was|are|were)\b(?! (?-i:[a-z]+)(?:ed|ing)\b| there\b))",
    re.IGNORECASE,
)
"""It asks of what kind a thing is: "what type of film is Top Hat". "What type of drug is used" asks for drugs."""
SOME_KIND = re.compile(r"\b(?:kind|type|sort)s? of (?=[\w-]+ of\b)", re.IGNORECASE)
"""It only stands before what is asked for: "the type of religion of X" is the religion of X."""
SUBTYPES = re.compile(
    r"^\W*(?:what|which) (?:kinds|types|sorts|forms|subtypes) of (.+?) (?:are there|(?:do )?exist|are known)\b\W*$",
    re.IGNORECASE,
)
"""It asks for the kinds of a thing: "what kinds of migraine are there"."""
EVERY_SUBTYPE = re.compile(
    r"^\W*(?:name|list|give me|tell me|show me|what are)(?: every| each| all| all the| the)"
    r" (?:(?:different|various) )?(?:kinds?|types?|sorts?|forms?|subtypes?|variants?) of "
    r"(?!.*\b(?:that|which|who|do|does|did|is|are|was|were|by|in|for|from|with|\w+ed)\b)(.+?)\W*$",
    re.IGNORECASE,
)
"""The same, and no more: "name every form of migraine", but not "every form of music that X plays"."""
BODY = re.compile(r"\b(?:parts?|bits?|areas?|regions?) of the (?:human )?body\b", re.IGNORECASE)
LIST_OF = re.compile(r"\b(?:(?:the|an?) )?(?:(?:complete|full|entire|whole) )?list of (?=[a-z])", re.IGNORECASE)
NAMES_OF = re.compile(r"\b(?:the )?names? of (?=the |[A-Z])")
"""It only stands before what is asked for: "the names of X's children"."""
WANTING = re.compile(
    r"^\W*(?:i|we)(?:['’]d| would)? (?:need|want|like|(?:am|are) looking for)(?: to (?:know|see|have|get))?\b"
    r"(?= (?:all|every|each|the|a list)\b)",
    re.IGNORECASE,
)
PURPOSE = re.compile(r" for (?:my|our) [\w ]+(?=\W*$)", re.IGNORECASE)
"""Why somebody asks: "I need all the rivers of X for my homework"."""
MASK = "it"
"""What another topic becomes: a small word."""

Unit = tuple[int, str]
"""A content word with the small words before it, and its place in the question."""
Role = Literal["agent", "patient", "owner", "subject", ""]
"""What a word does with the step's relation: "X directed", "directed X", "X's director", "X was directed"."""

DOES = r"\b(?:did|does|do|has|have|had|can|could|may|might|will|would)"
OWNED = re.compile(r"\bof(?: the| an?)?\s*$", re.IGNORECASE)
BY = re.compile(r"\bby(?: the| an?)?\s*$", re.IGNORECASE)
ACTING = re.compile(rf"{DOES}(?: the| an?)?\s*$", re.IGNORECASE)
BEING = re.compile(r"\b(?:is|are|was|were|been|be)(?: the| an?)?\s*$", re.IGNORECASE)
RELATIVE = re.compile(r"\b(?:that|which|who|whom|where|what)(?: the| an?)?\s*$", re.IGNORECASE)
PREPOSITION = re.compile(
    r"\b(?:in|at|for|from|to|with|on|against|under|into|after|about|through)(?: the| an?)?\s*$", re.IGNORECASE
)
WITH = re.compile(r"\bwith(?: the| an?)?\s*$", re.IGNORECASE)
NOUN_NEXT = re.compile(r"^\s*(?:an?|the)\b", re.IGNORECASE)
HAVING = re.compile(r"\b([\w-]+) (?:has|have|had)(?: the| an?)?\s*$", re.IGNORECASE)
HAD = re.compile(r"\W*(?:$|(?:as|for|among) )", re.IGNORECASE)
"""What follows what somebody has: "have X as a symptom"; in "have X directed" the verb is another."""
PASSIVE = re.compile(r"\s*(?:be|been|get|got) (?!(?:at|by|in|on|to|with)\b)[\w-]+", re.IGNORECASE)
"""What follows whom something is done to: "can X be treated", "has X been filmed"; not in "has X been in"."""
THAT = re.compile(r"\b(?:that|whom)(?: the| an?)?\s*$", re.IGNORECASE)
DONE_IN = re.compile(r"\b(?:is|are|was|were|be|been) [\w-]+(?:ed|en) (?:in|on|at)(?: the| an?)?\s*$", re.IGNORECASE)
"""Where something is done, which may do it, too: "genes that are expressed in X"."""
WITHIN = re.compile(r"\b(?:where|(?:in|of|for|from|with|to|on) (?:which|what|whom))(?: the| an?)?\s*$", re.IGNORECASE)
IS_A = re.compile(r"\s*(?:is|are|was|were) (?:an?|the|one of the|among the) ([a-z]+)", re.IGNORECASE)
"""What the topic is to what is asked for: "diseases of which X is a symptom" says nothing of what X does."""
DONE = re.compile(r"\s*(?:\w+ly )?([\w-]+(?:ed|en))\b", re.IGNORECASE)
DONE_TO = re.compile(r"\s*(?:is|are|was|were|be|been|get|got) (?:\w+ly )?([\w-]+(?:ed|en))\b", re.IGNORECASE)
"""What is done to the topic, after "is X" and "can X"."""
ROLES: tuple[tuple[re.Pattern[str], Role], ...] = ((OWNED, "owner"), (BY, "agent"), (ACTING, "agent"))
IN_PLACE = re.compile(r"(\bby )?\b(?:who|whom|what)\W*$", re.IGNORECASE)
"""What is asked for stands where the answer would: "X was written by who", "X starred who"."""
FEATURING = ("star", "feature")
"""Verbs whose object is who does it."""
PREFIXED = re.compile(r"\bgrand(?=[a-z]{3})", re.IGNORECASE)
KIN = re.compile(r"^'s ([a-z]+)", re.IGNORECASE)
VERB_NEXT = re.compile(r"^\s*(?:[\w-]+(?:ed|es|s)|[\w-]+ (?:in|for|at|from|by))\b", re.IGNORECASE)


@cache
def _featuring() -> frozenset[str]:
    return frozenset(map(root, FEATURING))


class Wording:
    """What a question says around one topic; `others` are the names of other topics."""

    def __init__(self, question: str, topic: str, others: Iterable[str] = ()) -> None:
        before, after = _moved(*_around(_masked(plain(question), others, topic), topic))
        self.rest = f"{before} {after}"
        self.role = _role(before, after)
        self.done = _done(before, after) if self.role == "subject" else ""
        self.beside = _beside(before, after, self.role)
        acting = _acting(before, after)
        self.orders = _orders(_compounded(before, "of"), _compounded(after, "'s"), rightwards=acting)
        self.whole = question


@lru_cache(maxsize=1 << 12)
def plain(question: str) -> str:
    """The question with a noun for what its first and last words say together: an occupation for "what does X do"."""
    text = question.replace("’", "'")
    for first, last, noun in english().framed:
        end = f"(?:'s)? {last}" if last else ""
        match = re.fullmatch(rf"{first}\b(.+?){end}\W*", text, re.IGNORECASE)
        if match:
            return f"what is{match.group(1)}'s {noun}"
    text = BODY.sub("body parts", SOME_KIND.sub("", KIND_OF.sub(r"\1 \2 ", text)))
    text = EVERY_SUBTYPE.sub(r"what are the subtypes of \1", SUBTYPES.sub(r"what are the subtypes of \1", text))
    if WANTING.search(text):
        text = PURPOSE.sub("", WANTING.sub("list", text))
    return NAMES_OF.sub("", LIST_OF.sub("", text))


def asks_the_kind(question: str) -> bool:
    """Whether it asks of what kind a thing is, and not for things of a kind."""
    return KIND_OF.search(question) is not None


def span_text(units: Sequence[Unit]) -> str:
    """The words of some units as they stand in the question."""
    words = " ".join(text for _, text in sorted(units)).split()
    begin = next((place for place, word in enumerate(words) if word not in FIRST), 0)
    return " ".join(words[begin:]).replace(" 's", "'s")


@lru_cache(maxsize=1 << 14)
def content(text: str) -> tuple[str, ...]:
    """The roots of the words that carry meaning, in their order."""
    return tuple(root(word) for word in WORD.findall(text.lower()) if not small(word))


def small(word: str) -> bool:
    """Whether a word, in small letters, names no relation."""
    return word in STOP_WORDS or word == "s" or word in english().fillers


def kind_noun(word: str) -> bool:
    """Whether the word, in small letters, may stand before a name and tell what bears it: "film", "director"."""
    return root(word) in english().kinds or root(word) in english().agents


def _masked(question: str, others: Iterable[str], topic: str) -> str:
    for name in others:
        if name.strip() and name != topic:
            question = re.sub(rf"(?<!\w){re.escape(name.strip())}(?!\w)", MASK, question, flags=re.IGNORECASE)
    return question


def _around(question: str, topic: str) -> tuple[str, str]:
    """The question before and after the mention of its topic; all of it is before where it is not mentioned."""
    mention = mentioned(question, topic.replace("’", "'"))
    return (_unapposed(question[: mention.start()]), question[mention.end() :]) if mention else (question, "")


def _unapposed(before: str) -> str:
    """Without "the film" before the topic: what it is, not what is asked of it. "The first X" is another one."""
    match = APPOSITION.search(before)
    return before[: match.start()] if match and kind_noun(match.group(1).lower()) else before


def _moved(before: str, after: str) -> tuple[str, str]:
    """What reads "the grandnation of X's child" as the nation of X's grandchild: a word of kinship is grand, no nation.

    PathQuestion writes so; the rule was made on its tuning half.
    """
    kin = KIN.match(after)
    known = english().compounds
    prefixed = next((one for one in PREFIXED.finditer(before) if not known.get(_word_at(before, one))), None)
    if not prefixed or not kin or f"grand{kin.group(1).lower()}" not in known:
        return before, after
    return before[: prefixed.start()] + before[prefixed.end() :], f"'s grand{after[kin.start(1) :]}"


def _word_at(text: str, start: re.Match[str]) -> str:
    word = WORD.match(text, start.start())
    return word.group().lower() if word else ""


def _role(before: str, after: str) -> Role:
    """What the topic does, as far as the words beside it tell."""
    if after.startswith("'s"):
        return "owner"
    asked = IN_PLACE.search(after)
    if asked and (asked.group(1) or _features(next(iter(WORD.findall(after.lower())), ""))):
        return "subject" if asked.group(1) else ""
    having = HAVING.search(before)
    if having and HAD.match(after) and not small(having.group(1).lower()):
        return "patient"
    if ACTING.search(before) and PASSIVE.match(after):
        return "subject"
    if DONE_IN.search(before):
        return ""
    beside = _of_compound(after) or next((role for pattern, role in ROLES if pattern.search(before)), "")
    return beside or _of_verb(before, after)


def _acting(before: str, after: str) -> bool:
    """Whether the next word is the verb of what the topic does: "did X start", "that X made". The walk begins there."""
    verb = next(iter(WORD.findall(after.lower())), "")
    clause = ACTING.search(before) or THAT.search(before)
    noun = root(verb) in english().kinds.keys() - english().agents or verb.endswith(("er", "or", "ers", "ors"))
    return bool(clause and after.startswith(" ") and verb) and not (small(verb) or noun)


def _done(before: str, after: str) -> str:
    """The participle after the topic, of what is done to it: "treated" of "what is X treated with"; else ""."""
    match = DONE.match(after) if BEING.search(before) else DONE_TO.match(after)
    return match.group(1).lower() if match else ""


def _features(word: str) -> bool:
    """Whether the word is a verb whose object is who does it."""
    return root(word) in _featuring()


def _beside(before: str, after: str, role: Role) -> str:
    """The words that the role is about: those that stand next to the topic, on the side that the role tells."""
    left, right = _units(before)[-NEAR:], _units(after)[:NEAR]
    forwards = after.startswith("'s") or role == "subject" or (role == "agent" and not BY.search(before))
    words = right if forwards or _of_compound(after) else left
    return " ".join(words or left or right)


def _of_compound(after: str) -> Role:
    """That of "the Titanic director", or of "Ridley Scott directed films"."""
    first, second = (*WORD.findall(after.lower())[:2], "", "")[:2]
    if not after.startswith(" ") or not first:
        return ""
    if _agent_noun(first):
        return "owner"
    return "agent" if _participle(first) and root(second) in english().kinds else ""


def _of_verb(before: str, after: str) -> Role:
    """That of the topic beside a verb."""
    if BEING.search(before):
        return "agent" if NOUN_NEXT.match(after) else "subject"
    predicate = IS_A.match(after) if WITHIN.search(before) else None
    if predicate and not _agent_noun(predicate.group(1).lower()):
        return ""
    if RELATIVE.search(before) or not before.strip():
        return "agent" if VERB_NEXT.match(after) else ""
    last = ["", *WORD.findall(before.lower())][-1]
    if WITH.search(before) or _features(last):
        return ""
    return "patient" if PREPOSITION.search(before) or (last and not small(last)) else ""


def _agent_noun(word: str) -> bool:
    """Whether the word is a noun for who does something: "directors", not "directed"."""
    return root(word) in english().agents and not _participle(word) and word.rstrip("s").endswith(("r", "st", "s"))


def _participle(word: str) -> bool:
    return word.endswith(("ed", "en"))


def _compounded(text: str, joint: str) -> str:
    """The text with words of two steps of kinship as two steps, in the order of their side."""

    def steps(match: re.Match[str]) -> str:
        both = english().compounds.get(match.group().lower(), ())
        return (f"{both[1]} of {both[0]}" if joint == "of" else f"{both[0]}'s {both[1]}") if both else match.group()

    return WORD.sub(steps, text)


def _orders(before: str, after: str, *, rightwards: bool) -> list[list[Unit]]:
    """The units in walking order, each with its place in the text: what is nearest to the topic comes first.

    After a possessive the walk goes on to the right; else it may begin on either side, or turn to one within the other:
    with `rightwards` on the right alone.
    """
    places, texts = _sides(before, after)
    left, right = list(zip(places[0], texts[0], strict=True))[::-1], list(zip(places[1], texts[1], strict=True))
    orders = [right + left] if after.startswith("'s") else [left + right, right + left]
    if not after.startswith("'s") and len(left) + len(right) <= MOST_MIXED:
        orders += [right[:cut] + left + right[cut:] for cut in range(1, len(right))]
        orders += [left[:cut] + right + left[cut:] for cut in range(1, len(left))]
    if rightwards and right:
        orders = [order for order in orders if order[:1] == right[:1]]
    return [_grouped(order) for order in map(list, dict.fromkeys(map(tuple, orders))) if order]


def _sides(before: str, after: str) -> tuple[tuple[range, range], tuple[list[str], list[str]]]:
    """The places and texts of the units on both sides; small words alone belong to the other side."""
    left, right = _units(OWNED.sub("", before)), _units(after)  # this "of" leads to the topic: no step of its own
    if left and right and not (content(before) and content(after)):
        rest = " ".join(left) if not content(before) else " ".join(right)
        if not content(before):
            left, right = [], [f"{rest} {right[0]}", *right[1:]]
        else:
            left, right = [*left[:-1], f"{left[-1]} {rest}"], []
    return (range(len(left)), range(len(left), len(left) + len(right))), (left, right)


def _units(text: str) -> list[str]:
    """The content words of a text, each with the small words before it; those at the end belong to the last one."""
    units: list[str] = []
    words: list[str] = []
    for word in TOKEN.findall(text.lower()):
        words.append(word)
        if word != "'s" and not small(word):
            units.append(" ".join(words))
            words = []
    return [*units[:-1], " ".join([*units[-1:], *words])] if units or words else []


def _grouped(order: Sequence[Unit]) -> list[Unit]:
    """The units, neighbours as one where there are too many."""
    size = -(-len(order) // MOST_UNITS)
    groups = [sorted(order[start : start + size]) for start in range(0, len(order), size)]
    return [(group[0][0], " ".join(text for _, text in group)) for group in groups]
