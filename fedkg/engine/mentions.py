"""What of a question is a mention, and which of its candidates it can mean: told by the question alone, by no model."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence

from fedkg.common.normalize import content_words, without
from fedkg.core.nameless import nameless
from fedkg.core.question import Match
from fedkg.core.terms import Iri, own_name
from fedkg.errors import TermError

__all__ = ["ALIAS", "best", "called", "inside_names", "of_one_kind", "spoken"]

ABSOLUTE = re.compile(r"<?(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:|mailto:)")
ALIAS = 0.8
"""Least score of an entity that is called so: by its label, another spelling, or an alias."""


def best(matches: Sequence[Match]) -> list[Match]:
    """The matches with the best score."""
    highest = max((match.score for match in matches), default=0.0)
    return [match for match in matches if match.score == highest]


def called(matches: Iterable[Match]) -> list[Match]:
    """Those that are called so."""
    return [match for match in matches if match.score >= ALIAS]


def of_one_kind(candidates: Mapping[str, Sequence[Match]], options: Iterable[str]) -> dict[str, Sequence[Match]]:
    """The candidates, without those of an ambiguous option that are of another kind than all options can be.

    Options that can be diseases are diseases, though one of them is called like a side effect, too. Types have to be
    known; where the options share none, or several, all stays as it is.
    """
    spelled = {option.casefold() for option in options}
    listed = {mention: called(matches) for mention, matches in candidates.items() if mention.casefold() in spelled}
    kinds = [{match.type for match in matches} - {""} for matches in listed.values() if matches]
    shared = set.intersection(*kinds) if len(kinds) > 1 else set()
    if len(shared) != 1:
        return dict(candidates)
    return {
        mention: [match for match in matches if match.type in shared]
        if mention in listed and len(best(matches)) > 1
        else matches
        for mention, matches in candidates.items()
    }


def inside_names(question: str, linked: Iterable[Match], others: Iterable[str] = ()) -> list[Match]:
    """Those whose mention, a single word, stands in a longer name that links to nothing: the colour in "jacob black".

    The word beside it is part of a name where it has a capital, in a question without any where it says something; and
    neither another mention nor the label of one of the `others` has it.
    """
    matches = list(linked)
    cased = question != question.lower()
    texts = (*(match.mention for match in matches), *others)
    mentioned = {word.casefold() for text in texts for word in text.split()}

    def names(word: str) -> bool:
        return word.casefold() not in mentioned and bool(word[:1].isupper() if cased else content_words(word))

    return [
        match
        for match in matches
        if len(match.mention.split()) == 1 and any(names(word) for word in _beside(question, match.mention))
    ]


def spoken(absent: str, question: str, labels: Iterable[str]) -> str:
    """What the graph does not know as a model is told of it: by its name, an IRI by the name that it has.

    One that has none is among the words of the question that belong to no label of a topic, names first; "" where there
    are no such words.
    """
    try:
        iri = Iri.parse(absent) if ABSOLUTE.match(absent) else None
    except TermError:  # words of the question that only look like an address
        iri = None
    if iri is None:
        return absent
    if not nameless(iri, {}):
        return own_name(iri).replace("_", " ")
    rest = functools.reduce(without, labels, question)
    words = [word for word in re.findall(r"\w+", rest) if content_words(word)]
    named = [word for word in words if not word.islower()]
    return f"one of: {', '.join(named or words)}" if words else ""


def _beside(question: str, word: str) -> list[str]:
    """The words that stand directly beside a word, but for the first of the question, whose capital says nothing."""
    place = re.search(rf"(?:(?<=\w )(\w+) |^\w+ )?(?<!\w){re.escape(word)}(?!\w)(?: (\w+))?", question)
    return [beside for beside in place.groups() if beside] if place else []
