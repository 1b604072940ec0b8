"""Steps, and the paths that are made of them."""

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri

P, A, B = Iri("http://ex.org/p"), Iri("http://ex.org/a"), Iri("http://ex.org/b")


def step(*edges: Edge, complete: bool = True, score: float = 0.5) -> Step:
    """A step along p with those edges."""
    return Step(0, DirectedRelation(P, "out"), edges, score, complete)


def test_candidate_tails_are_distinct_and_in_order() -> None:
    """Tails are where the edges lead, walked their way, each once."""
    out, again, back = Edge(A, P, B, "out", "e"), Edge(A, P, B, "out", "f"), Edge(P, P, A, "in", "e")
    assert step(out, again, back).tails == (B, P)


def test_a_score_changes_nothing_else() -> None:
    """A step that is scored leads where it did, also where that was sorted out before."""
    plain = step(Edge(A, P, B, "out", "e"), score=0.0)
    sorted_out = step(Edge(A, P, B, "out", "e"), score=0.0)
    assert sorted_out.tails == (B,)
    assert plain.scored(0.5) == sorted_out.scored(0.5) == step(Edge(A, P, B, "out", "e"), score=0.5)
    assert plain.scored(0.5).tails == sorted_out.scored(0.5).tails == (B,)


def test_beam_grows_by_steps() -> None:
    """A beam starts at its topic; each step moves its tails, its chain and its score."""
    start = PartialPath(A)
    longer = start.extend(step(Edge(A, P, B, "out", "e")))
    assert (start.tails, start.chain, start.complete) == ((A,), (), True)
    assert (longer.tails, longer.chain, longer.score) == ((B,), (DirectedRelation(P, "out"),), 0.5)
    assert not longer.extend(step(complete=False)).complete


def test_a_walk_over_a_copy_has_the_link_in_it() -> None:
    """The link is an edge of the path, and to go back to the copy would be to go back."""
    x, copy, b, r = (Iri(f"http://x/{name}") for name in ("x", "copy", "b", "r"))
    link = Edge(x, r, copy, "out", "one")
    edge = Edge(copy, r, b, "out", "two", same=link)
    beam = PartialPath(x).extend(Step(0, edge.walked, (edge,)))
    assert beam.walks(b) == edge.walk
    assert beam.ancestors()[b] == {x, copy}
