"""Every kind of question from its text to its answer document, with both call plans, over a real graph in process."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Status, decode_answer
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.events import Verified
from fedkg.core.question import Kind
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import HashingEmbedder, ScriptedModel
from tests.support.shown_paths import whole_paths
from tests.support.towns import PAID, PAYMENTS, QUESTIONS, TOWNS, TownPlayer, TownQuestion, answered

ANSWERS = {
    "entities": ["Ana", "Bo"],
    "literal": ["1442"],
    "count": ["2"],
    "number": ["59449"],
    "yesno": ["yes"],
    "claim": ["no"],
    "choice": ["Krone"],
}


@pytest.fixture
def towns(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Two towns that can be compared."""
    return make_graph(TOWNS, name="towns")


@pytest.mark.parametrize("plan", ["fused", "paper"])
@pytest.mark.parametrize("name", QUESTIONS)
async def test_each_kind_is_answered(towns: SparqlGraph, name: str, plan: str) -> None:
    """The plan says the kind, the document has an answer of that kind, and its paths prove it."""
    asked = QUESTIONS[name]
    answer = await answered(towns, TownPlayer(asked), plan)
    assert (answer.status, answer.kind) == (Status.ANSWERED, asked.kind)
    assert sorted(value.value for value in answer.answers) == ANSWERS[name]
    assert answer.unproven() == ()
    assert decode_answer(answer.to_json()) == answer
    assert all(value.paths for value in answer.answers)
    assert all(await towns.holds([shown.edge for path in answer.paths for shown in path.edges]))


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_a_comparison_rests_on_a_path_of_each_side(towns: SparqlGraph, plan: str) -> None:
    """Neither population decides alone; verified and answered is over both, and both are evidence."""
    player = TownPlayer(QUESTIONS["yesno"])
    answer = await answered(towns, player, plan)
    numbers = {path.end.text.split('"')[1] for path in answer.paths if path.end}
    assert numbers == {"59449", "15979"}
    judged = [shown for call, shown in player.prompts if call != "operate"]
    last = whole_paths(judged[-1]).values()
    assert "Horn → population → 59449" in last
    assert "Ikby → population → 15979" in last


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_common_knowledge_that_a_verdict_rests_on_is_a_caveat(towns: SparqlGraph, plan: str) -> None:
    """The document has it in the model's words; a verdict without any has no such caveat."""
    asked = QUESTIONS["yesno"]
    bridged = asked._replace(reply={**asked.reply, "bridge": "more inhabitants make a town larger"})
    answer = await answered(towns, TownPlayer(bridged), plan)
    assert answer.caveats == (Caveat(CaveatKind.BRIDGE, "more inhabitants make a town larger"),)
    assert (await answered(towns, TownPlayer(asked), plan)).caveats == ()


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_what_was_kept_before_counts(towns: SparqlGraph, plan: str) -> None:
    """One side is known a hop earlier: it is shown with the next verification, and the answer call sees it."""
    asked = TownQuestion(
        "Does Ikby pay in the currency of Horn?",
        "yesno",
        [{"country"}, {"currency"}],
        {"verdict": "no", "paths": [1, 2]},
        ("Horn", "Ikby"),
    )
    player = TownPlayer(asked)
    answer = await answered(towns, player, plan)
    verified = [shown for call, shown in player.prompts if call in ("choose", "deductive")][-1]
    assert "Ikby → country → Svea" in whole_paths(verified).values()
    ends = {path.end.text for path in answer.paths if path.end}
    assert ends == {"<http://x/krone>", *(["<http://x/svea>"] if plan == "paper" else [])}, "what the reply names"


async def test_given_options_make_a_choice(towns: SparqlGraph) -> None:
    """They are shown, numbered, wherever the model judges; what the model takes the question for does not count."""
    asked = QUESTIONS["choice"]._replace(
        question="What is paid with in the country of Horn?", kind="entities", options=()
    )
    player = TownPlayer(asked)
    answer = await answered(towns, player, options=["Euro", " Krone\n", "Pound"])
    assert answer.kind == "choice"
    (value,) = answer.answers
    assert (value.value, value.label, value.grounded) == ("Krone", "2", False)
    assert answer.options == PAYMENTS
    assert all("Option 2: Krone\n" in shown for _, shown in player.prompts)
    assert player.prompts[0][1].splitlines()[1] == "Kind: choice"


