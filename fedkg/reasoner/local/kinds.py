"""What kind of answer a question asks for, and of what kind the ends of a chain are."""

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from fedkg.common.english import english, root
from fedkg.embed.bm25 import words
from fedkg.reasoner.local.wording import asks_the_kind, plain, small

__all__ = ["BROAD", "WantedKinds", "asked", "end_kinds", "fitting", "kinds_of", "of_kind"]

NAMED = re.compile(
    r"\b(?:which|what|list|name|find|show me|give me|tell me)\b((?: (?:all|every|the|of|other|kinds? of|types? of))*)"
    r" ((?:[\w-]+ ?){1,3})",
    re.IGNORECASE,
)
BEING = re.compile(
    r"\b(?:what|who) (?:is|are|was|were) (?:the |all |some |(?:kind|type|sort)s? of )+((?:[\w-]+ ?){1,3})",
    re.IGNORECASE,
)
OWNED = re.compile(r"\bwhat (?:is|are|was|were) .*['’]s? ((?:[\w-]+ ?){1,3})\W*$", re.IGNORECASE)
BARE = re.compile(
    r"\W*(?!(?i:describe|explain)\b)(\w[a-z-]+(?: [a-z-]+){0,2}?)(?: (?:with|by|of|in|from|for|at|on|against)\b|\W*$)"
)
"""A question that is no sentence: "films with X", "X's drugs" without its topic."""
NUMBER = re.compile(r"\bhow (?:many|much|tall|high|long|old|big|large|far|heavy|wide|deep|fast)\b", re.IGNORECASE)
QUESTION_WORD = re.compile(r"\b(who|whom|whose|where|when)\b", re.IGNORECASE)
AUXILIARY = frozenset("is are was were did do does has have had can could will would".split())
VERBS = frozenset({"play", "show", "work"})
"""Nouns that are verbs after a plural: "which scans show X"."""
CAUSE = frozenset({"cause"})
BROAD = frozenset({"person", "organisation", "place", "work"})
"""Kinds of which one thing may belong to another: a city to a country."""


class WantedKinds(NamedTuple):
    """The kinds of answer that a question asks for, and the roots of the words that say so; empty where none do."""

    kinds: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()

    @property
    def narrow(self) -> frozenset[str]:
        """The kinds that are as narrow as the noun; none of a question word."""
        return self.kinds - BROAD if self.roots else frozenset()


@lru_cache(maxsize=1 << 12)
def asked(question: str) -> WantedKinds:
    """What it asks for: a number or a date, what a noun after "which" names, or what "who", "where" and "when" mean."""
    if NUMBER.search(question):
        return WantedKinds(frozenset({"number"}))
    if asks_the_kind(question):
        return _wanted("genre")
    question = plain(question)
    word = QUESTION_WORD.search(question)
    if noun := _noun_asked(question, bare=word is None):
        return _wanted(noun)
    return WantedKinds(english().asks.get(word.group().lower(), frozenset())) if word else WantedKinds()


def _noun_asked(question: str, *, bare: bool) -> str:
    """The noun that names what is asked for; "" where none does. `bare` it may stand alone."""
    if noun := next(filter(None, (_noun(match.group(2)) for match in NAMED.finditer(question))), ""):
        return noun
    being = BEING.search(question)
    if being and (heads := _heads(being.group(1))):
        owned = "of" in being.group(1).lower().split()  # "the drug class of" asks for a class
        return heads[-1] if owned else _noun(being.group(1))
    possessed, first = OWNED.search(question), BARE.match(question) if bare else None
    nouns = [*(_heads(possessed.group(1))[-1:] if possessed else ()), *([_noun(first.group(1))] if first else ())]
    return next(filter(_of_noun, nouns), "")


def _wanted(noun: str) -> WantedKinds:
    """What a noun asks for; who does something is any person."""
    person = noun in english().agents
    return WantedKinds(_of_noun(noun), frozenset() if person else frozenset({noun}))


