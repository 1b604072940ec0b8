"""Reasoning on graphs as a state machine, played with lists of replies, and over a real graph with a planning model."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import SearchSettings
from fedkg.core.answer import Answer, Status
from fedkg.core.choice import Conclusion
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Kind
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.errors import TopicError
from fedkg.llm.base import Message
from fedkg.methods import rog
from fedkg.methods.base import Answering, Completing, Need, PlannedChain, Planning, SearchResult, Task

TOPIC, OTHER = Iri("http://x/t"), Iri("http://x/u")
Ask = Callable[..., Awaitable[Answer]]


def relations(names: str) -> tuple[DirectedRelation, ...]:
    """A chain of relations, one letter each."""
    return tuple(DirectedRelation(Iri(f"http://x/r/{name}"), "out") for name in names)


def filled(beam: PartialPath, missing: str = "z") -> PartialPath:
    """What completion makes of a chain where the graph has each relation but one, to one entity from everywhere."""
    whole = PartialPath(beam.topic, score=beam.score)
    for step in beam.steps:
        relation = step.relation
        here = relation.relation.local_name != missing
        ends = [Iri(f"{tail.value}{relation.relation.local_name}") for tail in whole.tails if isinstance(tail, Iri)]
        edges = [Edge(TOPIC, relation.relation, end, "out", "e") for end in ends if here]
        whole = whole.extend(Step(0, relation, tuple(edges), step.score))
    return whole


def drive(
    planned: Sequence[PlannedChain],
    conclude: Callable[[Answering], Conclusion],
    search: SearchSettings | None = None,
    *,
    together: bool = False,
) -> tuple[SearchResult, list[Need[object]]]:
    """Runs a search with those plans over a graph without the relation z."""
    walk = rog.search(Task((TOPIC,), search or SearchSettings(), together))
    needs: list[Need[object]] = [next(walk)]
    try:
        while True:
            match needs[-1]:
                case Planning():
                    reply: Any = tuple(planned)
                case Completing() as need:
                    reply = tuple(map(filled, need.partial_paths))
                case Answering() as need:
                    reply = conclude(need)
            needs.append(walk.send(reply))
    except StopIteration as end:
        return end.value, needs


def errors(written: int, form: int = 0, relations: int = 0, steps: int = 0) -> dict[str, float | str]:
    """The measures of so many plans, with their faults."""
    return {
        "paths written": written,
        "paths in the graph": written - form - relations - steps,
        "format errors": form,
        "relations not in the graph": relations,
        "steps not in the graph": steps,
    }


def first(_: Answering) -> Conclusion:
    """The first path answers."""
    return Conclusion((1,))


def test_plans_are_grounded_and_judged() -> None:
    """As many plans as the beam is wide, as long as the search is deep; only those two calls. A weight is a score."""
    result, needs = drive([PlannedChain(TOPIC, relations("ab"), 0.7)], first, SearchSettings(depth=3, beam=2))
    assert needs[0] == Planning((TOPIC,), 3, 2, faulty=True)
    assert [type(need).__name__ for need in needs] == ["Planning", "Completing", "Answering"]
    (beam,) = result.paths
    assert (beam.chain, beam.score) == (relations("ab"), 0.7)
    assert result.measures == {"validity ratio": 1.0, "planned steps": 2, **errors(1)}


def test_a_chain_with_a_step_that_does_not_exist_is_dropped() -> None:
    """Not shortened either: of seven planned steps four exist, and one chain is judged."""
    planned = [PlannedChain(TOPIC, relations(names)) for names in ("za", "ab", "abz")]
    result, needs = drive(planned, first)
    assert [beam.chain for need in needs if isinstance(need, Answering) for beam in need.partial_paths] == [
        relations("ab")
    ]
    assert [beam.chain for beam in result.paths] == [relations("ab")]
    assert result.measures == {"validity ratio": 4 / 7, "planned steps": 7, **errors(3, steps=2)}


def test_nothing_grounded_costs_no_answer_call() -> None:
    """And it is not said that the graph has none: what was not planned was not looked at."""
    result, needs = drive([PlannedChain(TOPIC, relations("z"))], first)
    assert result == SearchResult(measures={"validity ratio": 0.0, "planned steps": 1, **errors(1, steps=1)})
    assert not any(isinstance(need, Answering) for need in needs)


def test_no_plan_has_no_validity() -> None:
    """Nothing is divided by nothing."""
    result, needs = drive([], first)
    assert (result, len(needs)) == (SearchResult(measures={"planned steps": 0}), 1)


def test_a_plan_counts_once_whatever_the_number_of_topics() -> None:
    """It is valid as far as it leads from the topic where it leads furthest."""
    whole = filled(PartialPath(TOPIC, PlannedChain(TOPIC, relations("ab")).path.steps))
    broken = filled(PartialPath(OTHER, whole.steps), missing="a")
    walk = rog.search(Task((TOPIC, OTHER), SearchSettings()))
    next(walk)
    walk.send((PlannedChain(TOPIC, relations("ab")), PlannedChain(OTHER, relations("ab"))))
    assert walk.send((whole, broken)) == Answering((whole,))
    with pytest.raises(StopIteration) as end:
        walk.send(Conclusion())
    assert end.value.value.measures == {"validity ratio": 1.0, "planned steps": 2, **errors(1)}


@pytest.mark.parametrize("together", [True, False])
def test_the_conclusion_names_paths_and_tails(together: bool) -> None:
    """A judgement on several paths counts with all their tails."""
    planned = [PlannedChain(TOPIC, relations(names)) for names in ("a", "b")]
    conclusion = Conclusion((2,), {2: (1,)}, verdict="yes" if together else "")
    result, _ = drive(planned, lambda _: conclusion, together=together)
    assert ([beam.chain for beam in result.paths], result.tails) == ([relations("b")], ((),) if together else ((1,),))


@given(st.lists(st.text("abz", min_size=1, max_size=4), max_size=5), st.data())
def test_whatever_is_planned_only_what_exists_is_found(plans: list[str], data: st.DataObject) -> None:
    """The ratio is the share of steps before the first that is missing, and lies in 0..1; nothing is ever exhausted."""

    def conclude(need: Answering) -> Conclusion:
        return Conclusion(tuple(data.draw(st.lists(st.integers(1, len(need.partial_paths)), unique=True))))

    result, _ = drive([PlannedChain(TOPIC, relations(names)) for names in plans], conclude)
    assert all(step.edges for beam in result.paths for step in beam.steps)
    assert {beam.chain for beam in result.paths} <= {relations(names) for names in plans if "z" not in names}
    distinct = set(plans)
    steps, valid = sum(map(len, distinct)), sum(len(names.partition("z")[0]) for names in distinct)
    invented = errors(len(distinct), steps=sum("z" in names for names in distinct)) if distinct else {}
    assert result.measures == ({"validity ratio": valid / steps} if steps else {}) | {
        "planned steps": steps,
        **invented,
    }
    assert not result.exhausted


class Planner:
    """Plays a model that plans chains of relations by their shown names, and answers with the first path."""

    def __init__(self, *plans: Sequence[str], kind: Kind = "entities", verdict: str = "") -> None:
        self.plans = plans
        self.kind = kind
        self.verdict = verdict
        self.calls: list[str] = []
        self.shown = ""

    def __call__(self, messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        self.calls.append(call)
        self.shown = messages[-1].content
        number = {relation: int(number) for number, relation in re.findall(r"(?m)^(\d+)\. ([→←] .+ [→←])$", self.shown)}
        replies: dict[str, Any] = {
            "plan": {"keywords": ["film"], "kind": self.kind, "mentions": ["King Kong"]}
            | {"planning_steps": [], "declarative_statement": "It is so." if self.verdict else "*placeholder* is it."},
            "relation-paths": {
                "plans": [
                    {"relations": [number.get(relation, 99) for relation in plan], "weight": 0.9} for plan in self.plans
                ]
            },
            "answer": {"paths": [{"path": 1, "ends": []}], "verdict": self.verdict},
        }
        return json.dumps(replies[call])


DIRECTOR, SPOUSE = "→ directed by →", "→ spouse →"


async def test_a_plan_of_two_steps_ends_in_an_answer_with_a_path(ask: Ask) -> None:
    """A plan, its chain and its answer: three calls; what stands on the way has its label."""
    planner = Planner((DIRECTOR, SPOUSE))
    answer = await ask("rog", planner)
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert planner.calls == ["plan", "relation-paths", "answer"]
    assert "King Kong → directed by → Peter Jackson → spouse → Fran Walsh" in planner.shown
    assert answer.measures == {"validity ratio": 1.0, "planned steps": 2, **errors(1)}
    assert (answer.method, answer.unproven()) == ("rog", ())


async def test_a_plan_that_does_not_exist_is_no_answer(ask: Ask) -> None:
    """The spouse of a film, and of nobody: one of its two steps, nothing judged, nothing found."""
    planner = Planner((DIRECTOR, "→ starring →"))
    answer = await ask("rog", planner)
    assert (answer.status, answer.answers, planner.calls) == (Status.NOT_FOUND, (), ["plan", "relation-paths"])
    assert answer.measures == {"validity ratio": 0.5, "planned steps": 2, **errors(1, steps=1)}


async def test_plans_with_faults_are_counted_and_not_walked(ask: Ask) -> None:
    """One that is no plan, one of a relation that was not offered, one that the graph has not, and one that it has."""
    planner = Planner((DIRECTOR,), ("→ starring →", SPOUSE), ("→ invented →",), kind="entities")

    def play(messages: Sequence[Message], asked: str) -> str:
        reply = json.loads(planner(messages, asked))
        if asked == "relation-paths":
            reply["plans"].append({"relations": "director, then spouse", "weight": 1})
        return json.dumps(reply)

    answer = await ask("rog", play)
    assert [value.value for value in answer.answers] == ["Peter Jackson"]
    assert answer.measures.items() >= errors(4, form=1, relations=1, steps=1).items()


async def test_all_ends_of_a_chain_are_answers(ask: Ask) -> None:
    """Both actors, and a chain that is walked backwards; a given IRI is called by its label."""
    cast = await ask("rog", Planner(("→ starring →",)))
    assert {value.value for value in cast.answers} == {"Naomi Watts", "Jack Black"}
    planner = Planner(("← directed by ←",))
    made = await ask("rog", planner, "What did he direct?", topics=["<http://x/jackson>"])
    assert {value.value for value in made.answers} == {"King Kong", "The Two Towers"}
    assert "Peter Jackson ← directed by ←" in planner.shown


async def test_a_yes_or_no_ends_in_a_verdict(ask: Ask) -> None:
    """A judgement on the paths, which the document shows."""
    planner = Planner(("→ starring →",), kind="yesno", verdict="yes")
    answer = await ask("rog", planner, "Does Jack Black play in King Kong?")
    assert ([value.value for value in answer.answers], len(answer.paths)) == (["yes"], 2)


async def test_nobody_known_is_an_error(ask: Ask) -> None:
    """A typing error in a given IRI is not the graph's "none"."""
    with pytest.raises(TopicError, match="says nothing of http://x/nobody"):
        await ask("rog", Planner((DIRECTOR,)), "What did he direct?", topics=["<http://x/nobody>"])


