"""A federation as it is wired: from several `-e` to one answer, and nothing of it for a single endpoint."""

from typing import Any

import pytest

from fedkg.errors import ProfileError
from fedkg.federation.graph import FederatedGraph
from fedkg.records import Status
from fedkg.session import Session
from fedkg.terms import Iri

LIBRARY, WD = "http://library.example/", "http://www.wikidata.org/entity/"
OPTIONS: dict[str, Any] = {"model": "local", "embedder": "bm25", "cache": False}


async def test_a_question_that_needs_both() -> None:
    """The sample knows the book by its title, the catalogue its room; every edge holds at the endpoint that said it."""
    async with Session("sample", "sample-library", **(OPTIONS | {"search.depth": 1})) as session:
        answer = await session.ask("In which room is Pride and Prejudice?")
        assert answer.status is Status.ANSWERED
        assert [value.value for value in answer.answers] == ["Lantern Room"]
        (path,) = answer.paths
        assert path.edges[0].edge.start == Iri(f"{WD}Q170583")
        assert [edge.relation.local_name for edge in path.edges] == ["sameAs", "room"]
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