def _of_noun(noun: str) -> frozenset[str]:
    """The kinds that a noun names; who does something is a person."""
    lists = english()
    return lists.kinds.get(noun) or (frozenset({"person"}) if noun in lists.agents else frozenset())


def _noun(text: str) -> str:
    """The root of the noun that heads the text: the last of the first words that name kinds, else its first word."""
    heads = _heads(text)
    first = next((place for place, head in enumerate(heads) if _of_noun(head)), len(heads))
    known = list(itertools.takewhile(lambda head: _of_noun(head) != CAUSE, heads[first + 1 :]))
    known = heads[first : first + 1] + list(itertools.takewhile(_of_noun, known))  # "medicines cause": that is a verb
    return (known[-1:] or heads[:1] or [""])[0]


def _heads(text: str) -> list[str]:
    """The roots of the words up to a verb or a small word."""
    heads, last = list[str](), ""
    for word in text.lower().split():
        stem = root(word)
        plural = _compound_ends(last) and not word.endswith("s")
        done = _verb(word) or plural or (word in VERBS and last.endswith("s"))
        if word in AUXILIARY or (heads and (done or (small(word) and not _of_noun(stem)))):
            break
        last = word
        if not small(word) or _of_noun(stem):
            heads.append(stem)
    return heads


def _verb(word: str) -> bool:
    """Whether it is what somebody does: "which country produced", "which company owns" ask for no producer or owner."""
    lists = english()
    past = word.endswith("ed") and root(word) in lists.agents
    present = word.endswith("s") and root(word) in lists.agents - lists.kinds.keys()
    return past or (present and not lists.agent_nouns & {word, word[:-1], word[:-2]})


def _compound_ends(word: str) -> bool:
    """Whether it is a plural, with which a compound noun ends: "which artists record" asks for no record."""
    return word.endswith("s") and word != "sports" and root(word) != word and bool(_of_noun(root(word)))


@lru_cache(maxsize=1 << 14)
def kinds_of(name: str) -> frozenset[str]:
    """The kinds that the name of a type belongs to, by any of its words, and their roots."""
    named = [root(word) for word in words(name) if not small(word)]
    return frozenset(named).union(*map(_of_noun, named))


@lru_cache(maxsize=1 << 14)
def end_kinds(relation: str) -> frozenset[str]:
    """The kinds of what a relation leads to, as far as its name says: "place of birth", "directed by"."""
    listed = words(relation)
    if not listed or listed[-1] == "of":
        return frozenset()
    if "by" in listed:
        return frozenset({"person", "organisation"})
    head = listed[: listed.index("of")] if "of" in listed[1:] else listed
    kinds, last = english().kinds, root(head[-1])
    if last in kinds:
        return kinds[last]
    return frozenset({"person", "organisation"}) if last in english().agents else frozenset()


@lru_cache(maxsize=1)
def _all_kinds() -> frozenset[str]:
    return frozenset[str]().union(*english().kinds.values())


def fitting(wanted: WantedKinds, kinds: Iterable[str]) -> int:
    """1 where ends of these kinds are what is wanted, -1 where they are something else, 0 where that is not known.

    A country is a place, but not what "which city" asks for. What no list has may be either.
    """
    have = frozenset(kinds)
    if not have or not (wanted.kinds or wanted.roots):
        return 0
    if have & ((wanted.roots | wanted.narrow) or wanted.kinds):
        return 1
    known = have & _all_kinds()
    if wanted.narrow and known - BROAD:
        return -1
    return -1 if wanted.kinds and known and not have & wanted.kinds else 0


def of_kind(wanted: WantedKinds, types: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the ends, from 1, whose types are not known to be another kind, where some have the kind.

    None where all of them stay, or no end is known to be what is asked for.
    """
    fits = [fitting(wanted, kinds_of(name)) if name else 0 for name in types]
    kept = tuple(number for number, fit in enumerate(fits, 1) if fit >= 0)
    meant = any(fit >= 0 and kinds_of(types[number]) & wanted.kinds for number, fit in enumerate(fits))
    return kept if meant and len(kept) < len(types) else ()
