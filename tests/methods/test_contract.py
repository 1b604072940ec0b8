"""What every method keeps, whatever model and graph it meets: each entry of the table is asked all of this."""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import stamina

from fedkg.cli.answer import exit_code
from fedkg.core.answer import Answer, Status, decode_answer
from fedkg.core.answer import Path as Walked
from fedkg.core.events import (
    Answered,
    Chosen,
    Event,
    Fetched,
    Judged,
    Linked,
    Planned,
    Proposed,
    Ranked,
    Reached,
    Scored,
    Verified,
    Warned,
)
from fedkg.core.question import Kind
from fedkg.core.terms import Iri
from fedkg.errors import MethodError
from fedkg.llm.base import Capability, Completion, Request, Token
from fedkg.methods.registry import METHODS
from fedkg.retrieval import registry as retrievers
from fedkg.session import Session
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport
from tests.support.habits import (
    HABITS,
    MOST_CALLS,
    OPTIONS,
    Chat,
    Says,
    Silent,
    declines,
    everything,
    first,
    knows,
)

FILMS = """
@prefix : <http://x/> .
@prefix r: <http://x/r/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts, :black ; r:year 2005 ; r:sequel :son .
:son rdfs:label "Son of Kong"@en ; r:prequel :kong ; r:starring :black .
:rings rdfs:label "The Two Towers"@en ; r:directed_by :jackson .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh ; r:knows :jackson, :watts .
:walsh rdfs:label "Fran Walsh"@en ; r:spouse :jackson .
:watts rdfs:label "Naomi Watts"@en ; r:knows :black . :black rdfs:label "Jack Black"@en ; r:knows :kong .
:lone rdfs:label "Lone Wolf"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:year rdfs:label "year"@en .
r:spouse rdfs:label "spouse"@en . r:knows rdfs:label "knows"@en . r:sequel rdfs:label "sequel"@en .
"""
QUESTION = "Who is King Kong directed by?"
DIRECTOR = "http://x/jackson"
SENSIBLE = {name: HABITS[name] for name in ("knows", "first", "everything", "draws")}
ERRATIC = {
    name: HABITS[name] for name in ("everything", "yes", "no", "draws", "unknown numbers", "nonsense", "declines")
}
"""Habits that differ in what a switch makes of them: replies that cannot be read are all the same to it."""
UNSURE = {"rog"}
"""Methods that never see everything: what was not planned was not looked at."""
OVER_GRAPH = [name for name, method in METHODS.items() if method.graph]
every_method = pytest.mark.parametrize("method", METHODS)
every_graph_method = pytest.mark.parametrize("method", OVER_GRAPH)


