"""The driver: a real graph in process, a scripted model, every need served, every limit kept."""

import asyncio
import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from fedkg.cli.answer import exit_code
from fedkg.config.dialects import Query
from fedkg.config.settings import Settings
from fedkg.core.answer import Status, decode_answer
from fedkg.core.events import Answered, Chosen, Fetched, Linked, Planned, Ranked, Reached, Verified, Warned
from fedkg.core.question import Kind
from fedkg.core.terms import Iri
from fedkg.core.usage import Usage
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import (
    BudgetError,
    ModelContextError,
    ModelDeclinedError,
    ModelError,
    ModelFilteredError,
    ModelReplyError,
    ModelUnreachableError,
    UnreachableError,
)
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Capability, Completion, Message, Request
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel
from tests.support.played_runs import FILMS, Player, answer_of, events_of, run_of


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_two_hops_end_in_an_answer_with_a_path(films: SparqlGraph, plan: str) -> None:
    """Both call plans walk to the answer; every edge of its path was said by the endpoint."""
    answer = await answer_of(run_of(films, Player("directed by", "spouse"), search={"call_plan": plan}))
    assert (answer.status, [value.value for value in answer.answers]) == (Status.ANSWERED, ["Fran Walsh"])
    edges = [shown.edge for shown in answer.paths[0].edges]
    assert await films.holds(edges) == [True, True]
    assert answer.usage.model_calls == (4 if plan == "fused" else 6)


async def test_events_come_in_order(films: SparqlGraph) -> None:
    """Plan, link, then per depth fetch, rank, choose, verify; the answer is last."""
    events = await events_of(run_of(films, Player("directed by", "spouse")))
    kinds = [type(event) for event in events if not isinstance(event, Reached)]
    assert kinds == [Planned, Linked, *[Fetched, Ranked, Chosen, Verified] * 2, Answered]


async def test_several_answers_are_all_returned(films: SparqlGraph) -> None:
    """A group's tails are the answer set."""
    answer = await answer_of(run_of(films, Player("starring")))
    assert {value.value for value in answer.answers} == {"Naomi Watts", "Jack Black"}
    assert all(value.grounded and value.paths for value in answer.answers)


async def test_pairs_are_completed_to_the_whole_answer_set(films: SparqlGraph) -> None:
    """Although the model picked one (relation, entity) pair, both actors are answers."""
    answer = await answer_of(run_of(films, Player("starring"), search={"form": "pairs"}))
    assert {value.value for value in answer.answers} == {"Naomi Watts", "Jack Black"}


@pytest.mark.parametrize(
    ("kind", "verdict", "expected"), [("count", "", "2"), ("yesno", "yes", "yes"), ("claim", "no", "no")]
)
async def test_kinds_have_their_own_answers(films: SparqlGraph, kind: Kind, verdict: str, expected: str) -> None:
    """Counts are counted, verdicts taken."""
    answer = await answer_of(run_of(films, Player("starring", kind=kind, verdict=verdict)))
    assert [value.value for value in answer.answers] == [expected]


async def test_none_not_found_and_failed_are_three_answers(
    films: SparqlGraph, make_graph: Callable[..., SparqlGraph]
) -> None:
    """The graph says none; not everything was offered; the endpoint failed."""
    nothing = Player("composed by")
    assert (await answer_of(run_of(films, nothing))).status is Status.NONE
    assert (
        await answer_of(run_of(films, Player("composed by"), search={"candidates": 1, "depth": 1}))
    ).status is Status.NOT_FOUND
    broken = make_graph(FILMS, name="broken")
    broken._near._select = Down()
    answer = await answer_of(run_of(broken, Player("directed by")))
    assert answer.status is Status.FAILED
    assert [(gap.endpoint, gap.reason) for gap in answer.gaps] == [("broken", "no connection")]


@pytest.mark.parametrize(("reply", "status"), [('{"paths": []}', Status.NONE), ("?", Status.NOT_FOUND)])
async def test_an_answer_that_was_not_chosen_is_not_none(films: SparqlGraph, reply: str, status: Status) -> None:
    """All was seen and a path kept, but the call that says whether it answers failed.

    Nobody said that the graph has none.
    """
    player = Player("directed by", "none of these")

    def play(messages: Sequence[Message], call: str) -> str:
        return reply if call == "answer" else player(messages, call)

    assert (await answer_of(run_of(films, play, search={"call_plan": "paper"}))).status is status
    assert player.calls.count("beam") == 2


async def test_a_likeness_judges_nothing(films: SparqlGraph) -> None:
    """A model that only compares texts and finds nothing alike has not found out that the graph says none."""
    words = Bm25Similarity()
    run = QuestionRun("Who composed King Kong?", films, LocalModel(words), words, Settings(), Usage, ["King Kong"])
    assert (await answer_of(run)).status is Status.NOT_FOUND


