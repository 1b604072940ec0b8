"""A federation as it is wired: from several `-e` to one answer, and nothing of it for a single endpoint."""

import pytest

from fedkg.errors import ProfileError
from fedkg.federation.graph import FederatedGraph
from fedkg.records import Status
from fedkg.session import Session

LIBRARY, WD = "http://library.example/", "http://www.wikidata.org/entity/"
OPTIONS = {"model": "local", "embedder": "bm25", "cache": False}


async def test_a_question_that_needs_both() -> None:
    """The catalogue knows the room, the sample the author; each edge is said by its own endpoint and holds."""
    async with Session("sample", "sample-library", **OPTIONS, **{"search.depth": 2}) as session:
        answer = await session.ask("In which room are the books whose author is J. R. R. Tolkien?")
        assert answer.status is Status.ANSWERED
        assert {value.value for value in answer.answers} == {"Lantern Room", "Garden Room"}
        for path in answer.paths:
            assert [edge.endpoint for edge in path.edges] == ["sample", "sample-library", "sample-library"]
        assert answer.unproven(session.identity.allows) == ()
        assert all(check.holds for check in await session.verify(answer))


async def test_neighbours_show_copies() -> None:
    """Under either name the entity has the edges of both."""
    async with Session("sample", "sample-library", **OPTIONS) as session:
        for entity in (f"{LIBRARY}w2", f"{WD}Q74287"):
            match, found, names = await session.neighbours(entity)
            relations = {names[edge.relation] for near in found for edge in near.edges}
            assert {"author", "room"} <= relations
            assert "Hobbit" in match.label
            assert "owl#sameAs" not in str(relations)


async def test_one_endpoint_is_no_federation() -> None:
    """Nobody is probed, and what its profile skips stays skipped."""
    async with Session("sample-library", **OPTIONS) as session:
        assert not isinstance(await session.graph(), FederatedGraph)
        _, found, _ = await session.neighbours(f"{LIBRARY}w2")
        assert "probe" not in session.meter.usage().by_kind
        assert not [edge for near in found for edge in near.edges if edge.relation.value.endswith("sameAs")]


async def test_the_same_endpoint_twice_is_one() -> None:
    """It is not asked what it has in common with itself."""
    async with Session("sample", "sample", **OPTIONS) as session:
        assert not isinstance(await session.graph(), FederatedGraph)


async def test_a_table_that_does_not_fit_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user's own table of identities is read before anybody is asked."""
    folder = tmp_path_factory.mktemp("profiles")
    (folder / "identity.toml").write_text("link = []")
    async with Session("sample", "sample-library", **OPTIONS, profiles_dir=str(folder)) as session:
        with pytest.raises(ProfileError, match=r"identity\.toml"):
            await session.graph()
