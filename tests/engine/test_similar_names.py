"""Names that nothing is called link to what means the same, where the graph calls it so, and nothing else does."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.core.caveat import CaveatKind
from fedkg.core.question import Match, Plan
from fedkg.core.terms import Iri
from fedkg.embed.base import Matrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine import linking
from fedkg.engine.similar_names import Similar, alike
from fedkg.errors import TopicError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.session import Session
from fedkg.testing import HashingEmbedder
from tests.support.pets import PETS, ask_about_pets

LABELS = {
    "nyc": "New York City",
    "first": "World War I",
    "michael": "Michael Jackson",
    "mozart": "Wolfgang Amadeus Mozart",
    "cup": "2002 World Cup",
    "jobs": "film director",
}
GRAPH = " ".join(f':{name} rdfs:label "{label}"@en . :{name} r:part :all .' for name, label in LABELS.items())


@pytest.fixture
def graph(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """A graph of these names."""
    return make_graph(f'{GRAPH} r:part rdfs:label "belongs to"@en .')


def shown(score: float, *names: str) -> Similar:
    """An index in which these are near to whatever is asked for."""
    matches = [Match(Iri(f"http://x/{name}"), LABELS.get(name, name), score) for name in names]

    async def similar(asked: Sequence[str]) -> Mapping[str, list[Match]]:
        return dict.fromkeys(asked, matches)

    return similar


@pytest.mark.parametrize(
    ("name", "label", "links"),
    [
        ("NYC", "nyc", True),
        ("Mozart", "mozart", True),
        ("movie director", "jobs", True),
        ("World War II", "first", False),
        ("Peter Jackson", "michael", False),
        ("1998 World Cup", "cup", False),
        ("World Cup 2002", "cup", True),
    ],
)
async def test_a_name_with_a_word_of_its_own_is_another_name(
    graph: SparqlGraph, name: str, label: str, links: bool
) -> None:
    """However alike the two are; a short form and other words for the same are the same."""
    linked = await alike(graph, [name], shown(0.95, label), 5)
    assert [match.iri.value for match in linked.get(name, [])] == ([f"http://x/{label}"] if links else [])
    assert all(linking.LINKS <= match.score < 0.8 for match in linked.get(name, []))


async def test_only_what_the_graph_calls_so_is_linked(graph: SparqlGraph) -> None:
    """An index may be old or a stranger's: what it suggests has to be an entity of the graph, of that label."""
    similar = shown(0.95, "nyc", "nowhere")
    assert [match.iri.value for match in (await alike(graph, ["NYC"], similar, 5))["NYC"]] == ["http://x/nyc"]
    relation = Match(Iri("http://x/r/part"), "belongs to", 0.95)

    async def relations(asked: Sequence[str]) -> Mapping[str, list[Match]]:
        return {name: [relation] for name in asked}

    assert (await alike(graph, ["member"], relations, 5))["member"] == []


async def test_what_is_less_alike_is_not_linked(graph: SparqlGraph) -> None:
    """Below the threshold there is no such name, and the question fails as it did."""
    assert await alike(graph, ["NYC"], shown(0.84, "nyc"), 5) == {}
    with pytest.raises(TopicError):
        await linking.from_question(graph, "Where is NYC?", Plan((), mentions=("NYC",)), similar=shown(0.84, "nyc"))


async def test_exact_names_are_not_looked_for_by_meaning(graph: SparqlGraph) -> None:
    """The index is asked for what is left."""
    asked: list[str] = []

    async def similar(names: Sequence[str]) -> Mapping[str, list[Match]]:
        asked.extend(names)
        return {}

    plan = Plan((), mentions=("Michael Jackson", "Nobody At All"))
    [topic] = await linking.from_question(graph, "Did Michael Jackson know Nobody At All?", plan, similar=similar)
    assert (topic.label, asked) == ("Michael Jackson", ["Nobody At All"])


class Synonyms(HashingEmbedder):
    """An embedder to which `doggy` is `Rex`."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of the words, one of them replaced."""
        return super().embed([text.replace("Doggy", "Rex") for text in texts])


async def test_a_session_links_by_the_labels_that_were_searched(tmp_path: Path) -> None:
    """After a search by meaning a question may call the entity otherwise; the answer says that it is loosely linked."""
    file = tmp_path / "pets.nt"
    file.write_text(PETS, encoding="utf-8")

    def opened() -> Session:
        similarity = LazySimilarity(Synonyms(), MemoryStore())
        return Session(file, similarity=similarity, cache_dir=str(tmp_path / "own"), model="local")

    async with opened() as session:
        await ask_about_pets(session)
        with pytest.raises(TopicError):
            await session.ask("Who has Doggy?")
        assert [match.label for match in await session.similar("Doggy", 1)] == ["Rex"]
    async with opened() as session:
        answer = await session.ask("Who has Doggy?")
    assert [caveat.about for caveat in answer.caveats if caveat.kind is CaveatKind.LOOSELY_LINKED] == [
        "'Doggy' is taken for 'Rex'"
    ]
