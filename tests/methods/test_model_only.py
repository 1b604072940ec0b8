"""The model alone: one call or several, the vote, and a document that says that nothing was looked up."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.normalize import normalized_answer
from fedkg.config.settings import Budget, SearchSettings, Settings
from fedkg.core.answer import Answer, AnswerValue, Status
from fedkg.core.choice import ModelOnlyAnswer
from fedkg.core.events import Answered
from fedkg.core.question import Kind
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import BudgetError, ModelUnreachableError
from fedkg.graph.federated import FederatedGraph
from fedkg.llm.base import Message
from fedkg.llm.ledger import Ledger
from fedkg.methods import model_only, registry
from fedkg.methods.base import AskingModelOnly, Need, SearchResult, Task
from fedkg.reasoner.prompted import PromptedModel
from fedkg.session import Session
from fedkg.testing import ScriptedModel

METHODS = ("io", "few-shot", "cot", "self-consistency")
TASK = Task((), SearchSettings())
GRAZ, WIEN = ModelOnlyAnswer(("Graz",)), ModelOnlyAnswer(("Wien",))


def drive(
    name: str, replies: Sequence[ModelOnlyAnswer | BudgetError | None]
) -> tuple[SearchResult, list[Need[object]]]:
    """Runs a method over the replies."""
    walk = registry.find(name).walk(TASK)
    needs: list[Need[object]] = [next(walk)]
    try:
        for reply in replies:
            need = walk.throw(reply) if isinstance(reply, BudgetError) else walk.send(reply)
            needs.append(need)
    except StopIteration as end:
        return end.value, needs
    pytest.fail(f"it asks for more: {needs[-1]}")


def voted(*replies: ModelOnlyAnswer | BudgetError | None) -> SearchResult:
    """What self-consistency makes of these replies."""
    return drive("self-consistency", replies)[0]


@pytest.mark.parametrize("style", ["io", "few-shot", "cot"])
def test_one_call_in_the_methods_style(style: str) -> None:
    """The reply is the answer; where the model gave none there is none."""
    result, needs = drive(style, [GRAZ])
    assert (result, needs) == (SearchResult(from_memory=GRAZ), [AskingModelOnly(style)])  # type: ignore[arg-type]  # one of the styles
    assert drive(style, [None])[0] == SearchResult()


def test_self_consistency_takes_different_chains_of_thought() -> None:
    """Five samples, none of them the usual reply, each with a number of its own."""
    _, needs = drive("self-consistency", [GRAZ] * model_only.SAMPLES)
    assert needs == [AskingModelOnly("cot", sample) for sample in range(1, 6)]


def test_the_majority_wins() -> None:
    """The answer is as its first sample wrote it; the share tells how sure that is."""
    assert voted(WIEN, GRAZ, ModelOnlyAnswer(("graz.",)), WIEN, ModelOnlyAnswer(("the Graz",))) == SearchResult(
        from_memory=GRAZ, measures={"samples": 5, "agreement": 0.6}
    )


def test_of_equals_the_first_wins() -> None:
    """As many say the one as say the other."""
    assert voted(WIEN, GRAZ, GRAZ, WIEN, ModelOnlyAnswer(("Linz",))).from_memory == WIEN


def test_sets_verdicts_and_options_are_voted_on() -> None:
    """Several values in any order are one answer; yes and no, or the numbers of options, are others."""
    both = ModelOnlyAnswer(("A", "B"))
    assert voted(ModelOnlyAnswer(("A",)), both, ModelOnlyAnswer(("b", "a")), GRAZ, WIEN).from_memory == both
    yes, no = ModelOnlyAnswer(verdict="yes"), ModelOnlyAnswer(verdict="no")
    assert voted(no, yes, no, yes, yes).from_memory == yes
    assert voted(*(ModelOnlyAnswer(option=number) for number in (1, 2, 2, 3, 2))).from_memory == ModelOnlyAnswer(
        option=2
    )


def test_not_to_know_is_an_answer() -> None:
    """Where most samples know nothing one guess is no majority."""
    assert voted(GRAZ, *[ModelOnlyAnswer()] * 4) == SearchResult(
        from_memory=ModelOnlyAnswer(), measures={"samples": 5, "agreement": 0.8}
    )


def test_samples_that_failed_have_no_vote() -> None:
    """The share is that of the samples that there are; without any nothing is found."""
    assert voted(None, GRAZ, None, GRAZ, WIEN).measures == {"samples": 3, "agreement": 2 / 3}
    assert voted(*[None] * 5) == SearchResult(measures={"samples": 0})


def test_a_spent_budget_ends_the_sampling() -> None:
    """What was said until then decides."""
    spent = BudgetError("spent", budget="calls")
    assert voted(GRAZ, WIEN, WIEN, spent) == SearchResult(from_memory=WIEN, measures={"samples": 3, "agreement": 2 / 3})
    assert voted(spent) == SearchResult(measures={"samples": 0})


@given(st.lists(st.sampled_from(["Graz", "graz", "Wien", "“Wien”", "Linz"]), min_size=5, max_size=5))
def test_the_vote_is_a_plurality(texts: list[str]) -> None:
    """No other answer has more votes than the one that is taken, and the measured share is its own."""
    result = voted(*(ModelOnlyAnswer((text,)) for text in texts))
    assert result.from_memory is not None
    votes = [normalized_answer(text) for text in texts]
    taken = votes.count(normalized_answer(result.from_memory.values[0]))
    assert taken == max(map(votes.count, votes))
    assert result.measures["agreement"] == taken / 5
    assert result.from_memory.values[0] in texts


class Unasked(FederatedGraph):
    """A graph that fails the test when it is asked for anything but no labels."""

    def __init__(self) -> None:
        super().__init__(())

    async def labels(self, terms: Any) -> Any:
        """The labels of nothing."""
        assert not list(terms)
        return {}

    async def search(self, texts: Sequence[str], limit: int = 10) -> Any:
        pytest.fail(f"{texts} were looked up")

    async def neighbours(self, entities: Any, direction: Any) -> Any:
        pytest.fail(f"{entities} were looked up")


async def answered(
    reply: Callable[[Sequence[Message], str], str],
    similarity: LazySimilarity,
    method: str = "io",
    kind: Kind | None = None,
    **more: Any,
) -> Answer:
    """The document of a run with a scripted model; the topic that is named is not looked up."""
    settings, ledger = Settings(method=method, budget=Budget(**more.pop("budget", {}))), Ledger()
    model = PromptedModel(ScriptedModel(reply), ledger, settings.budget)
    question = "Which city is the capital of Styria?"
    run = QuestionRun(question, Unasked(), model, similarity, settings, Usage, ["Styria"], kind, ledger=ledger, **more)
    last = [event async for event in run.events()][-1]
    assert isinstance(last, Answered)
    return last.answer


def says(**reply: Any) -> Callable[[Sequence[Message], str], str]:
    """A model that says the same whenever it is asked from memory, and may be asked for nothing else."""

    def play(_messages: Sequence[Message], call: str) -> str:
        assert call == "model-only"
        return json.dumps({"reasoning": "", **reply})

    return play


@pytest.mark.parametrize("method", METHODS)
async def test_the_document_says_that_nothing_was_looked_up(method: str, hashing: LazySimilarity) -> None:
    """Texts that are not grounded and have no path, a warning, one call or five, and no request."""
    answer = await answered(says(answers=["Graz", "Gratz"]), hashing, method)
    assert (answer.method, answer.status, answer.kind) == (method, Status.ANSWERED, "entities")
    assert answer.answers == (AnswerValue("Graz"), AnswerValue("Gratz"))
    assert (answer.paths, answer.gaps, len(answer.unproven())) == ((), (), 2)
    assert [warning for warning in answer.warnings if "nothing was looked up" in warning]
    assert [call.call for call in answer.ledger] == ["model-only"] * (5 if method == "self-consistency" else 1)


@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        ("count", {"answers": [3]}, AnswerValue("3")),
        ("yesno", {"verdict": "yes"}, AnswerValue("yes")),
        ("claim", {"verdict": "no"}, AnswerValue("no")),
        ("choice", {"option": 2}, AnswerValue("Graz", label="2")),
    ],
)
async def test_every_kind_of_question(
    kind: Kind, reply: dict[str, Any], value: AnswerValue, hashing: LazySimilarity
) -> None:
    """A number, yes or no, or an option with its number: none is grounded."""
    options = ("Linz", "Graz") if kind == "choice" else ()
    answer = await answered(says(**reply), hashing, "self-consistency", kind, options=options)
    assert (answer.answers, answer.measures) == ((value,), {"samples": 5, "agreement": 1.0})


async def test_a_model_that_does_not_know_has_found_nothing(hashing: LazySimilarity) -> None:
    """That is neither the graph's "none" nor a failure."""
    assert (await answered(says(answers=[]), hashing)).status is Status.NOT_FOUND


