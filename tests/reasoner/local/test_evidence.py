"""What speaks for a chain."""

import pytest

from fedkg.core.choice import ChainEvidence, PromptCandidate
from fedkg.reasoner.local.chains import chain_of
from fedkg.reasoner.local.evidence import evidence


def test_the_features_of_a_chain() -> None:
    """Its score beside that of other relations, the words that it leaves over, its length and its ends."""
    paths = [
        PromptCandidate(4, "", ("director",), ("a", "b"), 3, topic="X", directions=("out",)),
        PromptCandidate(5, "", ("director",), ("c",), topic="X", directions=("in",)),
        PromptCandidate(6, "", ("genre", "label"), ("d",), topic="X", directions=("in", "out")),
    ]
    features = evidence("Who directed the funny X?", paths, list(map(chain_of, paths)), [0.5, 0.4, 0.2], 0)
    assert features == ChainEvidence(4, 0.5, 0.2, unsaid=0.5, fitting=1, hops=1, ends=5)
    assert features.margin == pytest.approx(0.3)


def test_what_is_asked_for_may_not_be_what_the_ends_are() -> None:
    """A date where a person is asked for, by two steps against their direction and without a common word."""
    paths = [PromptCandidate(1, "", ("a", "b"), ("1999",), topic="X", directions=("in", "in"))]
    features = evidence("Who directed X?", paths, list(map(chain_of, paths)), [0.1], 0)
    assert features == ChainEvidence(1, 0.1, unsaid=1.0, unasked=1.0, fitting=-1, against=2, hops=2, ends=1)


def test_names_beside_the_topics_and_what_the_graph_calls_a_topic() -> None:
    """Neither the word that a question begins with is such a name, nor a topic, which may be another chain's."""
    paths = [
        PromptCandidate(1, "", ("spouse",), topic="Ann Lee", start="Ann Lee"),
        PromptCandidate(2, "", ("spouse",), topic="Bo", start="Robert"),
    ]
    chains = list(map(chain_of, paths))
    features = [
        evidence("Was Ann Lee’s spouse Bo or Charlie Chaplin?", paths, chains, [0.5, 0.4], best) for best in (0, 1)
    ]
    assert [(one.names, one.renamed) for one in features] == [(2, False), (2, True)]
