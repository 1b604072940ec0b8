"""One whole question over each kind of endpoint, and what else a session does."""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

import fedkg
from fedkg.config.resources import folder
from fedkg.config.settings import Settings
from fedkg.core.answer import Status
from fedkg.core.events import Answered
from fedkg.errors import EndpointError, InputError, SettingsError
from fedkg.session import Session
from fedkg.testing import ScriptedModel
from fedkg.transport import embedded
from tests.support.extras import needs
from tests.support.pets import PETS, ask_about_pets, session_of


async def test_a_file_is_a_graph(pets: Path) -> None:
    """An RDF file, also packed, is served in process."""
    packed = pets.with_suffix(".nt.gz")
    packed.write_bytes(gzip.compress(pets.read_bytes()))
    for file in (pets, packed):
        async with session_of(file) as session:
            assert await ask_about_pets(session) == ["Rex"]


async def test_a_url_is_a_graph(pets: Path) -> None:
    """A SPARQL endpoint is asked by POST; the second run of a question makes no request."""
    transport = embedded.load(pets)
    queries: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        queries.append(str((await request.post())["query"]))
        reply = await transport.send(queries[-1])
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))

    app = web.Application()
    app.router.add_post("/sparql", answer)
    async with TestServer(app) as server:
        url = str(server.make_url("/sparql"))
        async with session_of(url) as session:
            assert await ask_about_pets(session) == ["Rex"]
        cold = len(queries)
        async with session_of(url) as session:
            warm = await session.ask("Which pet has Ann?", ["<http://x/ann>"])
    assert cold > 0
    assert (len(queries), warm.usage.requests, warm.status) == (cold, 0, Status.ANSWERED)
    assert warm.usage.cache_hits > 0


async def test_a_profile_s_shape_goes_with_another_place(pets: Path) -> None:
    """PROFILE@FILE takes the profile's shape and the file's facts."""
    async with session_of(f"freebase@{pets}") as session:
        graph = await session.graph()
        assert graph.name == "freebase@pets.nt"
        assert await ask_about_pets(session) == ["Rex"]


async def test_the_shape_of_a_file_is_found_by_its_marker() -> None:
    """Wikidata's shape is recognised: statements become qualifiers, property entities name relations."""
    async with session_of(folder("sample") / "graph.ttl") as session:
        _, near, names = await session.neighbours("Marie Curie", ["out"])
    relations = {names[edge.relation] for edge in near[0].edges}
    assert "place of birth" in relations
    assert "Freebase ID" not in relations


async def test_the_paths_between_two_entities_are_proofs() -> None:
    """By label or IRI, the shortest ones and all of them; entities too far apart have none, and one has no path."""
    async with session_of("sample") as session:
        found = await session.paths("Marie Curie", "http://www.wikidata.org/entity/Q90")
        none = await session.paths("Marie Curie", "Jack Nicholson", hops=1)
        with pytest.raises(InputError, match="one entity"):
            await session.paths("Marie Curie", "http://www.wikidata.org/entity/Q7186")
    assert (found.start.label, found.end.label, found.cut) == ("Marie Curie", "Paris", ())
    assert all(path.end == found.end.iri for path in found.paths)
    assert len({len(path.edges) for path in found.paths}) == 1
    assert (found.answer.status, found.answer.unproven()) == (Status.ANSWERED, ())
    assert (none.paths, none.answer.status) == ((), Status.NONE)


@needs("embeddings", "onnxruntime")
async def test_several_endpoints_are_one_graph(pets: Path, tmp_path: Path) -> None:
    """Facts of two files meet in one walk; each edge keeps its endpoint."""
    other = tmp_path / "places.nt"
    other.write_text(
        "<http://x/rex> <http://x/born_in> <http://x/oslo> .\n"
        '<http://x/oslo> <http://www.w3.org/2000/01/rdf-schema#label> "Oslo"@en .\n'
        '<http://x/born_in> <http://www.w3.org/2000/01/rdf-schema#label> "born in"@en .\n',
        encoding="utf-8",
    )
    async with session_of(pets, other, embedder="minilm") as session:
        answer = await session.ask("Where was the pet of Ann born?", ["Ann"])
        holds = [checked.holds for checked in await session.verify(answer)]
    assert [value.value for value in answer.answers] == ["Oslo"]
    assert [edge.endpoint for edge in answer.paths[0].edges] == ["pets.nt", "places.nt"]
    assert holds == [True, True]


def test_the_synchronous_twin(pets: Path) -> None:
    """The same coroutines, run by the session."""
    with session_of(pets) as session:
        assert session.run(ask_about_pets(session)) == ["Rex"]
        assert session.run(session.search("Rex"))[0].iri.value == "http://x/rex"