@pytest.fixture(autouse=True)
def _no_backoff() -> Iterator[None]:
    """Retries happen without the waiting in between."""
    with stamina.set_testing(True, attempts=2, cap=True):
        yield


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Films whose people and sequels lead back to where one came from, and an entity of which nothing is said."""
    path = tmp_path / "films.ttl"
    path.write_text(FILMS, encoding="utf-8")
    return path


def session_of(films: Path, chat: Chat | None, method: str, **options: Any) -> Session:
    """A session that keeps nothing unless asked to, needs no weights, and need not find out what shape the file has."""
    given: dict[str, Any] = {"embedder": "bm25", "cache": False, "search.depth": 2} | options
    return Session(f"generic@{films}", chat=chat, method=method, **given)


async def asked(
    session: Session, topics: str | Sequence[str] = "", kind: Kind = "entities"
) -> tuple[Answer, list[Event]]:
    """The answer and the events of the question; all that holds of every document is checked."""
    options = OPTIONS if kind == "choice" else ()
    async with session:
        events = [event async for event in session.events(QUESTION, topics, kind, options)]
        answer = _last(events)
        assert all(check.holds for check in await session.verify(answer)), "an edge that no endpoint said"
    _check_order(events)
    _check_reached(events)
    _check_document(answer, session.settings.search.depth)
    return answer, events


def _last(events: Sequence[Event]) -> Answer:
    assert isinstance(events[-1], Answered)
    return events[-1].answer


def _check_document(answer: Answer, depth: int) -> None:
    """Every answer is proven by its paths or marked as not grounded; no path is longer than it may be."""
    assert not any(value.grounded for value in answer.unproven())
    assert all(value.paths or not (value.grounded or value.iri or value.term) for value in answer.answers)
    assert all(0 < len(path.edges) <= depth for path in answer.paths)
    assert bool(answer.answers) == (answer.status is Status.ANSWERED)
    assert decode_answer(answer.to_json()) == answer


def _check_order(events: Sequence[Event]) -> None:
    """Plan, link, walk, answer; what is ranked was fetched, and a walk starts at the first depth and skips none."""
    walk = [event for event in events if not isinstance(event, Warned | Reached)]
    kinds = [type(event) for event in walk]
    assert [kinds.count(kind) for kind in (Planned, Linked, Answered)] == [1, 1, 1]
    assert (kinds[:2], kinds[-1]) == ([Planned, Linked], Answered)
    depth = 0
    for number, (before, event) in enumerate(itertools.pairwise(walk), 1):
        if isinstance(event, Fetched):
            assert 1 <= event.depth <= depth + 1  # what was passed over is opened later
            depth = max(depth, event.depth)
        elif isinstance(event, Ranked):
            assert isinstance(before, Fetched | Scored)
        if isinstance(event, Fetched | Ranked | Chosen | Verified):
            assert 1 <= event.depth <= max(depth, 1)
        _check_thought(walk[:number], event)


def _check_reached(events: Sequence[Event]) -> None:
    """Where steps lead to is told right after the event of their stage, of as many steps as that shows."""
    for before, event in itertools.pairwise(event for event in events if not isinstance(event, Warned)):
        if isinstance(event, Reached) and event.stage == "offered":
            assert isinstance(before, Ranked)
            assert len(event.ends) == len(before.offered)
        elif isinstance(event, Reached) and event.stage == "chosen":
            assert isinstance(before, Chosen)
            assert len(event.ends) == len(before.steps)


def _check_thought(before: Sequence[Event], event: Event) -> None:
    """Relations are scored once they are ranked, or to rank them, entities on scored or proposed relations.

    What is judged was reached before.
    """
    if isinstance(event, Proposed):
        assert not any(isinstance(earlier, Proposed) for earlier in before)
    elif isinstance(event, Judged):
        assert isinstance(before[-1], Scored | Chosen | Verified)
    elif isinstance(event, Scored):
        ranked = [earlier for earlier in before if isinstance(earlier, Ranked) and earlier.depth == event.depth]
        scored = [earlier for earlier in before if isinstance(earlier, Scored) and earlier.depth == event.depth]
        proposed = any(isinstance(earlier, Proposed) for earlier in before)
        ranks = isinstance(before[-1], Fetched)  # the model is the retriever
        assert (ranked or ranks) if event.what == "relations" else scored or proposed
        assert list(event.scores) == sorted(event.scores, reverse=True)
        assert all(0 <= score <= 1 for score in event.scores)
        assert len(event.steps) == len(event.scores) > 0


@every_method
async def test_a_model_that_knows_leads_each_method_to_the_answer(films: Path, method: str) -> None:
    """Over the graph to its node, with a proof; without a graph to the name, marked."""
    answer, _ = await asked(session_of(films, Chat(knows), method))
    graph = METHODS[method].graph
    assert [(value.value, value.iri, value.grounded) for value in answer.answers] == [
        ("Peter Jackson", DIRECTOR if graph else None, graph)
    ]
    assert (answer.method, answer.usage.spent, answer.gaps) == (method, "", ())


@pytest.mark.parametrize(
    ("method", "kinds"),
    [
        ("fidelis", [Fetched, Ranked, Chosen, Verified]),
        ("gcr", [Fetched, Ranked, Fetched, Ranked, Chosen, Verified]),
        ("eperm", [Fetched, Ranked, Scored, Fetched, Ranked, Scored, Proposed, Scored]),
        ("tog", [Fetched, Ranked, Scored, Scored, Judged]),
        ("rog", [Proposed]),
        ("kaping", [Fetched, Ranked]),
        ("io", []),
    ],
)
async def test_who_watches_sees_each_step(films: Path, method: str, kinds: list[type[Event]]) -> None:
    """Each call of the model but plan and answer has its event, in the order of the paper's stages."""
    _, events = await asked(session_of(films, Chat(knows), method))
    assert [
        type(event) for event in events if not isinstance(event, Planned | Linked | Answered | Warned | Reached)
    ] == kinds


@pytest.mark.parametrize("says", HABITS.values(), ids=HABITS)
@every_method
async def test_no_model_breaks_a_method(films: Path, method: str, says: Says) -> None:
    """Nonsense, refusals, numbers that nobody offered, always yes, always no: the walk ends in a sound document."""
    answer, events = await asked(session_of(films, Chat(says), method))
    assert answer.usage.spent == ""
    if not METHODS[method].graph:
        assert [type(event) for event in events if isinstance(event, Fetched | Ranked)] == []