@pytest.mark.parametrize("method", METHODS)
async def test_a_model_that_talks_nonsense_has_failed(method: str, hashing: LazySimilarity) -> None:
    """Every call was in vain: that is no search that found nothing."""
    answer = await answered(lambda *_: "?", hashing, method)
    assert (answer.status, answer.answers) == (Status.FAILED, ())
    assert [warning for warning in answer.warnings if "gave no answer" in warning]


async def test_the_samples_that_the_budget_paid_for_decide(hashing: LazySimilarity) -> None:
    """Two calls are two votes; the document says which budget was spent."""
    answer = await answered(says(answers=["Graz"]), hashing, "self-consistency", budget={"calls": 2})
    assert (answer.answers, answer.measures["samples"]) == ((AnswerValue("Graz"),), 2)
    assert answer.usage.spent == "calls"


async def test_a_dead_service_is_an_error(hashing: LazySimilarity) -> None:
    """As with every method: whoever cannot be reached is not outvoted."""

    def dead(*_: Any) -> str:
        raise ModelUnreachableError("no connection")

    with pytest.raises(ModelUnreachableError):
        await answered(dead, hashing, "self-consistency")


@pytest.mark.parametrize("method", METHODS)
async def test_a_session_needs_no_endpoint(method: str) -> None:
    """Nothing is connected: none is named, and one that is not there does not matter."""
    for endpoints in ((), ("http://127.0.0.1:9/sparql",)):
        chat = ScriptedModel(says(answers=["Graz"]))
        async with Session(*endpoints, chat=chat, method=method, cache=False, embedder="bm25") as session:
            answer = await session.ask("What is the capital of Styria?")
        assert [value.value for value in answer.answers] == ["Graz"]
        assert answer.usage.requests == 0
