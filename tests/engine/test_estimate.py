"""What a question will cost: the real prompts with stand-ins, the calls of each plan, the price by the table."""

import asyncio
import datetime as dt
import itertools
from typing import Any

import msgspec
import pytest

from fedkg.common.tokens import estimate as tokens
from fedkg.config.settings import Budget, SearchSettings, Settings
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.estimate import Asked, Cost, Estimate, estimate
from fedkg.errors import MethodError
from fedkg.llm.base import Capability, Completion, Request
from fedkg.llm.prices import Price
from fedkg.methods.registry import METHODS
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.session import Session
from tests.support.habits import MOST_CALLS

ASKED = Asked("Where was the wife of Barack Obama born?")
PRICES = (Price(("vendor:m",), dt.date(2026, 1, 1), 2.0, 10.0),)


class Unasked:
    """A model that fails the test when it is asked."""

    capability = Capability(context=200_000)

    def __init__(self, name: str = "vendor:m") -> None:
        self.name = name

    async def complete(self, request: Request) -> Completion:
        pytest.fail(f"{request.call} was asked")

    async def close(self) -> None:
        pytest.fail("it was closed")


class Renamed(LocalModel):
    """A reasoner as a caller brings it."""

    name = "mine"


def estimated(
    asked: Asked = ASKED, chat: Unasked | None = None, budget: Budget | None = None, ends: int = 1, **search: Any
) -> Estimate:
    """The estimate with the bundled prompts."""
    settings = Settings(search=SearchSettings(**search), budget=budget or Budget())
    return asyncio.run(estimate(asked, settings, chat or Unasked(), PromptLibrary(), PRICES, endpoints=ends))


def test_calls_of_the_fused_plan() -> None:
    """One choice per depth, which decides; at most a plan, an answer, and one for names that may be ambiguous."""
    cost_estimate = estimated(depth=4)
    assert cost_estimate.least.by_call == {"choose": 1}
    assert cost_estimate.typical.by_call == {"choose": 2}
    assert cost_estimate.most.by_call == {"plan": 1, "link": 1, "choose": 4, "answer": 1}
    assert [cost.calls for cost in (cost_estimate.least, cost_estimate.typical, cost_estimate.most)] == [1, 2, 7]


def test_a_plan_is_counted_where_the_walk_does_not_look_first() -> None:
    """That is so of a kind that is not evident, of options, of pairs, and where the settings always plan."""
    unclear = Asked("Name the wife of Barack Obama.")
    assert estimated(unclear).typical.by_call == {"plan": 1, "choose": 2}
    assert estimated(msgspec.structs.replace(unclear, kind="entities")).typical.by_call == {"choose": 2}
    assert estimated(msgspec.structs.replace(unclear, kind="choice", options=("a", "b"))).least.by_call["plan"] == 1
    assert estimated(form="pairs").typical.by_call["plan"] == estimated(show_all=0).typical.by_call["plan"] == 1


def test_an_answer_is_counted_where_no_choice_decides() -> None:
    """Another verifier, or none, leaves that to the answer call."""
    assert estimated(verifier="none").typical.by_call == {"choose": 2, "answer": 1}


@pytest.mark.parametrize(("depth", "beam"), [(1, 1), (2, 4), (4, 4), (3, 2)])
def test_calls_of_the_papers_plan(depth: int, beam: int) -> None:
    """At most N · D + D + C calls, C being plan and answer."""
    named = Asked(ASKED.question, named=True)
    assert estimated(named, call_plan="paper", depth=depth, beam=beam).most.calls == beam * depth + depth + 2
    assert "deductive" not in estimated(named, call_plan="paper", verifier="none").most.by_call


@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_a_comparison_starts_from_several_entities(plan: str) -> None:
    """Of up to eight; what was walked before stands in the later prompts and in that of the answer."""
    single = estimated(call_plan=plan)
    both = estimated(msgspec.structs.replace(ASKED, kind="yesno"), call_plan=plan)
    beams = {"typical": (3, 4), "most": (16, 32)} if plan == "paper" else {"typical": (0, 0), "most": (0, 0)}
    for case, expected in beams.items():
        beam_calls = tuple(getattr(cost_estimate, case).by_call.get("beam", 0) for cost_estimate in (single, both))
        assert beam_calls == expected
    if plan == "paper":  # the fused plan shows what was picked for every kind, and its wordings differ in length
        assert both.typical.tokens_in > single.typical.tokens_in + 100