@pytest.mark.each_value
@pytest.mark.parametrize("says", SENSIBLE.values(), ids=SENSIBLE)
@every_graph_method
async def test_two_topics_are_asked_of_at_once(films: Path, method: str, says: Says) -> None:
    """In one sound document; whoever knows finds what both films have in common."""
    answer, _ = await asked(session_of(films, Chat(says), method), ["King Kong", "The Two Towers"])
    assert answer.gaps == ()
    if says is knows:
        assert [value.iri for value in answer.answers] == [DIRECTOR]
        assert {path.edges[0].edge.start for path in answer.paths} == {Iri("http://x/kong"), Iri("http://x/rings")}


@every_method
async def test_a_model_that_always_says_no_gets_no_answer(films: Path, method: str) -> None:
    """Nor does any path that it did not choose become one."""
    answer, _ = await asked(session_of(films, Chat(HABITS["no"]), method))
    assert answer.answers == ()


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("says", [knows, everything], ids=["knows", "everything"])
@every_method
async def test_every_kind_of_question_has_its_answer(films: Path, method: str, says: Says, kind: Kind) -> None:
    """A judgement is never grounded, and rests on a path where there is a graph."""
    answer, _ = await asked(session_of(films, Chat(says), method), kind=kind)
    judged = kind in {"yesno", "claim", "choice"}
    assert not (judged and any(value.grounded for value in answer.answers))
    assert not (METHODS[method].graph and judged and any(not value.paths for value in answer.answers))