async def test_labels_that_cannot_be_had_are_a_gap(make_graph: Callable[..., SparqlGraph]) -> None:
    """Without names the right relation is not found: that is no "none", and the document says what is missing."""
    graph = make_graph(FILMS, name="nameless")
    graph._names._select = Down()
    answer = await answer_of(run_of(graph, Player("composed by")))
    assert answer.status is Status.FAILED
    assert {(gap.endpoint, gap.reason) for gap in answer.gaps} == {("nameless", "no connection")}


@pytest.mark.parametrize("model", ["played", "local"])
@pytest.mark.parametrize(("director", "status"), [(":jackson, ", Status.ANSWERED), ("", Status.NOT_FOUND)])
async def test_what_has_no_name_is_no_answer(
    make_graph: Callable[..., SparqlGraph], model: str, director: str, status: Status
) -> None:
    """An end that has only an identifier is left out, with a warning; where nothing else is left nothing was found."""
    nobody = "<http://rdf.freebase.com/ns/m.08mbj5d>"
    films = FILMS.replace("r:directed_by :jackson ; r:starring", f"r:directed_by {director}{nobody} ; r:starring")
    graph = make_graph(films, name="films")
    if model == "local":
        words = Bm25Similarity()
        question = "Who directed King Kong, who was it directed by?"
        run = QuestionRun(question, graph, LocalModel(words), words, Settings(), Usage, ["King Kong"])
    else:
        run = run_of(graph, Player("directed by"))
    answer = await answer_of(run)
    labels = [value.label for value in answer.answers]
    assert (answer.status, labels) == (status, ["Peter Jackson"] if director else [])
    assert any("have no name in this graph" in warning for warning in answer.warnings)


class Down:
    """An endpoint that cannot be reached."""

    async def select(self, query: Query, kind: str = "") -> Any:
        """Nothing comes back."""
        raise UnreachableError("no connection", endpoint="broken")


@pytest.mark.parametrize("reply", ["", "no idea", "{}", '{"picks": [{"offer": 99, "ends": []}], "decides": true}'])
async def test_a_model_that_answers_nonsense_is_replaced_by_the_ranking(films: SparqlGraph, reply: str) -> None:
    """After one repair the walk goes on by the retriever's order, and the document says so."""
    player = Player("directed by", "spouse")

    def play(messages: Sequence[Message], call: str) -> str:
        return reply if call == "choose" else player(messages, call)

    answer = await answer_of(run_of(films, play, search={"depth": 1}))
    assert any("the retriever's ranking" in warning for warning in answer.warnings)
    assert answer.status is Status.ANSWERED


@pytest.mark.parametrize("call", ["plan", "deductive", "answer"])
async def test_each_call_has_its_fallback(films: SparqlGraph, call: str) -> None:
    """No single call that fails ends the run in an exception."""
    player = Player("directed by", "spouse")

    def play(messages: Sequence[Message], asked: str) -> str:
        return "?" if asked == call else player(messages, asked)

    answer = await answer_of(run_of(films, play, search={"call_plan": "paper"}))
    assert answer.warnings
    assert (answer.status is Status.ANSWERED) == (call != "answer")


@pytest.mark.parametrize("refused", [ModelContextError, ModelDeclinedError, ModelFilteredError])
@pytest.mark.parametrize("call", ["plan", "choose", "answer"])
async def test_one_call_that_is_refused_is_survived_like_a_bad_reply(
    films: SparqlGraph, call: str, refused: type[ModelError]
) -> None:
    """A service that takes no prompt of this length leaves the search to its own ranking, and the document says so."""
    player = Player("directed by", "spouse")

    def play(messages: Sequence[Message], asked: str) -> str:
        if asked == call:
            raise refused("too long")
        return player(messages, asked)

    plan = "paper" if call == "answer" else "fused"
    answer = await answer_of(run_of(films, play, search={"depth": 2 if call == "plan" else 1, "call_plan": plan}))
    assert any("too long" in warning for warning in answer.warnings)
    assert (answer.status is Status.ANSWERED) == (call != "answer")


async def test_a_model_that_was_not_shown_everything_has_not_said_none(make_graph: Callable[..., SparqlGraph]) -> None:
    """Offers that its context has no room for are counted in a warning, and "none" becomes "not found"."""
    ways = "\n".join(
        f':kong r:way{n} :jackson . r:way{n} rdfs:label "some way number {n} to go there"@en .' for n in range(90)
    )
    graph = make_graph(FILMS + ways, name="wide")
    asked = {}
    for context in (3_000, 100_000):
        chat = ScriptedModel(Player("composed by"), Capability(context=context, output=500))
        answer = await answer_of(run_of(graph, chat, search={"candidates": 200, "depth": 1}))
        asked[context] = [messages[-1].content for messages, call in chat.asked if call == "choose"]
        narrow = context == 3_000
        assert answer.status is (Status.NOT_FOUND if narrow else Status.NONE)
        assert any("had no room for" in warning for warning in answer.warnings) == narrow
    assert "are not shown" in asked[3_000][0]
    assert "are not shown" not in asked[100_000][0]


