"""What speaks for a chain: features from which the confidence of an answer is made."""

import functools
from collections.abc import Collection, Sequence

from fedkg.common.normalize import content_words, normalized_answer, without
from fedkg.core.choice import ChainEvidence, PromptCandidate
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.likeness import akin
from fedkg.reasoner.local.reading import asks_time

__all__ = ["evidence"]


def evidence(
    question: str, paths: Sequence[PromptCandidate], chains: Sequence[RelationChain], scores: Sequence[float], best: int
) -> ChainEvidence:
    """The features of the chain at the place `best`, beside the best one of other relations."""
    chain, path = chains[best], paths[best]
    others = [score for other, score in zip(chains, scores, strict=True) if other.relations != chain.relations]
    asked = content_words(without(question, chain.topic))
    named = content_words(" ".join(chain.relations))
    return ChainEvidence(
        nearest=path.number,
        score=scores[best],
        second=max(others, default=0.0),
        unsaid=_unmatched(asked, named),
        unasked=_unmatched(named, asked),
        fitting=_fitting(question, chain),
        against=chain.against,
        hops=len(chain.relations),
        ends=len(path.tails) + path.more,
        names=_names(question, {other.topic for other in chains}),
        renamed=bool(path.start) and normalized_answer(path.topic) != normalized_answer(path.start),
    )


def _names(question: str, topics: Collection[str]) -> int:
    """How many words with a capital or figure the question has beside its topics; not the one that it begins with."""
    text = question.replace("’", "'")
    rest = functools.reduce(without, sorted(topics, key=len, reverse=True), text)
    words = rest.split()
    later = words[1:] if words[:1] == text.split()[:1] else words
    return sum(word != word.lower() and bool(content_words(word)) for word in later)


def _unmatched(words: Sequence[str], others: Sequence[str]) -> float:
    """The share of the words that are akin to none of the others; 0 where there are none."""
    left = [word for word in words if not any(akin(word, other) for other in others)]
    return len(left) / max(1, len(words))


def _fitting(question: str, chain: RelationChain) -> int:
    if chain.dated is None:
        return 0
    return 1 if chain.dated == asks_time(question) else -1