@pytest.mark.pairwise
@pytest.mark.parametrize("says", [first, everything, knows], ids=["first", "everything", "knows"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("beam", [1, 3])
@every_method
async def test_no_method_calls_more_than_its_page_says(
    films: Path, method: str, depth: int, beam: int, says: Says
) -> None:
    """Never more; and as many, where one step is walked and nothing is ever enough.

    FiDeLiS makes no answer call on what was called insufficient.
    """
    most = eval(MOST_CALLS[method], {"min": min}, {"N": beam, "D": depth})
    options = {"search.depth": depth, "search.beam": beam, "search.show_all": 0}
    answer, _ = await asked(session_of(films, Chat(says), method, **options))
    assert answer.usage.model_calls <= most
    if says is first and depth == beam == 1 and method != "fidelis":
        assert answer.usage.model_calls == most


@pytest.mark.parametrize("says", [knows, everything], ids=["knows", "everything"])
@every_method
async def test_a_budget_of_calls_ends_it(films: Path, method: str, says: Says, *, every_case: bool) -> None:
    """Exactly where it would call once more; the exit code tells, and "none" is not said of what was not seen."""
    whole, _ = await asked(session_of(films, Chat(says), method))
    made = whole.usage.model_calls
    for calls in _budgets(made, every_case=every_case):
        answer, _ = await asked(session_of(films, Chat(says), method, **{"budget.calls": calls}))
        short = made > calls
        assert answer.usage.model_calls == calls
        assert (answer.usage.spent, exit_code(answer) == 4) == ("calls" if short else "", short)
        assert not (short and answer.status in {Status.NONE, Status.FAILED})


def _budgets(made: int, *, every_case: bool) -> Sequence[int]:
    """All numbers of calls up to those that were made; without `--all` the first, the last two and one between."""
    return range(1, made + 1) if every_case else sorted({1, made // 2, made - 1, made} - {0})


@every_method
async def test_a_deadline_ends_it(films: Path, method: str) -> None:
    """A model that never replies costs the time that the question has, and what was found is returned."""
    answer, _ = await asked(session_of(films, Silent(knows), method, **{"budget.seconds": 0.3}))
    assert (answer.usage.spent, exit_code(answer), answer.answers) == ("seconds", 4, ())


@pytest.mark.pairwise
@pytest.mark.parametrize("node", ["kong", "jackson", "watts"])
@pytest.mark.parametrize("says", [first, everything], ids=["first", "everything"])
@every_method
async def test_what_an_endpoint_fails_to_say_is_a_gap(
    films: Path, monkeypatch: pytest.MonkeyPatch, method: str, says: Says, node: str
) -> None:
    """Whoever asked for it says so, and does not claim that the graph has none."""
    real, failed = EmbeddedTransport._run, []

    def fails(self: EmbeddedTransport, query: str) -> EndpointReply:
        if f"<http://x/{node}>" not in query:
            return real(self, query)
        failed.append(query)
        return EndpointReply(500, {"content-type": "text/plain"}, b"broken")

    monkeypatch.setattr(EmbeddedTransport, "_run", fails)
    session = session_of(films, Chat(says), method)
    async with session:
        answer = await session.ask(QUESTION, "<http://x/kong>")
    assert bool(answer.gaps) == bool(failed)
    assert {gap.endpoint for gap in answer.gaps} <= {"generic@films.ttl"}
    assert not (failed and answer.status is Status.NONE)
    if node == "kong":
        assert bool(failed) == METHODS[method].graph


@pytest.mark.each_value
@pytest.mark.parametrize("says", SENSIBLE.values(), ids=SENSIBLE)
@every_method
async def test_the_same_replies_make_the_same_document(films: Path, method: str, says: Says) -> None:
    """Asked twice from nothing, apart from the time, and from which requests happened to be under way at once."""
    first, two = [(await asked(session_of(films, Chat(says), method)))[0] for _ in range(2)]
    assert _timeless(first) == _timeless(two)


@every_method
async def test_what_is_kept_makes_the_same_document(films: Path, method: str) -> None:
    """Offline, from what the first run kept: neither endpoint nor model is asked, and the edges keep their times."""
    options = {"cache": True, "replies": True}
    before, _ = await asked(session_of(films, Chat(everything), method, **options))
    idle = Chat(declines)
    after, _ = await asked(session_of(films, idle, method, **options, mode="offline"))
    assert (idle.asked, after.usage.requests) == ([], 0)
    assert (after.status, after.answers, after.paths) == (before.status, before.answers, before.paths)
    assert (after.measures, after.warnings) == (before.measures, before.warnings)


def _timeless(answer: Answer) -> Answer:
    """The document without times."""
    replace = msgspec.structs.replace
    usage, paths = replace(answer.usage, seconds=0.0, round_trips=0), tuple(map(_undated, answer.paths))
    ledger = tuple(replace(call, seconds=0.0) for call in answer.ledger)
    return replace(answer, usage=usage, ledger=ledger, paths=paths)


def _undated(path: Walked) -> Walked:
    return Walked(path.score, tuple(msgspec.structs.replace(edge, retrieved_at="") for edge in path.edges))


@pytest.mark.each_value
@pytest.mark.parametrize("says", SENSIBLE.values(), ids=SENSIBLE)
@every_method
async def test_a_topic_without_edges_has_no_answer_in_the_graph(films: Path, method: str, says: Says) -> None:
    """All that there is was seen, so that "none" is what the graph says; a memory does not need it."""
    answer, _ = await asked(session_of(films, Chat(says), method), topics="Lone Wolf")
    status = Status.NOT_FOUND if method in UNSURE else Status.NONE
    assert answer.status is (status if METHODS[method].graph else Status.ANSWERED)


@pytest.mark.pairwise
@pytest.mark.parametrize("says", [everything, first], ids=["everything", "first"])
@pytest.mark.parametrize("form", ["groups", "pairs"])
@pytest.mark.parametrize("beam", [1, 12, pytest.param(50, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("depth", [1, 50])
@every_graph_method
async def test_the_smallest_and_the_largest_search(
    films: Path, method: str, depth: int, beam: int, *, form: str, says: Says
) -> None:
    """A neighbourhood with circles, more breadth than there are paths, more depth than there is to walk: it ends."""
    options = {"search.depth": depth, "search.beam": beam, "search.candidates": 50, "search.form": form}
    answer, _ = await asked(session_of(films, Chat(says), method, **options))
    assert answer.usage.spent == ""


@every_method
async def test_a_model_without_prompts_is_told_apart(films: Path, method: str) -> None:
    """It serves a method, or is refused before anything is asked, with what would do."""
    session = session_of(films, None, method)
    if not METHODS[method].prompts:
        answer, _ = await asked(session)
        assert answer.usage.model_calls == 0
        return
    async with session:
        with pytest.raises(MethodError, match=f"the method {method} ") as caught:
            await session.ask(QUESTION)
    assert "--model" in caught.value.hint
    assert session.usage().requests == 0


class Sure(Chat):
    """A model that says how sure it is: with what it says it is, and nearly as much with the other."""

    capability = Capability(context=200_000, logprobs=True)

    async def complete(self, request: Request) -> Completion:
        """The reply, spelled out where that is wanted."""
        reply = await super().complete(request)
        if not request.alternatives:
            return reply
        words = re.findall(r"\w+|\W", reply.text)
        tokens = [Token(word, {"true": -0.8, "false": -0.8, word: -0.6}) for word in words]
        return msgspec.structs.replace(reply, spelled=tuple(tokens))


SWITCHES: dict[str, dict[str, Any]] = {
    "adequacy": {"search.verifier": "adequacy"},
    "log-probability": {"search.verifier": "log-probability"},
    "no verifier": {"search.verifier": "none"},
    "no planning": {"search.planning": False},
    "no last step": {"search.last_step": False},
    "greedy": {"search.beam": 1},
    "tog": {"search.retriever": "tog"},
    "path": {"search.scoring": "path", "search.candidates": 1},
    "diverse": {"search.scoring": "diverse", "search.candidates": 1},
    "no lookahead": {"search.alpha": 0.0},
    "no keywords": {"search.keywords": False},
}
every_switch = pytest.mark.parametrize("options", SWITCHES.values(), ids=SWITCHES)


@pytest.mark.each_value
@pytest.mark.parametrize("plan", ["fused", "paper"])
@every_switch
async def test_a_model_that_knows_finds_the_answer_with_every_switch(
    films: Path, plan: str, options: dict[str, Any]
) -> None:
    """What is switched off helps a weaker model; the calls are no more than the method says of itself."""
    options = {"search.call_plan": plan, **options}
    session = session_of(films, Sure(knows), "fidelis", **options)
    answer, _ = await asked(session)
    search = session.settings.search
    values = {value.iri for value in answer.answers}
    # whoever never says that a path is enough goes on, and without an answer call what it comes to is the answer
    assert DIRECTOR in values
    most = METHODS["fidelis"].most_calls(search, 1, retrievers.find(search.retriever))
    assert answer.usage.model_calls <= 1 + sum(most.values())


@pytest.mark.each_value
@pytest.mark.parametrize("says", ERRATIC.values(), ids=ERRATIC)
@every_switch
async def test_no_model_breaks_a_switch(films: Path, options: dict[str, Any], says: Says) -> None:
    """Nonsense, refusals, always yes, always no: the walk ends in a sound document."""
    for kind in ("entities", "yesno"):
        answer, _ = await asked(session_of(films, Sure(says), "fidelis", **options), kind=kind)
        assert answer.usage.spent == ""


@every_switch
async def test_a_budget_ends_every_switch(films: Path, options: dict[str, Any], *, every_case: bool) -> None:
    """Where it would call once more."""
    whole, _ = await asked(session_of(films, Sure(everything), "fidelis", **options))
    made = whole.usage.model_calls
    for calls in _budgets(made, every_case=every_case):
        answer, _ = await asked(session_of(films, Sure(everything), "fidelis", **options, **{"budget.calls": calls}))
        assert answer.usage.model_calls == calls
        assert (answer.usage.spent == "calls") == (made > calls)


VARIED: dict[str, tuple[str, dict[str, Any]]] = {
    "gcr, no model that picks": ("gcr", {"search.decoding": "none"}),
    "gcr, no constraint": ("gcr", {"search.decoding": "free", "search.path_examples": 2}),
    "gcr, no answer call": ("gcr", {"search.last_step": False}),
    "gcr, one path": ("gcr", {"search.top_paths": 1, "search.hops": 1}),
    "gcr, decoded hypotheses": ("gcr", {"search.hypotheses": "decoded"}),
    "eperm, no weights": ("eperm", {"search.weights": False}),
    "eperm, no answer call": ("eperm", {"search.last_step": False}),
    "eperm, the narrowest": ("eperm", {f"search.top_{name}": 1 for name in ("relations", "plans", "entities")}),
}
every_variant = pytest.mark.parametrize(("method", "options"), VARIED.values(), ids=VARIED)


@every_variant
async def test_no_model_breaks_what_the_papers_of_gcr_and_eperm_vary(
    films: Path, method: str, options: dict[str, Any]
) -> None:
    """Nonsense and refusals, entities and verdicts: a sound document, within the calls that it says."""
    for says in (HABITS["everything"], HABITS["nonsense"], HABITS["declines"]):
        for kind in ("entities", "yesno"):
            session = session_of(films, Chat(says), method, **options)
            answer, _ = await asked(session, kind=kind)
            search = session.settings.search
            if kind == "yesno":
                search = msgspec.structs.replace(search, last_step=True)  # a judgement is made all the same
            most = METHODS[method].most_calls(search, 1, retrievers.find(search.retriever))
            assert answer.usage.model_calls <= 2 * (2 + sum(most.values()))
