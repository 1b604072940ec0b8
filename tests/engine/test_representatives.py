"""One walk for each path that stands for several: it exists, and shares what it can with the others."""

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.engine.representatives import representatives


def node(name: str) -> Iri:
    """An entity."""
    return Iri(f"http://example.org/{name}")


def step(relation: str, *edges: str) -> Step:
    """A step over edges, each written `from to`."""
    walked = DirectedRelation(node(relation), "out")
    ends = (edge.split() for edge in edges)
    return Step(0, walked, tuple(Edge(node(start), node(relation), node(end), "out", "e") for start, end in ends))


FILMS = step("made", "mann marty", "mann eyre", "mann eagles")
PATHS = [
    PartialPath(node("mann"), (FILMS,)),
    PartialPath(node("mann"), (FILMS, step("votes", "eagles unknown"))),
    PartialPath(node("mann"), (FILMS, step("genre", "marty drama", "eagles drama"))),
    PartialPath(node("mann"), (FILMS, step("director", "eyre mann", "eyre fukunaga"))),
]


def test_each_path_has_a_walk_that_exists() -> None:
    """One edge a step, of that step, connected from the topic; the relations are those of the path."""
    for path, walk in zip(PATHS, representatives(PATHS), strict=True):
        assert walk.chain == path.chain
        assert [len(each.edges) for each in walk.steps] == [1] * len(path.steps)
        assert all(set(mine.edges) <= set(whole.edges) for mine, whole in zip(walk.steps, path.steps, strict=True))
        assert len(walk.walks(walk.tails[0])) == len(path.steps)


def test_walks_share_their_nodes() -> None:
    """What has been walked over is walked over again where it leads on, also by shorter paths; nothing goes back."""
    through = [walk.steps[0].tails[0] for walk in representatives(PATHS)]
    assert through == [node("eyre"), node("eagles"), node("eagles"), node("eyre")]
    assert representatives(PATHS)[3].tails == (node("fukunaga"),)


def test_a_path_whose_steps_do_not_connect_stays_as_it_is() -> None:
    """No walk is made up."""
    broken = PartialPath(node("mann"), (FILMS, step("genre", "other drama")))
    assert representatives([broken]) == [broken]