async def test_a_model_that_cannot_be_reached_is_an_error(films: SparqlGraph) -> None:
    """There is nothing to fall back on: the error reaches the caller."""

    def play(messages: Sequence[Message], call: str) -> str:
        raise ModelUnreachableError("down")

    with pytest.raises(ModelUnreachableError):
        await answer_of(run_of(films, play))


@pytest.mark.parametrize(("failing", "status"), [(99, Status.FAILED), (1, Status.NOT_FOUND)])
async def test_a_model_that_was_never_heard_has_failed(films: SparqlGraph, failing: int, status: Status) -> None:
    """A wrong base URL gives a web page for each reply: that is no search that found nothing.

    One good reply makes it one.
    """
    asked: list[str] = []

    def play(_messages: Sequence[Message], call: str) -> str:
        asked.append(call)
        if len(asked) <= failing:
            raise ModelReplyError("no reply of this wire")
        return '{"picks": []}'

    run = run_of(films, play, topics=["King Kong"], search={"depth": 1, "candidates": 1})
    run.ledger = cast("PromptedModel", run.reasoner).ledger
    assert (await answer_of(run)).status is status


async def test_a_model_that_writes_prose_only_has_failed(films: SparqlGraph) -> None:
    """No reply that could be used is no search either: the ledger says so on every line, and the exit code is 3."""
    run = run_of(films, lambda _messages, _call: "I would rather tell a story.", topics=["King Kong"])
    run.ledger = cast("PromptedModel", run.reasoner).ledger
    answer = await answer_of(run)
    assert (answer.status, exit_code(answer)) == (Status.FAILED, 3)
    assert {line.error for line in answer.ledger} == {"ModelReplyError"}


@pytest.mark.parametrize("calls", [1, 2, 3])
async def test_a_spent_budget_ends_the_run_with_what_was_found(films: SparqlGraph, calls: int) -> None:
    """The document names what is spent, keeps the paths walked, and no call beyond the budget is made."""
    answer = await answer_of(run_of(films, Player("directed by", "spouse"), budget={"calls": calls}))
    assert (answer.usage.spent, answer.usage.model_calls, answer.status) == ("calls", calls, Status.NOT_FOUND)
    assert len(answer.paths) == (1 if calls > 1 else 0)
    assert any("what was found until then" in warning for warning in answer.warnings)