async def test_inside_a_loop_the_twin_says_what_to_do(pets: Path) -> None:
    """In a notebook a loop runs already."""
    async with session_of(pets) as session:
        with pytest.raises(InputError, match="event loop"):
            session.run(ask_about_pets(session))


async def test_a_user_s_own_sparqlwrapper_is_an_endpoint(pets: Path) -> None:
    """Its headers and authentication are kept; the query is ours."""
    wrapper_module = pytest.importorskip("SPARQLWrapper")
    transport = embedded.load(pets)
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        reply = await transport.send(str((await request.post())["query"]))
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))

    app = web.Application()
    app.router.add_post("/sparql", answer)
    async with TestServer(app) as server:
        wrapper = wrapper_module.SPARQLWrapper(str(server.make_url("/sparql")))
        wrapper.setCredentials("ann", "secret")
        async with session_of(wrapper) as session:
            assert await ask_about_pets(session) == ["Rex"]
    assert set(seen) == {"Basic YW5uOnNlY3JldA=="}


async def test_verify_finds_the_edge_that_is_gone(pets: Path) -> None:
    """The proof is asked again; what the endpoint no longer says is named."""
    async with session_of(pets) as session:
        answer = await session.ask("Which pet has Ann?", ["Ann"])
    pets.write_text(PETS.replace("has_pet> <http://x/rex>", "has_pet> <http://x/tom>"), encoding="utf-8")
    async with session_of(pets) as session:
        checked = await session.verify(answer)
    assert [(check.path, check.holds) for check in checked] == [(0, False)]


async def test_a_changed_file_is_read_anew(pets: Path) -> None:
    """The cache knows a file by its state, so an edit is never answered from the old one."""
    async with session_of(pets) as session:
        assert await ask_about_pets(session) == ["Rex"]
    pets.write_text(PETS.replace("/rex", "/tom").replace("Rex", "Tom the cat"), encoding="utf-8")
    async with session_of(pets) as session:
        assert await ask_about_pets(session) == ["Tom the cat"]


async def test_suggestions_for_a_misspelled_name() -> None:
    """Search falls back on similar labels."""
    async with session_of("sample") as session:
        assert "Marie Curie" in [match.label for match in await session.search("Mary Curie")]


async def test_events_end_with_the_answer() -> None:
    """Every door consumes the same stream."""
    async with session_of("sample") as session:
        events = [event async for event in session.events("What is the capital of New Zealand?")]
    assert isinstance(events[-1], Answered)
    document = json.loads(events[-1].answer.to_json())
    assert {
        "version",
        "question",
        "kind",
        "status",
        "answers",
        "paths",
        "gaps",
        "usage",
        "warnings",
        "settings",
        "ledger",
        "options",
        "method",
        "measures",
        "confidence",
        "closest",
        "operation",
        "query",
        "caveats",
    } == set(document)


async def test_given_settings_are_taken_as_they_are(tmp_path: Path) -> None:
    """A Settings value is not mixed with files or environment."""
    settings = Settings(endpoints=("sample",), embedder="bm25", cache_dir=str(tmp_path))
    async with Session(settings=settings) as session:
        assert (await session.graph()).name == "sample"
        assert session.settings == settings


async def test_a_warm_question_costs_no_request_even_where_its_topic_was_searched(pets: Path) -> None:
    """Searches are kept like neighbourhoods and labels, those that found nothing included."""
    usages = []
    for _ in range(2):
        async with session_of(pets) as session:
            usages.append((await session.ask("Which pet does Ann have?")).usage)
    assert usages[0].by_kind["search"] > 0
    assert usages[1].requests == 0


async def test_a_url_with_a_password_goes_with_a_profile() -> None:
    """An @ in the URL does not part it; the password is shown nowhere."""
    for spec in ("freebase@http://user:secret@127.0.0.1:9/sparql", "http://user:secret@127.0.0.1:9/sparql"):
        async with session_of(spec) as session:
            assert "secret" not in (await session.graph()).name
            with pytest.raises(EndpointError) as caught:
                await session.search("Ann")
            assert "secret" not in f"{caught.value} {caught.value.asked} {caught.value.hint}"


def test_settings_and_options_exclude_each_other() -> None:
    """An option beside ready settings would be lost; endpoints are fine."""
    with pytest.raises(SettingsError, match=r"besides: model$"):
        Session("sample", settings=Settings(embedder="bm25"), model="local")
    assert Session("sample", settings=Settings(embedder="bm25")).settings.endpoints == ("sample",)


