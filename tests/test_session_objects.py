"""Objects that stand in for what settings name: each is used as it is, named in the answer, and left open."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import fedkg
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.estimate import Estimate
from fedkg.errors import InputError, MethodError
from fedkg.methods import model_only, retrieve_once
from fedkg.methods.base import Method, SearchResult, Task, Walk
from fedkg.methods.registry import METHODS
from fedkg.reasoner.local.model import LocalModel
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.model_scored import ModelScored
from fedkg.retrieval.path_rag import PathRag
from fedkg.retrieval.registry import RETRIEVERS
from fedkg.retrieval.vanilla import Vanilla
from fedkg.session import Session
from fedkg.sparql.reply import EndpointReply
from fedkg.testing import FakeTransport, ScriptedModel
from fedkg.transport import embedded
from tests.support.pets import ask_about_pets, session_of


async def test_a_transport_is_an_endpoint(pets: Path, tmp_path: Path) -> None:
    """It is asked like a file, by its own name, and still can be after the session; nothing of it is kept."""
    transport = embedded.load(pets)
    for _ in range(2):
        async with session_of(transport=transport) as session:
            assert (await session.graph()).name == "pets.nt"
            answer = await session.ask("Which pet has Ann?", ["Ann"])
        assert [value.value for value in answer.answers] == ["Rex"]
        assert answer.usage.requests > 0
    assert len(transport) == 4
    assert not (tmp_path / "cache" / "labels").exists()


async def test_a_transport_with_a_url_is_one_of_several_endpoints(pets: Path) -> None:
    """It has the shape of no profile, and its host is remembered; offline it is not asked."""
    real = embedded.load(pets)

    class Remote(FakeTransport):
        """The file, as if it were somewhere else."""

        async def send(self, query: str) -> EndpointReply:
            """The file's reply."""
            self.queries.append(query)
            return await real.send(query)

    remote = Remote(lambda _: EndpointReply(500, {}, b""), url="http://127.0.0.1:9/sparql")
    async with session_of("sample", transport=remote) as session:
        assert (await session.graph()).name == "sample + http://127.0.0.1:9/sparql"
        assert await ask_about_pets(session) == ["Rex"]
    asked = len(remote.queries)
    async with session_of("sample", transport=remote, mode="offline") as session:
        assert await ask_about_pets(session) == ["Rex"]
    assert len(remote.queries) == asked > 0


async def test_a_graph_is_used_as_it_is(pets: Path) -> None:
    """It needs no endpoint, and serves several sessions; the settings' endpoints are nobody's business."""
    async with session_of(pets) as owner:
        graph = await owner.graph()
        for _ in range(2):
            async with session_of(graph=graph) as session:
                assert await session.graph() is graph
                answer = await session.ask("Which pet has Ann?", ["Ann"])
                assert [value.value for value in answer.answers] == ["Rex"]
                assert (await session.search("Rex"))[0].label == "Rex"
                assert all(checked.holds for checked in await session.verify(answer))
            assert answer.settings["endpoints"] == []


async def test_a_reasoner_decides(pets: Path) -> None:
    """Instead of the model that is named, whose key is then not needed; the answer says who it was."""
    asked: list[str] = []

    class Noting(LocalModel):
        """The model `local`, which notes what it is asked."""

        name = "noting"

        async def ask(self, call: Any) -> Any:
            """The reply of `local`."""
            asked.append(call.name)
            return await super().ask(call)

    reasoner = Noting(Bm25Similarity())
    async with session_of(pets, reasoner=reasoner, model="openai:without-a-key") as session:
        answer = await session.ask("Which pet has Ann?", ["Ann"])
    assert [value.value for value in answer.answers] == ["Rex"]
    assert asked == ["plan", "answer"], "there is a single offer"
    assert answer.settings["model"] == "noting"


