"""Linking: the topic entities of a question, given by the caller, named by the model, or found among its n-grams."""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.errors import TermError, TopicError
from fedkg.graph.base import Graph
from fedkg.records import Match, Plan
from fedkg.terms import Iri
from fedkg.words import STOP_WORDS

__all__ = ["from_question", "given", "ngrams"]

LONGEST_NGRAM = 8
MOST_TOPICS = 3


async def given(graph: Graph, topics: Sequence[str]) -> list[Match]:
    """The entities that the caller named by IRI or by label. Raises TopicError with the nearest labels."""
    return [
        await _by_iri(graph, Iri.parse(topic)) if _looks_like_iri(topic) else await _by_label(graph, topic)
        for topic in topics
    ]


async def from_question(graph: Graph, question: str, plan: Plan) -> list[Match]:
    """The entities that the plan's mentions, or else the question's longest n-grams, are labels of.

    Raises TopicError where nothing matches.
    """
    topics = await _mentioned(graph, plan.mentions)
    if not topics:
        spans = ngrams(question)
        topics = _longest(spans, await graph.search(spans, 1))
    if topics:
        return topics[:MOST_TOPICS]
    asked = " or ".join(repr(mention) for mention in plan.mentions) or repr(question[:80])
    raise await _unknown(graph, f"no entity of {graph.name} is called what the question names ({asked})", plan.mentions)


def ngrams(question: str) -> list[str]:
    """The runs of up to 8 words that may be a name, longest first; those that start or end with a stop word are out."""
    text = re.sub(r"[?!]+\s*$", "", question).strip()
    words = [(match.start(), match.end()) for match in re.finditer(r"[^\s,;:\"“”]+(?:[,:]\s)?", text)]
    found: dict[str, None] = {}
    for size in range(min(LONGEST_NGRAM, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            span = text[words[first][0] : words[first + size - 1][1]].strip(" ,;:")
            for form in (span, re.sub(r"['’]s?$", "", span)):
                if _may_name(form):
                    found[form] = None
    return list(found)


def _may_name(span: str) -> bool:
    words = span.lower().split()
    return bool(words) and (len(words) > 1 or len(span) > 1) and not {words[0], words[-1]} <= STOP_WORDS


def _longest(spans: Iterable[str], found: Mapping[str, list[Match]]) -> list[Match]:
    """The best match of each longest span, leaving out spans inside one already taken."""
    taken: list[str] = []
    topics: dict[Iri, Match] = {}
    for span in spans:
        if found.get(span) and not any(span in longer for longer in taken):
            taken.append(span)
            match = found[span][0]
            topics.setdefault(match.iri, msgspec.structs.replace(match, mention=span))
    return list(topics.values())


async def _mentioned(graph: Graph, mentions: Sequence[str]) -> list[Match]:
    found = await graph.search(list(mentions), 1) if mentions else {}
    return [msgspec.structs.replace(found[name][0], mention=name) for name in mentions if found.get(name)]


async def _by_iri(graph: Graph, iri: Iri) -> Match:
    label = (await graph.labels([iri]))[iri]
    return Match(iri, label, 1.0, mention=label)


async def _by_label(graph: Graph, label: str) -> Match:
    found = (await graph.search([label], 1))[label]
    if found:
        return msgspec.structs.replace(found[0], mention=label)
    raise await _unknown(graph, f"no entity of {graph.name} is called {label[:100]!r}", [label])


async def _unknown(graph: Graph, message: str, names: Sequence[str]) -> TopicError:
    near = [match for name in names for match in await graph.nearest(name)]
    hint = "nearest labels: " + ", ".join(f"{match.label} <{match.iri.value}>" for match in near[:5]) if near else ""
    return TopicError(message, asked=", ".join(names), hint=hint)


def _looks_like_iri(text: str) -> bool:
    if text.startswith("<") or "://" in text:
        return True
    try:
        Iri.parse(text)
    except TermError:
        return False
    return text.startswith(("urn:", "mailto:"))