def test_a_fallback_is_one_more_call_where_nothing_is_found() -> None:
    """Only the case that is never answered by the graph has it."""
    cost_estimate = asyncio.run(estimate(ASKED, Settings(fallback="model"), Unasked(), PromptLibrary(), PRICES))
    cases = (cost_estimate.least, cost_estimate.typical, cost_estimate.most)
    assert [cost.by_call.get("model-only", 0) for cost in cases] == [0, 0, 1]


def test_named_topics_are_not_linked() -> None:
    """Who names the topic pays no call for the question's names."""
    assert "link" not in estimated(Asked(ASKED.question, named=True)).most.by_call


@pytest.mark.parametrize("search", [{}, {"form": "pairs"}, {"call_plan": "paper"}, {"depth": 1}, {"alpha": 0.0}])
def test_least_typical_most(search: dict[str, Any]) -> None:
    """Each case costs at least what the one before it does, whatever is counted."""
    cost_estimate = estimated(**search)
    counts = [
        (cost.calls, cost.tokens_in, cost.tokens_out, cost.requests, cost.price or 0)
        for cost in (cost_estimate.least, cost_estimate.typical, cost_estimate.most)
    ]
    assert all(lower <= higher for values in zip(*counts, strict=True) for lower, higher in itertools.pairwise(values))


def test_more_candidates_are_more_tokens() -> None:
    """What is offered enters the prompts; it changes no number of calls and no reply."""
    few, many = estimated(candidates=5).typical, estimated(candidates=40).typical
    assert many.tokens_in > few.tokens_in + 35 * 2 * 12
    assert (few.calls, few.tokens_out) == (many.calls, many.tokens_out)


def test_the_question_itself_is_counted() -> None:
    """A long question costs in every call."""
    long = Asked(ASKED.question + " He was a president." * 50)
    more = estimated(long).typical.tokens_in - estimated().typical.tokens_in
    assert more >= 2 * (tokens(long.question) - tokens(ASKED.question)) - 8


def test_a_choice_with_its_options() -> None:
    """Options of a choice stand in its prompts."""
    plain, listed = Asked(ASKED.question, kind="choice"), Asked(ASKED.question, kind="choice", options=("Chicago",) * 9)
    assert estimated(listed).typical.tokens_in > estimated(plain).typical.tokens_in


def test_the_price_is_that_of_the_table() -> None:
    """Tokens times the table's price; a model that the table does not name has none, and that is said."""
    cost = estimated().typical
    assert cost.price == pytest.approx((cost.tokens_in * 2 + cost.tokens_out * 10) / 1_000_000)
    unknown = estimated(chat=Unasked("vendor:other"))
    assert unknown.typical.price is None
    assert any("price is not known" in note for note in unknown.notes)


def test_local_costs_nothing_but_requests() -> None:
    """Without a language model there are no calls and no tokens, at the price of 0."""
    cost_estimate = asyncio.run(estimate(ASKED, Settings(), None, PromptLibrary()))
    assert cost_estimate.model == "local"
    assert cost_estimate.most == Cost(requests=cost_estimate.most.requests)
    assert cost_estimate.most.requests > 0


def test_a_reasoner_of_the_callers_own_is_named_and_not_estimated() -> None:
    """It is not `local`: whom it asks, and what for, is not known."""
    with Session("sample", reasoner=Renamed(Bm25Similarity())) as session:
        injected = session.run(session.estimate(ASKED.question))
    assert (injected.model, injected.notes) == ("mine", ("a reasoner of your own: its calls are not estimated",))
    around = asyncio.run(estimate(ASKED, Settings(), Unasked(), PromptLibrary(), own_reasoner=True))
    assert (around.model, around.notes[0]) == ("vendor:m", injected.notes[0])
    assert around.typical.calls > 0


def test_a_call_that_no_one_knows_is_said() -> None:
    """With the calls that there are, whatever has been imported."""
    odd = msgspec.structs.replace(METHODS["fidelis"], calls=lambda _search, _topics: {"guess": 1})
    with pytest.raises(MethodError, match="'guess'") as caught:
        asyncio.run(estimate(ASKED, Settings(), Unasked(), PromptLibrary(), method=odd))
    assert "adequacy, answer, beam" in caught.value.hint