async def test_a_given_kind_counts(towns: SparqlGraph) -> None:
    """Whoever asks knows better than the model what is asked."""
    answer = await answered(towns, TownPlayer(QUESTIONS["entities"]), kind="count")
    assert [(value.value, value.label) for value in answer.answers] == [("2", "count")]


async def test_options_may_be_topics(towns: SparqlGraph) -> None:
    """An option that the question itself does not name is an entity to start from."""
    asked = TownQuestion(
        "Which is larger?", "choice", [{"population"}], {"option": 1, "paths": [1, 2]}, ("Horn", "Ikby")
    )
    answer = await answered(towns, TownPlayer(asked), options=["Horn", "Ikby"])
    assert [value.value for value in answer.answers] == ["Horn"]
    assert len(answer.paths) == 2


async def test_what_was_kept_before_is_not_verified_again(towns: SparqlGraph) -> None:
    """Of the paper's plan the events of a depth tell of its own paths only, whatever a model says of those before."""
    asked = QUESTIONS["yesno"]._replace(relations=[{"country"}, {"currency"}, {"none of these"}])
    model = PromptedModel(ScriptedModel(TownPlayer(asked)))
    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
    run = QuestionRun(
        asked.question, towns, model, similarity, Settings(search=SearchSettings(call_plan="paper")), Usage
    )
    told = [event.kept for event in [event async for event in run.events()] if isinstance(event, Verified)]
    assert [[path.split(" → ")[-2] for path in kept] for kept in told] == [["country", "country"], ["currency"]]


@pytest.mark.parametrize(
    ("name", "reply", "status"),
    [
        ("choice", {"option": 0, "paths": []}, Status.NONE),
        ("choice", {"option": 2, "paths": []}, Status.NONE),
        ("yesno", {"verdict": "", "paths": [1]}, Status.NOT_FOUND),
        ("claim", {"verdict": "yes", "paths": []}, Status.NONE),
    ],
)
async def test_paths_that_decide_nothing_are_no_answer(
    towns: SparqlGraph, name: str, reply: dict[str, Any], status: Status
) -> None:
    """No verdict, no option, or none with evidence.

    The document says that nothing was found, not what the model guessed; of a comparison that was not made it does not
    say that the graph has none.
    """
    answer = await answered(towns, TownPlayer(QUESTIONS[name]._replace(reply=reply)))
    assert (answer.status, answer.answers) == (status, ())
    unfounded = not reply["paths"] and (reply.get("verdict") or reply.get("option"))
    assert any("names no path that this rests on" in warning for warning in answer.warnings) == bool(unfounded)


async def test_a_choice_whose_options_nobody_knows_ends_at_once(towns: SparqlGraph) -> None:
    """Where the plan that was to find them fails nothing is fetched or asked further.

    The document says what to do.
    """
    chat, ledger = ScriptedModel(lambda *_: "?"), Ledger()
    model = PromptedModel(chat, ledger)
    run = QuestionRun(
        PAID,
        towns,
        model,
        LazySimilarity(HashingEmbedder(), MemoryStore()),
        Settings(),
        Usage,
        kind="choice",
        ledger=ledger,
    )
    answer = [event async for event in run.events()][-1].answer  # type: ignore[union-attr]
    assert (answer.status, answer.answers, answer.gaps) == (Status.FAILED, (), ())
    assert [call for _, call in chat.asked] == ["plan", "plan"]
    assert any("give each with --option" in warning for warning in answer.warnings)


async def test_a_kind_that_is_given_survives_a_plan_that_is_not(towns: SparqlGraph) -> None:
    """Where the plan call fails the content words serve, for a question of the same kind and options."""
    player = TownPlayer(QUESTIONS["choice"])

    def play(messages: Sequence[Message], call: str) -> str:
        return "?" if call == "plan" else player(messages, call)

    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
    model = PromptedModel(ScriptedModel(play))
    run = QuestionRun(PAID, towns, model, similarity, Settings(), Usage, ["Horn"], options=PAYMENTS)
    answer = [event async for event in run.events()][-1].answer  # type: ignore[union-attr]
    assert (answer.kind, [value.value for value in answer.answers]) == ("choice", ["Krone"])


