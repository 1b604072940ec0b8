"""The interpreter alone: needs of a method in, replies out, over a real graph in process."""

import ast
import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import pytest

from fedkg.config.settings import Form
from fedkg.core.choice import Choice, Conclusion, Decision, Verdict
from fedkg.core.events import Chosen, Event, Fetched, Judged, Proposed, Ranked, Reached, Scored, Verified, Warned
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Match
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine import question_run
from fedkg.engine.interpreter import Interpreter
from fedkg.engine.walk import EXHAUSTIVE_WIDTH, WalkRecord
from fedkg.errors import MethodError, TopicError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Completion, Request, Token
from fedkg.methods.base import (
    Answering,
    Choosing,
    Completing,
    Deducing,
    Expanding,
    Judging,
    Need,
    Picking,
    PlannedChain,
    Planning,
    Scoring,
)
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import GoldReasoner, ScriptedModel
from tests.support.interpreted import (
    COUNTRY,
    HORN,
    MAYOR,
    START,
    TOWN,
    expanded,
    interpreter_of,
    listening,
    quietly,
    scripted,
    step_to,
)


@pytest.fixture
def town(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """A town with its country and two mayors."""
    return make_graph(TOWN, name="town")


@pytest.fixture
def told() -> list[Event]:
    """The events of a walk."""
    return []


async def test_a_hop_is_ranked(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """The best candidate comes first; what was fetched and what is offered is told.

    A page is as long as the settings say.
    """
    interpreter = scripted(town, hashing, told, candidates=1)
    expansion, _ = await expanded(interpreter)
    assert [candidate.relation.relation.local_name for candidate in expansion.candidates] == ["mayor", "country"]
    assert (expansion.complete, expansion.page, interpreter.record.considered) == (True, 1, 2)
    assert [type(event) for event in told] == [Fetched, Ranked]
    (offered,) = cast("Ranked", told[1]).offered
    assert offered in {"Horn → mayor → Ana, Bo", "Horn → mayor → Bo, Ana"}
    assert interpreter.record.labels[Iri("http://x/bo")] == "Bo"


async def test_a_model_without_cost_is_offered_everything(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """Whatever the settings say of candidates and beams."""
    interpreter = scripted(town, hashing, told, None, candidates=1, beam=1)
    expansion, _ = await expanded(interpreter)
    assert (expansion.page, interpreter.context.search.beam) == (0, EXHAUSTIVE_WIDTH)


async def test_every_need_survives_nonsense(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """Steps are chosen as they rank, verified paths are kept and not finished, and no answer is no judgement."""
    interpreter = scripted(town, hashing, told)
    expansion, beams = await expanded(interpreter)
    told.clear()
    assert await interpreter.serve(Choosing(1, beams, 1)) == Decision((1,))
    assert await interpreter.serve(Picking(1, START, expansion.candidates, 1)) == (Choice(1),)
    assert await interpreter.serve(Deducing(1, beams)) == (Verdict(1, True, False), Verdict(2, True, False))
    assert not interpreter.record.judged
    conclusion = await interpreter.serve(Answering(beams))
    assert (conclusion.paths, interpreter.record.judged, interpreter.record.last_paths) == ((), False, beams)
    assert [type(event) for event in told] == [Warned, Chosen, Verified, Warned, Chosen, Warned, Verified, Warned]


@pytest.mark.parametrize(("new", "kept"), [((0,), (1,)), ((0, 1), ()), ((1,), (0,))])
async def test_paths_of_before_are_shown_and_not_judged(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event], new: Sequence[int], kept: Sequence[int]
) -> None:
    """There is a verdict for each new path, and only these are told of."""
    verdict = '"follows": true, "deducible": true'
    reply = f'{{"verdicts": [{{"path": 1, {verdict}}}, {{"path": 2, {verdict}}}]}}'
    interpreter = scripted(town, hashing, told, reply)
    _, beams = await expanded(interpreter)
    need = Deducing(2, tuple(beams[number] for number in new), tuple(beams[number] for number in kept))
    verdicts = await interpreter.serve(need)
    assert [verdict.number for verdict in verdicts] == list(range(1, len(new) + 1))
    assert isinstance(told[-1], Verified)
    assert len(told[-1].finished) == len(new)


async def test_whole_paths_have_all_their_tails(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """Of a path to one mayor the completed one leads to both; whoever lists all that were shown means all."""
    interpreter = scripted(town, hashing, told, '{"paths": [{"path": 1, "ends": [1, 2]}]}', form="pairs")
    _, (first, *_) = await expanded(interpreter)
    assert len(first.tails) == 1
    (whole,) = await interpreter.serve(Completing((first,)))
    assert (len(whole.tails), interpreter.record.last_paths) == (2, (first,))
    assert await interpreter.serve(Answering((whole,))) == Conclusion((1,))


async def test_what_was_planned_is_named_before_it_is_judged(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """No hop was ranked: the topic, the relations and the ends of a chain get their labels on the way."""
    interpreter = scripted(
        town, hashing, told, '{"plans": [{"relations": [1], "weight": 1}]}', Match(HORN, "horn", 1.0)
    )
    (chain,) = await interpreter.serve(Planning((HORN,), 1, 1))
    assert (chain.topic, [match.mention for match in interpreter.record.topics]) == (HORN, ["Horn"])
    (whole,) = await interpreter.serve(Completing((chain.path,)))
    await interpreter.serve(Answering((whole,)))
    assert {interpreter.record.labels[term] for term in (HORN, *whole.tails)} == {"Horn", "Ana", "Bo"}


async def test_a_topic_that_nobody_knows_has_no_plan(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """A given IRI is checked where its edges are fetched first.

    Where relations are given nothing was fetched, nor checked.
    """
    nobody = Iri("http://x/nobody")
    interpreter = scripted(town, hashing, told, topic=Match(nobody, "nobody", 1.0))
    with pytest.raises(TopicError, match="says nothing of http://x/nobody"):
        await interpreter.serve(Planning((nobody,), 1, 1))
    interpreter = scripted(town, hashing, told, topic=Match(nobody, "nobody", 1.0))
    given = DirectedRelation(Iri("http://x/r/mayor"), "out")
    assert await interpreter.serve(Planning((nobody,), 1, 1, (given,))) == (PlannedChain(nobody, (given,)),)


async def test_steps_of_one_path_are_scored_apart_from_it(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """The prompt shows the path once, also where it is only the topic; the scores come in the order of the steps."""
    interpreter, asked = listening(town, hashing, told, '{"scores": [{"relation": 2, "score": 0.75}]}')
    expansion, _ = await expanded(interpreter)
    assert await interpreter.serve(Scoring(1, "relations", (START,), expansion.candidates)) == (0.0, 0.75)
    assert "Path so far: Horn\nRelations:\n1. → mayor →\n2. → country →\n" in asked[-1]
    assert told[-1] == Scored(1, "relations", ("→ country →", "→ mayor →"), (0.75, 0.0))


async def test_steps_of_several_paths_are_scored_in_one_call(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """Each is shown with the path that it goes on from, by the beam that it numbers, and without what it leads to."""
    interpreter, asked = listening(town, hashing, told, '{"scores": [{"relation": 1, "score": 1}]}')
    expansion, beams = await expanded(interpreter)
    back = [step_to(number, relation) for number, relation in ((1, "country"), (0, "mayor"))]
    assert await interpreter.serve(Scoring(2, "relations", beams, tuple(back))) == (1.0, 0.0)
    assert len(expansion.candidates) == len(beams) == 2
    mayors = "Ana, Bo|Bo, Ana"
    assert re.search(rf"1. Horn → country → Dania ← country ←\n2. Horn → mayor → ({mayors}) ← mayor ←\n", asked[-1])
    assert len(asked) == 1


async def test_the_local_model_scores_steps_with_the_path_before_them(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """Of one path or of several: the chain is what resembles the question."""
    interpreter = scripted(town, hashing, told, None)
    _, beams = await expanded(interpreter)
    several = await interpreter.serve(Scoring(2, "relations", beams, (step_to(0, "country"), step_to(1, "country"))))
    alone = [await interpreter.serve(Scoring(2, "relations", (beam,), (step_to(0, "country"),))) for beam in beams]
    assert list(several) == [score for scores in alone for score in scores]
    assert several[0] > several[1]


@pytest.mark.parametrize("surroundings", [False, True])
async def test_entities_are_scored_with_their_path(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event], surroundings: bool
) -> None:
    """With what the graph says around them, if that is wanted, but for the way that they were reached."""
    interpreter, asked = listening(town, hashing, told, '{"scores": [{"entity": 1, "score": 0.5}]}')
    (whole,) = await interpreter.serve(Completing((PlannedChain(HORN, (MAYOR,)).path,)))
    pairs = tuple(msgspec.structs.replace(whole.steps[0], edges=(edge,)) for edge in whole.steps[0].edges)
    interpreter.record.labels.clear()
    need = Scoring(1, "entities", (START,), pairs, surroundings=surroundings)
    assert await interpreter.serve(need) == (0.5, 0.0)
    around = {"Ana": "", "Bo": " [← rival ← Horn United]"} if surroundings else {"Ana": "", "Bo": ""}
    for name, description in around.items():
        assert re.search(rf"\d\. Horn → mayor → {name}{re.escape(description)}\n", asked[-1])
    assert interpreter.record.last_paths == (START,)


@pytest.mark.parametrize("what", ["relations", "entities"])
@pytest.mark.parametrize(
    "scores",
    [((0.5, 2.0, -1.0), (0.25, 1.0, 0.0)), ((0.0, 0.0), (0.5, 0.5)), ((-1.0, -2.0), (0.5, 0.5)), ((), ())],
)
async def test_without_a_usable_score_the_retrievers_counts(
    town: SparqlGraph,
    hashing: LazySimilarity,
    told: list[Event],
    what: Literal["relations", "entities"],
    scores: tuple[Sequence[float], Sequence[float]],
) -> None:
    """The best one as 1, what is below 0 as 0; where it tells nothing apart all are worth one half."""
    ranked, expected = scores
    interpreter = scripted(town, hashing, told)
    expansion, _ = await expanded(interpreter)
    candidates = tuple(msgspec.structs.replace(expansion.candidates[0], score=score) for score in ranked)
    told.clear()
    assert await interpreter.serve(Scoring(1, what, (START,), candidates)) == expected
    assert [type(event) for event in told] == [Warned, Scored] * bool(ranked)


async def test_plans_are_chains_of_what_is_offered(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """Each from every topic, the heaviest first, with its weight; the prompt shows these relations and no others."""
    reply = '{"plans": [{"relations": [2], "weight": 0.2}, {"relations": [1, 2], "weight": 0.9}]}'
    interpreter, asked = listening(town, hashing, told, reply)
    dania = Iri("http://x/dania")
    chains = await interpreter.serve(Planning((HORN, dania), 2, 3, (COUNTRY, MAYOR)))
    assert chains == (
        *(PlannedChain(topic, (COUNTRY, MAYOR), 0.9) for topic in (HORN, dania)),
        *(PlannedChain(topic, (MAYOR,), 0.2) for topic in (HORN, dania)),
    )
    assert "<graph>\n1. → country →\n2. → mayor →\n</graph>" in asked[-1]
    assert told == [Proposed(("→ country → → mayor →", "→ mayor →"))]


async def test_without_relations_plans_are_made_of_those_within_reach(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """Those of as many hops as a plan may have."""
    near, far = (listening(town, hashing, told, '{"plans": []}') for _ in range(2))
    assert await near[0].serve(Planning((HORN,), 1, 3)) == ()
    assert await far[0].serve(Planning((HORN,), 2, 3)) == ()
    shown = [set(re.findall(r"(?m)^\d+\. (.*)$", asked[-1])) for _, asked in (near, far)]
    assert shown[0] == {"→ mayor →", "→ country →"}
    assert shown[1] == shown[0] | {"← rival ←", "← mayor ←", "← country ←"}


@pytest.mark.parametrize(("reply", "adequate"), [('{"adequate": true}', True), ('{"adequate": false}', False)])
async def test_what_was_judged_is_told(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event], reply: str, adequate: bool
) -> None:
    """Which paths the model has seen together, and what it said of them; where it failed only that."""
    interpreter, asked = listening(town, hashing, told, reply)
    _, beams = await expanded(interpreter)
    assert await interpreter.serve(Judging(beams)) is adequate
    judged = told[-1]
    assert isinstance(judged, Judged)
    assert (len(judged.paths), judged.adequate) == (2, adequate)
    assert all(path in asked[-1] for path in judged.paths)
    told.clear()
    assert await scripted(town, hashing, told).serve(Judging(beams)) is False
    assert [type(event) for event in told] == [Warned]


@pytest.mark.parametrize("most", [1, 5])
async def test_without_a_usable_plan_each_relation_is_one(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event], most: int
) -> None:
    """The first ones, as they rank, and the answer says so; none where none are within reach."""
    interpreter = scripted(town, hashing, told)
    chains = await interpreter.serve(Planning((HORN,), 2, most, (MAYOR, COUNTRY)))
    assert [chain.relations for chain in chains] == [(MAYOR,), (COUNTRY,)][:most]
    assert [type(event) for event in told] == [Warned, Proposed]


async def test_the_model_ranks_relations_where_it_is_the_retriever(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """In one call for all; who gets the same score stays where the retriever had it.

    What is told is what is offered.
    """
    interpreter, asked = listening(town, hashing, told, '{"scores": [{"relation": 2, "score": 0.5}]}')
    forms: tuple[Form, ...] = ("groups", "pairs")
    for form in forms:
        need = Expanding(1, (START,), retriever="tog", form=form)
        expansion = await interpreter.serve(need)
        scores = [(candidate.relation.relation.local_name, candidate.score) for candidate in expansion.candidates]
        mayors = 1 if form == "groups" else 2
        assert scores == [("country", 0.5), *[("mayor", 0.0)] * mayors]
    assert len(asked) == 2
    assert "Relations:\n1. → mayor →\n2. → country →\n</graph>" in asked[0]
    assert [type(event) for event in told] == [Fetched, Scored, Ranked] * 2
    ranked = cast("Ranked", told[2])
    assert (ranked.offered[0], ranked.scores[0]) == ("Horn → country → Dania", 0.5)
    assert len(ranked.scores) == len(ranked.offered)


async def test_where_the_model_scores_nothing_the_retrievers_order_stays(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """With a warning."""
    expansion = await scripted(town, hashing, told).serve(Expanding(1, (START,), retriever="tog"))
    assert [candidate.relation.relation.local_name for candidate in expansion.candidates] == ["mayor", "country"]
    assert [type(event) for event in told] == [Fetched, Warned, Scored, Ranked]


class Unsure(ScriptedModel):
    """Gives each path in its turn the probability that is left, as the one of true."""

    def __init__(self, *shares: float) -> None:
        super().__init__(lambda *_: '{"deducible": true}')
        self.shares = list(shares)

    async def complete(self, request: Request) -> Completion:
        """The reply with its tokens."""
        reply, share = await super().complete(request), self.shares.pop(0)
        verdict = Token("true", {"true": math.log(share), "false": math.log(1 - share)})
        spelled = (Token('{"deducible": ', {}), verdict, Token("}", {}))
        return msgspec.structs.replace(reply, spelled=spelled)


async def test_a_path_finishes_where_the_model_is_as_sure_as_not(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """One call for each new path, which is shown apart from the others; all of them follow."""
    chat = Unsure(0.49, 0.5)
    interpreter = interpreter_of(town, hashing, quietly(told), PromptedModel(chat))
    _, beams = await expanded(interpreter)
    told.clear()
    verdicts = await interpreter.serve(Deducing(1, beams, (START,), weighed=True))
    assert verdicts == (Verdict(1, True, False), Verdict(2, True, True))
    prompts = [messages[-1].content for messages, _ in chat.asked]
    assert [re.findall("(?m)^Path: .* (mayor|country) ", prompt) for prompt in prompts] == [["mayor"], ["country"]]
    assert all(prompt.count("\n- ") == 2 for prompt in prompts)
    (event,) = told
    assert isinstance(event, Verified)
    assert (len(event.kept), len(event.finished)) == (2, 1)


async def test_where_steps_lead_to_is_told(town: SparqlGraph, hashing: LazySimilarity) -> None:
    """Each stage with the ends of its steps, by IRI and by label: whoever measures sees where the answer got lost."""
    told: list[Event] = []
    reply = '{"picks": [{"offer": 1, "ends": []}], "decides": false, "more": false}'
    interpreter = interpreter_of(town, hashing, told.append, PromptedModel(ScriptedModel(lambda *_: reply)))
    expansion, beams = await expanded(interpreter)
    await interpreter.serve(Choosing(1, beams, 1))
    reached = [event for event in told if isinstance(event, Reached)]
    assert [event.stage for event in reached] == ["offered", "chosen", "kept", "finished"]
    assert [len(event.ends) for event in reached] == [len(expansion.candidates), 1, 1, 0]
    assert reached[1].ends == reached[0].ends[:1]
    assert {"http://x/ana", "Ana", "http://x/bo", "Bo"} in reached[0].ends


async def test_without_probabilities_no_path_finishes(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """A server may take the argument and give none: the walk goes on."""
    interpreter, _ = listening(town, hashing, told, '{"deducible": true}')
    _, beams = await expanded(interpreter)
    verdicts = await interpreter.serve(Deducing(1, beams, weighed=True))
    assert [(verdict.follows, verdict.finishes) for verdict in verdicts] == [(True, False)] * 2
    assert "without the log-probabilities" in next(event.message for event in told if isinstance(event, Warned))


async def test_paths_that_meet_are_shown_as_one(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """In one line, with the labels of both, and with the ends that they have in common."""
    interpreter, asked = listening(town, hashing, told, '{"paths": [{"path": 1, "ends": []}]}')
    bo, rival = Iri("http://x/bo"), Iri("http://x/united")
    mayor = Edge(HORN, MAYOR.relation, bo, "out", "town")
    other = Edge(rival, Iri("http://x/r/rival"), bo, "out", "town")
    first, second = START.extend(Step(0, MAYOR, (mayor,))), PartialPath(rival).extend(Step(0, other.walked, (other,)))
    assert await interpreter.serve(Answering((first, first), ((second,),))) == Conclusion((1,))
    shown = re.findall(r"(?m)^\d\. (.*)$", asked[-1])
    assert shown == ["Horn → mayor → Bo; also Horn United → rival → Bo", "Horn → mayor → Bo"]


class Unheard(Need[int], frozen=True):
    """A need that nobody serves."""


async def test_a_need_without_a_handler_is_an_error(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """It names the need, and says what is missing."""
    with pytest.raises(MethodError, match="Unheard") as caught:
        await scripted(town, hashing, told).serve(Unheard())
    assert "handles" in caught.value.hint


def test_neither_half_writes_into_the_other() -> None:
    """The run of a question sets only attributes of its own.

    Of a walk the handlers write the record, and nothing else.
    """
    engine = Path(question_run.__file__).parent
    targets = _written(engine / "question_run.py") | _written(engine / "interpreter.py")
    assert {name for name in targets if not re.fullmatch(r"self\.\w+", name)} == set()
    handlers = set().union(*(_written(path) for path in (engine / "handlers").glob("*.py")))
    records = ("record", "walk.record", "self.record")
    written = {f"{record}.{field}" for record in records for field in WalkRecord.__dataclass_fields__}
    assert handlers - written == {"self.context", "self.record", "self._kind"}
    assert "walk.record.labels" in handlers


def test_a_context_never_changes(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """What a walk works on stays what it was made with."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        scripted(town, hashing, told).context.question = "?"  # type: ignore[misc]  # that is the test


def _written(path: Path) -> set[str]:
    """The attributes that a file sets, such as `self._plan`."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in nodes if isinstance(node, ast.AugAssign | ast.AnnAssign)]
    return {ast.unparse(target) for target in targets if isinstance(target, ast.Attribute)}


@pytest.mark.parametrize("number", [0, -1, 99, 1.5, float("nan")])
async def test_numbers_of_a_reasoner_that_were_not_offered_are_not_walked(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event], number: Any
) -> None:
    """A reasoner of one's own is believed no more than a reply: the ranking chooses, and nothing counts as judged."""

    class Wild(GoldReasoner):
        """Chooses what nobody offered."""

        async def ask(self, call: Any) -> Any:
            """That number."""
            return (Choice(number),)

    interpreter = scripted(town, hashing, told)
    interpreter = Interpreter(dataclasses.replace(interpreter.context, reasoner=Wild({})))
    expansion, _ = await expanded(interpreter)
    assert await interpreter.serve(Picking(1, START, expansion.candidates, 1)) == (Choice(1),)
    assert not interpreter.record.judged
