"""A federation as it is wired: from several `-e` to one answer, and nothing of it for a single endpoint."""

from pathlib import Path
from typing import Any

import pytest

from fedkg.core.answer import Status
from fedkg.core.terms import Iri
from fedkg.errors import ProfileError
from fedkg.graph.federated import FederatedGraph
from fedkg.session import Session

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
            match, neighbourhoods, names = await session.neighbours(entity)
            relations = {names[edge.relation] for near in neighbourhoods for edge in near.edges}
            assert {"author", "room"} <= relations
            assert "Hobbit" in match.label
            assert "owl#sameAs" not in str(relations)


BORDERS = """
@prefix : <http://x/> . @prefix y: <http://y/> . @prefix r: <http://r/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . r:borders rdfs:label "borders"@en .
"""
ONE = ':a owl:sameAs y:a ; r:borders :b, :c . :b rdfs:label "Beland" ; owl:sameAs y:b . :c rdfs:label "Celand" .'
TWO = 'y:a r:borders y:b, y:d . y:b rdfs:label "Beland" . y:d rdfs:label "Deland" .'


@pytest.mark.parametrize(("question", "depth"), [("Which lands borders it?", 1), ("How many lands borders it?", 2)])
async def test_an_entity_of_two_names_is_one_answer(question: str, depth: int, tmp_path: Path) -> None:
    """Both endpoints say it, each under its own name.

    It is listed and counted once, whatever the order of the endpoints.
    """
    files = [tmp_path / "one.ttl", tmp_path / "two.ttl"]
    for file, text in zip(files, (ONE, TWO), strict=True):
        file.write_text(BORDERS + text, encoding="utf-8")
    answers = []
    for order in (files, files[::-1]):
        async with Session(*order, **(OPTIONS | {"search.depth": depth, "refuse_below": 0})) as session:
            answer = await session.ask(question, "http://x/a")
            assert answer.unproven(session.identity.allows) == ()
            assert all(check.holds for check in await session.verify(answer))
            answers.append({value.iri or value.value for value in answer.answers})
            assert len(answer.paths) == 4
    expected = {"3"} if answer.kind == "count" else {"http://x/b", "http://x/c", "http://y/d"}
    assert answers == [expected, expected]


async def test_one_endpoint_is_no_federation() -> None:
    """Nobody is probed, and what its profile skips stays skipped."""
    async with Session("sample-library", **OPTIONS) as session:
        assert not isinstance(await session.graph(), FederatedGraph)
        _, neighbourhoods, _ = await session.neighbours(f"{LIBRARY}w2")
        assert "probe" not in session.meter.usage().by_kind
        assert not [edge for near in neighbourhoods for edge in near.edges if edge.relation.value.endswith("sameAs")]


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
