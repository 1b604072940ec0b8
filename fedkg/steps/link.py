"""Linking: the topic entities of a question, given by the caller, named by the model, or found among its n-grams."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.errors import TermError, TopicError
from fedkg.graph.base import Graph
from fedkg.records import Match, Plan
from fedkg.terms import Iri
from fedkg.words import STOP_WORDS

__all__ = ["from_question", "given", "ngrams"]

LONGEST_NGRAM = 10
MOST_NGRAMS = 240
MOST_TOPICS = 3
MOST_HINTS = 5
ARTICLES = frozenset({"a", "an", "the"})

QUOTED = re.compile(r"\"([^\"]{2,200})\"|“([^”]{2,200})”|«([^»]{2,200})»|(?<!\w)['‘]([^'’‘]{2,200})['’](?!\w)")
# a comma or colon inside of a name belongs to the name: "2001: A Space Odyssey"
WORD = re.compile(r"[^\s,;:\"“”«»]+(?:[,:](?=\s))?")


async def given(graph: Graph, topics: Sequence[str]) -> list[Match]:
    """The entities that the caller named by IRI or by label, in their order, each once.

    The label of an IRI comes with those of the first hop, so that it costs no request of its own.
    Raises TermError for an IRI that is none, and TopicError with the nearest labels for a label that nothing has.
    """
    iris = {topic: Iri.parse(topic) for topic in topics if _looks_like_iri(topic)}
    texts = [topic for topic in topics if topic not in iris]
    found = await graph.search(texts, 1) if texts else {}
    for text in texts:
        if not found[text]:
            raise await _unknown(graph, f"no entity of {graph.name} is called {text[:100]!r}", [text])
    known = {topic: Match(iri, iri.local_name, 1.0) for topic, iri in iris.items()}
    known |= {text: msgspec.structs.replace(found[text][0], mention=text) for text in texts}
    return _distinct(known[topic] for topic in topics)


async def from_question(graph: Graph, question: str, plan: Plan) -> list[Match]:
    """The entities that the plan's mentions, or else the question's longest n-grams, are labels of; at most three.

    Raises TopicError with the nearest labels where nothing matches.
    """
    topics = await _mentioned(graph, plan.mentions)
    spans = ngrams(question)
    if not topics and spans:
        topics = _longest(question, spans, await graph.search(spans, 1))
    if topics:
        return topics[:MOST_TOPICS]
    asked = " or ".join(repr(mention) for mention in plan.mentions) or repr(question[:80])
    names = plan.mentions or _hinted(question, spans)
    raise await _unknown(graph, f"no entity of {graph.name} is called what the question names ({asked})", names)


def ngrams(question: str) -> list[str]:
    """What may be a name: quoted text first, then the runs of up to ten words, the longest first.

    A run may start with a small word only if that is an article or written with a capital, and end with one only if that
    has a capital; in a question without any capitals neither says anything, and only runs of nothing else are left out.
    Of a text too long for a question those with capitals come first, and no more than 240 in all.
    """
    text = re.sub(r"[?!]+\s*$", "", question).strip()
    cased = text != text.lower()
    found = {next(filter(None, match.groups())).strip(): None for match in QUOTED.finditer(text)}
    words = [match.span() for match in WORD.finditer(text)]
    for size in range(min(LONGEST_NGRAM, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            for form in _forms(text[words[first][0] : words[first + size - 1][1]]):
                if _may_name(form, cased=cased):
                    found[form] = None
    spans = [form for form in found if form]
    return spans if len(spans) <= MOST_NGRAMS else sorted(spans, key=_small)[:MOST_NGRAMS]


def _small(span: str) -> bool:
    """Whether the span does not begin and end with a capital or figure."""
    words = span.split()
    return words[0][:1].islower() or words[-1][:1].islower()


def _forms(span: str) -> Iterable[str]:
    """The run itself, and without what a sentence hangs on a name: punctuation, a possessive, quotes and brackets."""
    span = span.strip(" ,;:")
    yield span
    bare = span.strip(".()[]'‘’")
    yield bare
    yield re.sub(r"['’]s?$", "", span)
    yield re.sub(r"['’]s$", "", bare)


def _may_name(span: str, *, cased: bool) -> bool:
    words = span.split()
    if not words or len(span) < 2:
        return False
    if not cased or len(words) == 1:
        return not {words[0].lower(), words[-1].lower()} <= STOP_WORDS
    return words[-1] not in STOP_WORDS and (words[0] not in STOP_WORDS or words[0] in ARTICLES)


def _longest(question: str, spans: Iterable[str], found: Mapping[str, list[Match]]) -> list[Match]:
    """The best match of each longest span, leaving out spans inside one already taken.

    Where some are proper names, the others are what is asked about them: "city", "film".
    """
    taken: list[str] = []
    for span in spans:
        if found.get(span) and not any(span in longer for longer in taken):
            taken.append(span)
    topics = _distinct(msgspec.structs.replace(found[span][0], mention=span) for span in taken)
    return [match for match in topics if _proper(match.mention, question)] or topics


def _hinted(question: str, spans: Sequence[str]) -> Sequence[str]:
    """The spans that most likely were meant as names."""
    ends = [(span, span.split()) for span in spans]
    proper = [span for span, words in ends if _proper(words[0], question) and _proper(words[-1], "")]
    return (proper or spans)[:MOST_TOPICS]


def _proper(span: str, question: str) -> bool:
    """Whether the question writes the span with a capital or a figure; the capital of its first word says nothing."""
    told = span[1:] if question.lstrip().startswith(span) else span
    return any(char.isalnum() and not char.islower() for char in told)


async def _mentioned(graph: Graph, mentions: Sequence[str]) -> list[Match]:
    found = await graph.search(list(mentions), 1) if mentions else {}
    return _distinct(msgspec.structs.replace(found[name][0], mention=name) for name in mentions if found.get(name))


def _distinct(matches: Iterable[Match]) -> list[Match]:
    """Each entity as it came first."""
    first: dict[Iri, Match] = {}
    for match in matches:
        first.setdefault(match.iri, match)
    return list(first.values())


async def _unknown(graph: Graph, message: str, names: Sequence[str]) -> TopicError:
    parts = await asyncio.gather(*(graph.nearest(name) for name in names))
    near = {match.iri: match for match in sorted((match for part in parts for match in part), key=_by_score)}
    shown = ", ".join(f"{match.label} <{match.iri.value}>" for match in list(near.values())[:MOST_HINTS])
    return TopicError(message, asked=", ".join(names), hint=f"nearest labels: {shown}" if shown else "")


def _by_score(match: Match) -> float:
    return -match.score


def _looks_like_iri(text: str) -> bool:
    if text.startswith("<") or "://" in text:
        return True
    try:
        Iri.parse(text)
    except TermError:
        return False
    return text.startswith(("urn:", "mailto:"))