async def test_a_retriever_ranks(pets: Path) -> None:
    """Instead of the one that the settings name."""
    seen: list[int] = []

    class Counting(Vanilla):
        """The retriever `vanilla`, which notes how many paths it is given."""

        name = ""

        async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
            """As `vanilla` ranks."""
            seen.append(len(request.partial_paths))
            return await super().rank(request, context)

    named = Counting()
    named.name = "counting-1"
    for retriever, name in ((Counting(), "Counting"), (named, "counting-1"), (RETRIEVERS["kaping"], "kaping")):
        async with session_of(pets, retriever=retriever) as session:
            answer = await session.ask("Which pet has Ann?", ["Ann"])
        assert [value.value for value in answer.answers] == ["Rex"]
        assert answer.settings["search"]["retriever"] == name
    assert seen == [1] * 4
    async with session_of(pets, retriever="vanilla") as session:
        assert session.settings.search.retriever == "vanilla"


async def test_an_estimate_counts_what_objects_cost(pets: Path) -> None:
    """Calls of a method without a name and of a retriever that asks the model, and the hop that another looks ahead."""

    class Scored(ModelScored):
        """As `tog`, but by another name."""

    class NearSighted(PathRag):
        """As `path-rag`, without its look at the next hop."""

        looks_ahead = False

    async def estimate(**objects: Any) -> Estimate:
        async with session_of(pets, chat=ScriptedModel([]), depth=3, beam=2, **objects) as session:
            return await session.estimate("Which pet has Ann?", ["Ann"])

    nowhere = await estimate(
        method=Method("Goes nowhere", "none", nothing, calls=lambda search, _: {"beam": search.depth})
    )
    assert nowhere.most.by_call == {"plan": 1, "beam": 3}
    assert any("of Goes nowhere are rough" in note for note in nowhere.notes)
    assert await estimate(method=METHODS["eperm"]) == await estimate(method="eperm")
    assert await estimate(retriever=Scored()) == await estimate(retriever="tog")
    assert (await estimate(retriever=Scored())).most.by_call["score-relations"] == 3
    assert (await estimate(retriever=NearSighted())).least.requests < (await estimate()).least.requests


def nothing(_: Task) -> Walk:
    """A walk that goes nowhere."""
    yield from ()
    return SearchResult(note="nothing was tried")


async def test_a_method_is_walked(pets: Path) -> None:
    """The answer calls it by its name in the table, or else by its title; its name alone works too."""
    for method, name in (
        (Method("Goes nowhere", "none", nothing), "Goes nowhere"),
        (retrieve_once.VANILLA, "vanilla"),
        ("vanilla", "vanilla"),
    ):
        chat = ScriptedModel(['{"answers": []}'] * 9)
        async with session_of(pets, chat=chat, method=method) as session:
            answer = await session.ask("Which pet has Ann?", ["Ann"])
        assert (answer.method, answer.settings["method"]) == (name, name)


async def test_a_method_that_the_model_cannot_serve_is_said(pets: Path) -> None:
    """As where it is named."""
    with pytest.raises(MethodError, match="needs a language model"):
        await session_of(pets, method=model_only.IO).ask("Which pet has Ann?")


@pytest.mark.parametrize("several", [list, tuple, set])
async def test_endpoints_come_in_a_row_or_in_a_list(pets: Path, several: type) -> None:
    """Both ways, also mixed."""
    async with session_of(several([pets, "sample"])) as session:
        assert sorted((await session.graph()).name.split(" + ")) == ["pets.nt", "sample"]
    async with session_of([pets], "sample") as session:
        assert (await session.graph()).name == "pets.nt + sample"


@pytest.mark.parametrize(
    ("endpoints", "options"),
    [
        (("sample",), {"graph": True}),
        ((), {"graph": True, "transport": True}),
        (("sample",), {"chat": True, "reasoner": True}),
    ],
)
def test_what_excludes_each_other_is_said(endpoints: Sequence[str], options: dict[str, bool], pets: Path) -> None:
    """Before anything is opened."""
    objects: dict[str, Any] = {
        "graph": object(),
        "transport": embedded.load(pets),
        "chat": ScriptedModel([]),
        "reasoner": LocalModel(Bm25Similarity()),
    }
    with pytest.raises(InputError, match="besides"):
        Session(*endpoints, **{name: objects[name] for name in options})


def test_ask_takes_objects_too(pets: Path) -> None:
    """The shortest way in."""
    answer = fedkg.ask("Which pet has Ann?", [], ["Ann"], transport=embedded.load(pets), embedder="bm25")
    assert [value.value for value in answer.answers] == ["Rex"]
