"""What speaks for a chain."""

import pytest

from fedkg.core.choice import ChainEvidence, PromptCandidate
from fedkg.reasoner.local.chains import chain_of
from fedkg.reasoner.local.evidence import evidence
from fedkg.reasoner.local.reading import ChainJudgement


def test_the_features_of_a_chain() -> None:
    """Its score beside that of other relations, the words that it leaves over, its length and its ends."""
    paths = [
        PromptCandidate(4, "", ("director",), ("a", "b"), 3, topic="X", directions=("out",)),
        PromptCandidate(5, "", ("director",), ("c",), topic="X", directions=("in",)),
        PromptCandidate(6, "", ("genre", "label"), ("d",), topic="X", directions=("in", "out")),
    ]
    judged = [ChainJudgement(0.5, 0.5, 0, 1, 2), ChainJudgement(0.4, 0.4, 0, 0, 0), ChainJudgement(0.2, 0.2, 0, 0, 0)]
    features = evidence("Who directed the funny X?", paths, list(map(chain_of, paths)), judged, 0)
    assert features == ChainEvidence(4, 0.5, 0.2, unsaid=0.5, fitting=1, against=2, hops=1, ends=5)
    assert features.margin == pytest.approx(0.3)


def test_there_may_be_no_other_chain() -> None:
    """And no word in common."""
    paths = [PromptCandidate(1, "", ("a", "b"), ("1999",), topic="X", directions=("in", "in"))]
    judged = [ChainJudgement(0.1, 0.1, 0, -1, 0)]
    features = evidence("Who directed X?", paths, list(map(chain_of, paths)), judged, 0)
    assert features == ChainEvidence(1, 0.1, unsaid=1.0, unasked=1.0, fitting=-1, hops=2, ends=1, unwalked=1)


@pytest.mark.parametrize(
    ("question", "unsaid"), [("What does X do for a living?", 0.0), ("What does X do wrong?", 1.0)]
)
def test_what_words_say_together_is_said(question: str, unsaid: float) -> None:
    """Neither "do" nor "a living" is an occupation, both together are."""
    paths = [PromptCandidate(1, "", ("occupation",), ("poet",), topic="X", directions=("out",))]
    judged = [ChainJudgement(0.9, 0.9, 0, 0, 0)]
    assert evidence(question, paths, list(map(chain_of, paths)), judged, 0).unsaid == unsaid


def test_names_beside_the_topics_and_what_the_graph_calls_a_topic() -> None:
    """Neither the word that a question begins with is such a name, nor a topic, which may be another chain's."""
    paths = [
        PromptCandidate(1, "", ("spouse",), topic="Ann Lee", start="Ann Lee"),
        PromptCandidate(2, "", ("spouse",), topic="Bo", start="Robert"),
    ]
    chains, judged = list(map(chain_of, paths)), [ChainJudgement(0.5, 0.5, 0, 0, 0)] * 2
    features = [evidence("Was Ann Lee’s spouse Bo or Charlie Chaplin?", paths, chains, judged, best) for best in (0, 1)]
    assert [(one.names, one.renamed) for one in features] == [(2, False), (2, True)]


@pytest.mark.parametrize(
    ("question", "relations", "others", "fitting"),
    [
        ("who wrote films together with X", ("written by",), (), -1),
        ("who wrote films together with X", ("written by", "written by"), (), 0),
        ("which films were written by both X and Y", ("written by",), ("Y",), 0),
        ("which countries share a border with X", ("shares border with",), (), 0),
        ("who is together with X", ("partner",), (), 0),
    ],
)
def test_what_is_shared_is_not_who_shares_it(
    question: str, relations: tuple[str, ...], others: tuple[str, ...], fitting: int
) -> None:
    """One step from the only topic leads to what is shared, unless its relation is the sharing."""
    paths = [PromptCandidate(1, "", relations, ("a",), topic=topic, start=topic) for topic in ("X", *others)]
    judged = [ChainJudgement(0.5, 0.5, 0, 0, 0)] * len(paths)
    assert evidence(question, paths, list(map(chain_of, paths)), judged, 0).fitting == fitting


def test_words_for_relations_that_the_chain_does_not_walk() -> None:
    """Beside the actors, the word directed is a step of its own."""
    path = PromptCandidate(1, "", ("starred actors",), ("Ann",), topic="X", directions=("out",))
    judged = [ChainJudgement(0.8, 0.8, 0, 1, 0)]
    longer, whole = (
        evidence(question, [path], [chain_of(path)], judged, 0).unwalked
        for question in ("Who directed the movies of the actors in X?", "Who are the actors in X?")
    )
    assert longer > whole == 0


def test_what_a_relation_leads_through_is_not_asked_for() -> None:
    """Of one that stands for two the question is to say the first part, too."""
    first = "tv.program.regular_cast..tv.appearance.actor"
    paths = [
        PromptCandidate(1, "", ("actor",), ("Ann",), topic="X", directions=("out",), typed=(typed,))
        for typed in ("tv.appearance.actor", first)
    ]
    judged = [ChainJudgement(0.8, 0.8, 0, 1, 0)]
    plain, through = (evidence("Who is the actor of X?", [path], [chain_of(path)], judged, 0).unasked for path in paths)
    assert plain < through


@pytest.mark.parametrize(
    ("question", "relations", "fitting"),
    [
        ("which writers lived in X", ("residence",), -1),
        ("which writers lived in X", ("residence", "writer"), 0),
        ("who lived in X", ("residence",), 0),
        ("which directors directed X", ("director",), 0),
    ],
)
def test_people_of_any_kind_are_more_than_those_who_do_something(
    question: str, relations: tuple[str, ...], fitting: int
) -> None:
    """Of those who lived there not all are writers."""
    paths = [PromptCandidate(1, "", relations, ("a",), topic="X")]
    judged = [ChainJudgement(0.5, 0.5, 0, 0, 0)]
    assert evidence(question, paths, list(map(chain_of, paths)), judged, 0).fitting == fitting