def test_each_endpoint_is_asked() -> None:
    """Requests grow with the endpoints, the model's calls do not."""
    single, three = estimated().typical, estimated(ends=3).typical
    assert (three.requests, three.calls) == (3 * single.requests, single.calls)


def test_a_lookahead_fetches_one_hop_more() -> None:
    """Without it, or at the last depth, nothing is fetched ahead."""
    assert estimated(alpha=0.0).typical.requests < estimated().typical.requests
    assert estimated(depth=2).typical.requests == estimated(depth=2, alpha=0.0).typical.requests


def test_prices_have_no_more_digits_than_they_are_worth() -> None:
    """Millionths of a dollar: sums of floating-point numbers do not run on to the seventeenth digit."""
    cost_estimate = estimated()
    for cost in (cost_estimate.least, cost_estimate.typical, cost_estimate.most):
        assert cost.price
        assert cost.price == round(cost.price, 6)


def test_a_budget_that_may_end_the_question() -> None:
    """Every budget below the most is named, with the searches that it ends; one that holds the most is not."""
    notes = estimated(budget=Budget(calls=1, tokens=100_000, money=0.001)).notes
    assert [note for note in notes if "the budget of" in note] == [
        "the budget of 1 calls ends the typical search before its answer, a shorter one not",
        "the budget of $0.001 ends every search before its answer",
    ]
    assert (
        "the budget of 2 calls ends only searches that are longer than the typical one"
        in estimated(budget=Budget(calls=2)).notes
    )


def test_a_secret_in_a_name_is_masked() -> None:
    """A user and password in a model's URL are not shown."""
    assert "secret" not in estimated(chat=Unasked("openai:m@http://me:secret@host/v1")).model


@pytest.mark.parametrize(("method", "calls"), [("io", 1), ("few-shot", 1), ("cot", 1), ("self-consistency", 5)])
def test_a_method_without_a_graph_is_counted_as_it_is(method: str, calls: int) -> None:
    """In all cases alike, and without any request; the prompt is that of its style."""
    cost_estimate = asyncio.run(
        estimate(ASKED, Settings(method=method), Unasked(), PromptLibrary(), PRICES, endpoints=2)
    )
    assert cost_estimate.least == cost_estimate.typical == cost_estimate.most
    assert (cost_estimate.most.by_call, cost_estimate.most.requests) == ({"model-only": calls}, 0)
    assert (cost_estimate.most.tokens_in > 100 * calls, bool(cost_estimate.most.price)) == (True, True)
    assert not [note for note in cost_estimate.notes if "fidelis" in note]


def test_a_choice_from_memory_is_counted_with_its_options() -> None:
    """Kind and options are those that were given; the examples of few-shot make the prompt longer."""
    choice = Asked("Which one?", kind="choice", options=("the first option of all", "the second one"))

    def tokens_in(asked: Asked, method: str) -> int:
        return asyncio.run(estimate(asked, Settings(method=method), Unasked(), PromptLibrary())).most.tokens_in

    assert tokens_in(choice, "io") < tokens_in(choice, "few-shot")
    more = msgspec.structs.replace(choice, options=(*choice.options, "and a third one that is longer than these"))
    assert tokens_in(choice, "io") < tokens_in(more, "io")


@pytest.mark.parametrize("depth", [1, 2, 4, 9])
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_the_most_calls_are_those_that_the_methods_page_says(method: str, depth: int, beam: int) -> None:
    """The formula of the document, for every method; the three cases lie in their order."""
    cost_estimate = of_method(method, depth=depth, beam=beam)
    assert cost_estimate.most.calls == eval(MOST_CALLS[method], {"min": min}, {"N": beam, "D": depth})
    cases = (cost_estimate.least, cost_estimate.typical, cost_estimate.most)
    for lower, higher in itertools.pairwise([(cost.calls, cost.tokens_in, cost.requests) for cost in cases]):
        assert all(low <= high for low, high in zip(lower, higher, strict=True))