@pytest.mark.parametrize("endpoint", [None, 7, b"sample", {}, [7]])
def test_what_can_be_no_endpoint_is_said_at_once(endpoint: Any) -> None:
    """With what is expected, and the type that came instead."""
    kind = "int" if endpoint == [7] else type(endpoint).__name__
    expected = rf"expected a profile name, URL, file or SPARQLWrapper object, got {kind}"
    with pytest.raises(InputError, match=expected):
        Session(endpoint)
    with pytest.raises(InputError, match="got NoneType"):
        fedkg.ask("Who?", None)  # type: ignore[arg-type]  # what a type checker would have said


async def test_the_document_names_the_model_that_the_caller_brought(pets: Path) -> None:
    """And not the one that the settings would have taken."""
    async with Session(pets, chat=ScriptedModel(["?"] * 20), embedder="bm25", cache=False) as session:
        answer = await session.ask("Whom does Ann know?", ["Ann"])
    assert answer.settings["model"] == "scripted"


async def test_a_topic_may_be_given_as_text(pets: Path) -> None:
    """One label is one topic, not one for each of its letters."""
    async with session_of(pets) as session:
        answer = await session.ask("Which pet has Ann?", "Ann")
        events = [event async for event in session.events("Which pet has Ann?", "Ann")]
    assert [value.value for value in answer.answers] == ["Rex"]
    assert isinstance(events[-1], Answered)


async def test_questions_at_once_have_counts_of_their_own(pets: Path) -> None:
    """A question that is answered from the cache costs nothing, whatever another one asks for meanwhile."""
    bob = PETS.replace("x/ann", "x/bob").replace('"Ann"', '"Bob"').replace("x/rex", "x/tom").replace('"Rex"', '"Tom"')
    pets.write_text(PETS + bob, encoding="utf-8")
    async with session_of(pets) as session:
        await session.ask("Which pet has Ann?", ["http://x/ann"])
        before = session.meter.usage().requests
        ann, other = await asyncio.gather(
            session.ask("Which pet has Ann?", ["http://x/ann"]), session.ask("Which pet has Bob?", ["http://x/bob"])
        )
        asked = session.meter.usage().requests - before
    assert [answer.answers[0].value for answer in (ann, other)] == ["Rex", "Tom"]
    assert (ann.usage.requests, ann.usage.round_trips, other.usage.requests) == (0, 0, asked)
    assert asked > 0
    assert ann.usage.cache_hits > 0


async def test_an_endpoint_that_stalls_leaves_a_gap(pets: Path) -> None:
    """One never replies, the other answers; the question ends within its time, and the gap is told."""

    async def stall(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    app = web.Application()
    app.router.add_post("/sparql", stall)
    async with TestServer(app) as server:
        url = str(server.make_url("/sparql"))
        async with session_of(pets, url, **{"budget.seconds": 2.0}) as session:
            answer = await session.ask("Which pet has Ann?", ["http://x/ann"])
    assert [value.value for value in answer.answers] == ["Rex"]
    assert any(gap.endpoint == url and "no whole reply" in gap.reason for gap in answer.gaps)
    assert answer.usage.spent == ""


async def test_a_search_shows_candidates_of_both_kinds(pets: Path, tmp_path: Path) -> None:
    """Exact names come first, then what the profile's own search finds; offline what was found is found again."""
    asked: list[Any] = []

    async def play(request: web.Request) -> web.Response:
        asked.append(dict(await request.post()))
        entities = [
            {"id": name, "concepturi": f"http://x/{name}", "label": name, "match": {"text": name}}
            for name in ("rexy", "rex")
        ]
        return web.json_response({"search": entities, "success": 1})

    app = web.Application()
    app.router.add_post("/w/api.php", play)
    async with TestServer(app) as server:
        lookup = f'[lookup]\nkind = "wikidata"\nurl = "{server.make_url("/w/api.php")}"\n'
        text = f'file = "{pets}"\nauthorities = ["http://x/"]\n{lookup}'
        (tmp_path / "petshop.toml").write_text(text, encoding="utf-8")
        for mode in ("live", "offline"):
            options = {"profiles_dir": str(tmp_path), "cache_dir": str(tmp_path / "kept"), "mode": mode}
            async with session_of("petshop", **options) as session:
                matches = [(match.iri.value, match.score) for match in await session.search("Rex")]
                assert matches == [("http://x/rex", 1.0), ("http://x/rexy", pytest.approx(0.8 * 6 / 7))]
        assert [form["search"] for form in asked] == ["Rex"]