SHARED = """
:kong rdfs:label "King Kong"@en ; r:genre :adventure, :horror ; r:director :jackson .
:rings rdfs:label "The Two Towers"@en ; r:genre :fantasy, :adventure .
:adventure rdfs:label "adventure"@en . :horror rdfs:label "horror"@en . :fantasy rdfs:label "fantasy"@en .
:jackson rdfs:label "Peter Jackson"@en .
r:genre rdfs:label "genre"@en . r:director rdfs:label "director"@en .
"""
BOTH = TownQuestion(
    "Which genre do King Kong and The Two Towers share?",
    "entities",
    [{"genre"}],
    {"paths": [{"path": 1, "ends": []}]},
    ("King Kong", "The Two Towers"),
)


@pytest.mark.parametrize("plan", ["fused", "paper"])
@pytest.mark.parametrize(("kind", "expected"), [("entities", "adventure"), ("count", "1")])
async def test_what_two_topics_share_is_the_answer(
    make_graph: Callable[..., SparqlGraph], plan: str, kind: Kind, expected: str
) -> None:
    """The answer call sees where their paths meet, before each path alone.

    The answer stands on a path from each topic.
    """
    graph, player = make_graph(SHARED, name="films"), TownPlayer(BOTH._replace(kind=kind))
    answer = await answered(graph, player, plan)
    assert [value.value for value in answer.answers] == [expected]
    assert {path.edges[0].edge.start.text for path in answer.paths} == {"<http://x/kong>", "<http://x/rings>"}
    assert (len(answer.paths), answer.answers[0].paths) == (2, (0, 1))
    if plan == "fused":
        assert [call for call, _ in player.prompts] == ["plan", "choose"], "they meet in what the model picked"
        return
    shown = re.findall(r"(?m)^\d\. (.*)$", player.prompts[-1][1])
    assert shown[0] == "King Kong → genre → adventure; also The Two Towers → genre → adventure"
    assert len(shown) == 3
    verified = [shown for call, shown in player.prompts if call in ("choose", "deductive")][-1]
    assert {text.partition(" →")[0] for text in whole_paths(verified).values()} == {"King Kong", "The Two Towers"}


@pytest.mark.parametrize("plan", ["fused", "paper"])
@pytest.mark.parametrize("verdict", ["yes", "no"])
async def test_whether_two_topics_share_something_rests_on_both(
    make_graph: Callable[..., SparqlGraph], plan: str, verdict: str
) -> None:
    """The verdict of the answer call over the verified paths of both."""
    reply = {"verdict": verdict, "paths": [1, 2]}
    asked = BOTH._replace(question="Do King Kong and The Two Towers share a genre?", kind="yesno", reply=reply)
    answer = await answered(make_graph(SHARED, name="films"), TownPlayer(asked), plan)
    assert [value.value for value in answer.answers] == [verdict]
    assert {path.edges[0].edge.start.text for path in answer.paths} == {"<http://x/kong>", "<http://x/rings>"}


@pytest.mark.parametrize(("name", "answers"), [("count", ["2"]), ("entities", ["Ana", "Bo"]), ("yesno", ["yes"])])
async def test_what_is_answered_without_the_last_step(towns: SparqlGraph, name: str, answers: list[str]) -> None:
    """Ends are listed and counted without the answer call; so is a judgement that the choice has made."""
    player = TownPlayer(QUESTIONS[name])
    answer = await answered(towns, player, last_step=False)
    assert sorted(value.value for value in answer.answers) == answers
    assert "answer" not in [call for call, _ in player.prompts]
    assert not answer.warnings


async def test_without_planning_no_choice_is_shown_the_plan(towns: SparqlGraph) -> None:
    """Its statement, its kind and its mentions still count."""
    shown = {}
    for planning in (True, False):
        player = TownPlayer(QUESTIONS["choice"])
        answer = await answered(towns, player, planning=planning)
        assert [value.value for value in answer.answers] == ["Krone"]
        shown[planning] = [text for call, text in player.prompts if call == "choose"]
    assert all("Plan: town → population → number" in text for text in shown[True])
    assert not any("Plan:" in text for text in shown[False])
