"""What speaks for a chain: features from which the confidence of an answer is made."""

import functools
from collections.abc import Collection, Sequence

import numpy as np

from fedkg.common.normalize import content_words, normalized_answer, without
from fedkg.core.choice import ChainEvidence, PromptCandidate
from fedkg.embed.base import Matrix
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.doers import doer
from fedkg.reasoner.local.likeness import covered, unwalked
from fedkg.reasoner.local.reading import SAME, ChainJudgement
from fedkg.reasoner.local.typed_names import passed
from fedkg.reasoner.local.wording import plain

__all__ = ["evidence", "question_words", "shared"]


def evidence(
    question: str,
    paths: Sequence[PromptCandidate],
    chains: Sequence[RelationChain],
    judged: Sequence[ChainJudgement],
    best: int,
) -> ChainEvidence:
    """The features of the chain at the place `best`, beside the best one of other relations."""
    chain, path, judgement = chains[best], paths[best], judged[best]
    others = [other for one, other in zip(chains, judged, strict=True) if one.relations != chain.relations]
    asked, named = without(plain(question), chain.topic), " ".join(chain.relations)
    of_question, _ = covered(asked, named)
    _, of_chain = covered(asked, " ".join((named, *map(passed, chain.typed))))
    topics = {other.topic for each in paths for other in (each, *each.also)}
    return ChainEvidence(
        nearest=path.number,
        score=judgement.score,
        second=max((other.score for other in others), default=0.0),
        unsaid=1 - of_question,
        unasked=1 - of_chain,
        unwalked=unwalked(
            _without(question, topics), [(name, "") for each in (path, *path.also) for name in each.relations]
        ),
        fitting=-1 if (len(topics) == 1 and _unshared(asked, chain)) or _wider(question, chain) else judgement.fitting,
        against=judgement.clashes,
        hops=len(chain.relations),
        ends=len(path.tails) + path.more,
        names=_names(question, topics),
        renamed=bool(path.start) and normalized_answer(path.topic) != normalized_answer(path.start),
        alike=judgement.vouched,
        ahead=judgement.vouched - max((other.vouched for other in others), default=0.0),
    )


def _unshared(asked: str, chain: RelationChain) -> bool:
    """Whether what shares something with the topic is asked for, and the chain ends at what they share.

    "Who wrote films together with X" asks for no film. A relation may be the sharing itself: a partner, a border.
    """
    name = " ".join(chain.relations)
    if len(chain.relations) > 1 or not SAME.search(asked) or SAME.search(name):
        return False
    return covered(SAME.sub(" ", asked), name)[1] > 0


def _wider(question: str, chain: RelationChain) -> bool:
    """Whether it leads to people of any kind, where those who do something are asked for: writers who lived in X."""
    noun = doer(question)
    return bool(noun) and not covered(noun, " ".join(chain.relations))[0]


def _names(question: str, topics: Collection[str]) -> int:
    """How many words with a capital or figure the question has beside its topics; not the one that it begins with."""
    text = question.replace("’", "'")
    rest = _without(text, topics)
    words = rest.split()
    later = words[1:] if words[:1] == text.split()[:1] else words
    return sum(word != word.lower() and bool(content_words(word)) for word in later)


def _without(question: str, topics: Collection[str]) -> str:
    """The question without these names, the longest first."""
    return functools.reduce(without, sorted(topics, key=len, reverse=True), question)


def question_words(question: str, paths: Sequence[PromptCandidate]) -> tuple[str, ...]:
    """The content words of the question without the topics of all paths."""
    topics = {other.topic for path in paths for other in (path, *path.also)}
    return content_words(_without(question, topics))


def shared(likeness: Matrix, relations: Sequence[str], chain: Collection[str]) -> tuple[float, float]:
    """How well the chain's relations say each word on average, and how much better another one says one of them.

    `likeness` is that of words and relations, shape (words, relations).
    """
    own = np.array([name in chain for name in relations])
    said = likeness[:, own].max(axis=1, initial=0.0)
    others = likeness[:, ~own].max(axis=1, initial=0.0)
    return float(said.mean()) if len(said) else 0.0, float((others - said).max(initial=0.0))