@pytest.mark.parametrize("form", ["groups", "pairs"])
async def test_an_answer_that_is_known_when_a_budget_ends_is_kept(
    films: SparqlGraph, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """Its further tails could not be fetched any more: the document has the answer, what is spent, and a warning."""

    async def over(*_: Any) -> Any:
        raise BudgetError("the 5 seconds are over", budget="seconds")

    monkeypatch.setattr("fedkg.engine.handlers.expanding.complete", over)
    player = Player("starring", "none of these")
    answer = await answer_of(run_of(films, player, search={"form": form, "call_plan": "paper"}))
    assert (answer.status, answer.usage.spent) == (Status.ANSWERED, "seconds")
    assert len(answer.answers) == (2 if form == "groups" else 1)
    assert any("there may be more" in warning for warning in answer.warnings)
    assert exit_code(answer) == 4


async def test_paths_that_were_finished_when_a_budget_ends_are_shown(
    films: SparqlGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are no answer, since nobody has judged them, but they were found until then."""

    async def over(*_: Any) -> Any:
        raise BudgetError("the 5 seconds are over", budget="seconds")

    monkeypatch.setattr("fedkg.engine.handlers.expanding.complete", over)
    answer = await answer_of(run_of(films, Player("directed by")))
    assert (answer.status, answer.answers, len(answer.paths)) == (Status.NOT_FOUND, (), 1)


@pytest.mark.parametrize("kind", ["yesno", "claim", "count", "choice"])
async def test_a_kind_that_is_given_stands_in_every_document(films: SparqlGraph, kind: Kind) -> None:
    """Also where the budget did not last for the plan."""
    run = run_of(films, Player("directed by"), budget={"seconds": 1e-6})
    run = dataclasses.replace(run, kind=kind, options=("Yes", "No") if kind == "choice" else ())
    answer = await answer_of(run)
    assert (answer.kind, answer.status, answer.usage.spent) == (kind, Status.NOT_FOUND, "seconds")
    assert answer.options == (("Yes", "No") if kind == "choice" else ())
    assert decode_answer(answer.to_json()) == answer


async def test_the_deadline_ends_the_run(films: SparqlGraph) -> None:
    """A model that does not come back in time costs the question its time, not its document."""

    class Stuck:
        name = "stuck"
        capability = Capability()

        async def complete(self, request: Request) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

        async def close(self) -> None:
            pass

    answer = await answer_of(run_of(films, Stuck(), budget={"seconds": 0.2}))
    assert (answer.usage.spent, answer.status) == ("seconds", Status.NOT_FOUND)
    assert "the time for this question is over: 0.2 s" in answer.warnings[-1]


async def test_the_local_model_abstains_before_anything_is_fetched(
    films: SparqlGraph, meter: Any, hashing: LazySimilarity
) -> None:
    """A claim costs no request where the model cannot judge it."""
    run = QuestionRun("King Kong is a film.", films, LocalModel(hashing), hashing, Settings(), Usage, kind="claim")
    answer = await answer_of(run)
    assert answer.status is Status.ABSTAINED
    assert meter.usage().requests == 0
    assert "take a judgement; name a language model with --model" in answer.warnings[0]


@given(reply=st.text(max_size=60), numbers=st.lists(st.integers(-2, 9), max_size=4))
@settings_of_hypothesis(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_model_says_every_edge_was_said_by_the_endpoint(
    films: SparqlGraph, reply: str, numbers: list[int]
) -> None:
    """Path validity is a law: no reply makes an edge that the endpoint does not hold."""
    picks = json.dumps({"picks": [{"offer": number, "ends": []} for number in numbers], "decides": True})
    player = Player("directed by")

    def play(messages: Sequence[Message], call: str) -> str:
        return {"plan": player(messages, "plan"), "choose": picks, "answer": reply}[call]

    async def check() -> None:
        answer = await answer_of(run_of(films, play, search={"depth": 2}))
        assert all(await films.holds([shown.edge for path in answer.paths for shown in path.edges]))
        assert all(value.grounded for value in answer.answers)

    asyncio.run(check())


async def test_the_document_survives_its_json(films: SparqlGraph) -> None:
    """What is printed can be read again, and names settings and usage but no secret."""
    answer = await answer_of(run_of(films, Player("directed by", "spouse"), contact="me@example.org"))
    assert decode_answer(answer.to_json()) == answer
    assert b"example.org" not in answer.to_json()
    assert Iri("http://x/walsh") == answer.answers[0].term


async def test_a_cut_answer_set_says_so(make_graph: Callable[..., SparqlGraph]) -> None:
    """A hub's bounded tails are an answer with a warning and a gap."""
    many = ", ".join(f":n{number}" for number in range(2_100))
    graph = make_graph(f':kong rdfs:label "King Kong"@en ; r:starring {many} . r:starring rdfs:label "starring"@en .')
    answer = await answer_of(run_of(graph, Player("starring")))
    assert len(answer.answers) == 200
    assert any("there may be more" in warning for warning in answer.warnings)
    assert "hub" in answer.gaps[0].reason


@pytest.mark.parametrize(("members", "count"), [(1_500, "1500"), (2_100, "at least 200")])
async def test_a_count_is_never_cut_silently(make_graph: Callable[..., SparqlGraph], members: int, count: str) -> None:
    """All are counted, also those that the document does not show; where the endpoint gave some only, it is a bound."""
    many = ", ".join(f":n{number}" for number in range(members))
    graph = make_graph(f':kong rdfs:label "King Kong"@en ; r:starring {many} . r:starring rdfs:label "starring"@en .')
    answer = await answer_of(run_of(graph, Player("starring", kind="count")))
    assert [value.value for value in answer.answers] == [count]
    assert answer.warnings


async def test_whoever_lists_all_shown_tails_means_all(films: SparqlGraph) -> None:
    """One pair was walked and its one end named: the other actor is an answer too."""

    def play(messages: Sequence[Message], call: str) -> str:
        if call == "answer":
            return '{"paths": [{"path": 1, "ends": [1]}], "verdict": ""}'
        return Player("starring")(messages, call)

    answer = await answer_of(run_of(films, play, search={"form": "pairs", "depth": 1, "call_plan": "paper"}))
    assert {value.value for value in answer.answers} == {"Naomi Watts", "Jack Black"}


async def test_warnings_are_events_too(films: SparqlGraph) -> None:
    """Whoever watches the walk sees a warning when it arises."""
    seen = await events_of(run_of(films, lambda _messages, _call: "?"))
    assert any(isinstance(event, Warned) for event in seen)
