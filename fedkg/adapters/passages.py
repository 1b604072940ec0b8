"""Proofs as passages: what frameworks for retrieval take, a path verbalised with where it comes from."""

from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from fedkg.common.sync_runner import in_loop
from fedkg.core.answer import Answer
from fedkg.core.proof import Path
from fedkg.mcp.results import Admission, Fact, FoundAnswer
from fedkg.session import Session

__all__ = ["Passage", "completed", "passages"]

T = TypeVar("T")


class Passage(msgspec.Struct, frozen=True):
    """One path in words, a line for each edge, with its score and what a reader should know of it.

    `metadata` has plain values only: question, status, answers (the values that the path proves) with their IRIs, iris
    (all entities and relations on the path), endpoints, retrieved_at, score, caveats (sentences), confidence.
    """

    text: str
    score: float
    metadata: dict[str, Any]


def passages(answer: Answer, most: int) -> list[Passage]:
    """The first paths of the answer; none where it has no path, whatever a model remembers."""
    return [_passage(answer, number, path) for number, path in enumerate(answer.paths[:most])]


def completed(session: Session, work: Coroutine[object, object, T]) -> T:
    """What the session's coroutine returns, for callers that are not asynchronous.

    Inside a running event loop, such as a notebook's, it runs in a thread, and that loop waits.
    """
    if not in_loop():
        return session.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(session.run, work).result()


def _passage(answer: Answer, number: int, path: Path) -> Passage:
    facts = [Fact.of(edge) for edge in path.edges]
    proven = [FoundAnswer.of(value) for value in answer.answers if number in value.paths]
    caveats = [Admission.of(caveat) for caveat in answer.caveats]
    iris = (iri for fact in facts for iri in (fact.subject_iri, *fact.relation_iri.split(" / "), fact.object_iri))
    metadata = {
        "question": answer.question,
        "status": str(answer.status),
        "answers": [value.value for value in proven],
        "answer_iris": [value.iri for value in proven],
        "iris": list(dict.fromkeys(filter(None, iris))),
        "endpoints": list(dict.fromkeys(fact.endpoint for fact in facts)),
        "retrieved_at": max((edge.retrieved_at for edge in path.edges), default=""),
        "score": path.score,
        "caveats": [f"{caveat.meaning}: {caveat.about}".removesuffix(": ") for caveat in caveats],
        "confidence": answer.confidence,
    }
    return Passage("\n".join(map(_sentence, facts)), path.score, metadata)


def _sentence(fact: Fact) -> str:
    """The edge in the direction in which the graph states it."""
    qualifiers = "; ".join(f"{leg.relation}: {leg.value}" for leg in fact.qualifiers)
    return f"{fact.subject} → {fact.relation} → {fact.object}{f' ({qualifiers})' if qualifiers else ''}"