@pytest.mark.parametrize(
    ("method", "calls"),
    [
        ("gcr", {"plan": 1, "choose": 2, "inductive": 1}),
        ("eperm", {"plan": 1, "score-relations": 2, "relation-paths": 1, "score-entities": 2, "weighted-answer": 1}),
        ("tog", {"plan": 1, "score-relations": 3, "score-entities": 2, "adequacy": 2, "answer": 1}),
        ("rog", {"plan": 1, "relation-paths": 1, "answer": 1}),
        ("kaping", {"answer": 1}),
        ("vanilla", {"answer": 1}),
    ],
)
def test_each_method_has_its_own_calls(method: str, calls: dict[str, int]) -> None:
    """A typical question of two steps, each call with a real prompt; that its tokens are rough is said."""
    cost_estimate = of_method(method, beam=2)
    assert cost_estimate.typical.by_call == calls
    assert cost_estimate.typical.tokens_in > 200 * cost_estimate.typical.calls
    assert [note for note in cost_estimate.notes if f"{method} are rough" in note]
    assert not [note for note in of_method("fidelis").notes if "rough" in note]


@pytest.mark.parametrize("plan", ["fused", "paper"])
@pytest.mark.parametrize(
    ("verifier", "calls"),
    [
        ("deductive", ("deductive", 4)),
        ("adequacy", ("adequacy", 4)),
        ("log-probability", ("deducible", 12)),
        ("none", None),
    ],
)
def test_a_verifier_has_calls_of_its_own(plan: str, verifier: str, calls: tuple[str, int] | None) -> None:
    """One a depth, or one for each path; the fused plan has the deductive one built in, the paper's sees all picks."""
    if calls == ("deducible", 12) and plan == "paper":
        calls = ("deducible", 3 * 12)
    by_call = of_method("fidelis", call_plan=plan, verifier=verifier, beam=3).most.by_call
    counted = {name: count for name, count in by_call.items() if name in {"deductive", "adequacy", "deducible"}}
    assert counted == ({} if calls is None or (plan, verifier) == ("fused", "deductive") else dict([calls]))


def test_who_sees_one_hop_asks_for_one() -> None:
    """However deep the others may go; no method but FiDeLiS looks ahead."""
    assert of_method("kaping", depth=9).most.requests == of_method("kaping", depth=1).most.requests
    assert of_method("gcr", depth=9).most.requests == of_method("gcr", depth=2).most.requests
    assert of_method("tog", depth=9).least.requests < of_method("fidelis", depth=9).least.requests


def of_method(method: str, **search: Any) -> Estimate:
    """The estimate of a question whose topic is named."""
    settings = Settings(method=method, search=SearchSettings(**search))
    named = Asked(ASKED.question, named=True)
    return asyncio.run(estimate(named, settings, Unasked(), PromptLibrary(), PRICES))


@pytest.mark.parametrize(
    ("search", "more"),
    [
        ({"verifier": "adequacy"}, {"adequacy": 3}),
        ({"verifier": "log-probability"}, {"deducible": 6}),
        ({"verifier": "none"}, {}),
        ({"retriever": "tog"}, {"score-relations": 3}),
        ({"last_step": False}, {"answer": -1}),
    ],
)
def test_switches_cost_what_they_ask(search: dict[str, Any], more: dict[str, int]) -> None:
    """On top of what is asked without them."""
    named = Asked(ASKED.question, named=True)
    plain, switched = (estimated(named, depth=3, beam=2, **switches).most.by_call for switches in ({}, search))
    counted = {call: plain.get(call, 0) + more.get(call, 0) for call in plain | more}
    assert switched == {call: count for call, count in counted.items() if count}


def test_a_judgement_pays_for_its_answer_call() -> None:
    """Also where the last step is switched off."""
    assert estimated(Asked(ASKED.question, kind="yesno"), last_step=False).most.by_call["answer"] == 1


def test_without_a_plan_prompts_are_shorter() -> None:
    """Its steps are not shown, and no call is saved."""
    plain, withheld = estimated().most, estimated(planning=False).most
    assert plain.by_call == withheld.by_call
    assert plain.tokens_in > withheld.tokens_in


def test_only_path_rag_looks_ahead() -> None:
    """What other retrievers do not fetch is not counted."""
    assert estimated(depth=2, retriever="tog").least.requests < estimated(depth=2).least.requests


def test_an_operation_is_one_call_more() -> None:
    """A question with words of an operator is estimated with the call that ends its walk, any other without."""
    questions = ("Which film of Peter Jackson is the longest?", "Who directed King Kong?")
    costs = [estimated(Asked(question)).most for question in questions]
    assert [cost.by_call.get("operate", 0) for cost in costs] == [1, 0]
