"""What speaks for a chain: features from which the confidence of an answer is made."""

from collections.abc import Sequence

from fedkg.common.normalize import content_words, without
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
    )


def _unmatched(words: Sequence[str], others: Sequence[str]) -> float:
    """The share of the words that are akin to none of the others; 0 where there are none."""
    left = [word for word in words if not any(akin(word, other) for other in others)]
    return len(left) / max(1, len(words))


def _fitting(question: str, chain: RelationChain) -> int:
    if chain.dated is None:
        return 0
    return 1 if chain.dated == asks_time(question) else -1