@pytest.mark.parametrize("call", ["relation-paths", "answer"])
async def test_each_call_may_come_to_nothing(ask: Ask, call: str) -> None:
    """The best relations are then planned alone; no answer is not said to be none."""
    planner = Planner((DIRECTOR, SPOUSE))

    def play(messages: Sequence[Message], asked: str) -> str:
        return '{"plans": [{"relations": [99], "weight": 2}]}' if asked == call else planner(messages, asked)

    answer = await ask("rog", play)
    assert any("two unusable replies" in warning for warning in answer.warnings)
    assert answer.status is (Status.NOT_FOUND if call == "answer" else Status.ANSWERED)
    assert answer.unproven() == ()


async def test_without_a_language_model_relations_are_planned_by_their_names(ask: Ask) -> None:
    """The local model plans single relations and pairs, many of which do not exist, and answers by one that does."""
    answer = await ask("rog", question="Who was King Kong directed by?")
    assert [value.value for value in answer.answers] == ["Peter Jackson"]
    assert isinstance(answer.measures["validity ratio"], float)
    assert 0 < answer.measures["validity ratio"] < 1


def test_without_the_last_step_all_ends_of_the_chains_are_the_answer() -> None:
    """As of the paper's planner alone; the measures are the same, and a judgement is made all the same."""
    planned = [PlannedChain(TOPIC, relations(names)) for names in ("ab", "zb")]
    result, needs = drive(planned, first, SearchSettings(last_step=False))
    assert not any(isinstance(need, Answering) for need in needs)
    assert [path.chain for path in result.paths] == [relations("ab")]
    assert result.measures["validity ratio"] == 0.5
    judged, _ = drive(planned, first, SearchSettings(last_step=False), together=True)
    assert "last_step is off" in judged.note
