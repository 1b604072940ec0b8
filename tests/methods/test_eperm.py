"""EPERM as a state machine, played with lists of replies, and over a real graph with a model that weighs."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import SearchSettings
from fedkg.core.answer import Answer, Status
from fedkg.core.choice import Conclusion
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.errors import BudgetError
from fedkg.llm.base import Message
from fedkg.methods import eperm
from fedkg.methods.base import (
    Answering,
    Completing,
    Expanding,
    Expansion,
    Need,
    PlannedChain,
    Planning,
    Scoring,
    SearchResult,
    Task,
)
from fedkg.methods.eperm import OFFERED

TOPIC = Iri("http://x/t")
RELATIONS, PLANS, ENTITIES = (getattr(SearchSettings(), f"top_{name}") for name in ("relations", "plans", "entities"))
MEASURES: dict[str, float | str] = {"plans": 0, "grounded plans": 0, "relations in the subgraph": 0}
Weigh = Callable[[str], float]
Ask = Callable[..., Awaitable[Answer]]


def relation(name: str) -> DirectedRelation:
    """An outgoing relation of that name."""
    return DirectedRelation(Iri(f"http://x/r/{name}"), "out")


def step(starts: Sequence[Iri], name: str, tails: int, number: int = 0, score: float = 0.0) -> Step:
    """A step over the relation `name` from each of the starts to so many entities, called after the way to them."""
    edges = (
        Edge(start, relation(name).relation, Iri(f"{start.value}.{name}{tail}"), "out", "e")
        for start in starts
        for tail in range(tails)
    )
    return Step(number, relation(name), tuple(edges), score)


def named(candidate: Step) -> list[str]:
    """What the ends of a step are called, such as t.a0.b1."""
    return [tail.text.removeprefix("<http://x/").removesuffix(">") for tail in candidate.tails]


class Driver:
    """A graph with the `names` as relations of every node, each to `tails` entities, and a model that weighs by name.

    `plans` are chains such as "ab" with their weights; `missing` is a relation that the graph turns out not to have.
    """

    def __init__(
        self, names: str = "abc", tails: int = 2, weigh: Weigh = lambda _: 0.5, missing: str = "", **plans: float
    ) -> None:
        self.names = names
        self.tails = tails
        self.weigh = weigh
        self.missing = missing
        self.plans = plans
        self.complete = True

    def __call__(self, need: Need[object]) -> Any:
        """The reply to a need."""
        match need:
            case Expanding():
                steps = [self._step(n, beam, name) for n, beam in enumerate(need.partial_paths) for name in self.names]
                return Expansion(tuple(steps), self.complete, page=1)
            case Scoring(what="relations"):
                return tuple(self.weigh(str(candidate.relation.relation.local_name)) for candidate in need.candidates)
            case Scoring():
                return tuple(self.weigh(named(candidate)[0]) for candidate in need.candidates)
            case Planning():
                return tuple(
                    PlannedChain(topic, tuple(map(relation, names)), weight)
                    for names, weight in self.plans.items()
                    for topic in need.topics
                )
            case Completing():
                return tuple(map(self._whole, need.partial_paths))
            case Answering():
                return Conclusion(tuple(range(1, len(need.partial_paths) + 1)))

    def _step(self, number: int, beam: PartialPath, name: str) -> Step:
        starts = [tail for tail in beam.tails if isinstance(tail, Iri)]
        return step(starts[:2], name, self.tails, number, 0.1)

    def _whole(self, beam: PartialPath) -> PartialPath:
        """The beam as far as the graph has its relations."""
        whole = PartialPath(beam.topic)
        for planned in beam.steps:
            name = str(planned.relation.relation.local_name)
            starts = [tail for tail in whole.tails if isinstance(tail, Iri)]
            whole = whole.extend(step(starts, name, 0 if name == self.missing else self.tails))
        return whole


def drive(
    answer: Callable[[Need[object]], Any], *, topics: Sequence[Iri] = (TOPIC,), together: bool = False, **search: Any
) -> tuple[SearchResult, list[Need[object]]]:
    """Runs a search; `answer` is the driver, of which an exception is thrown into the search."""
    walk = eperm.search(Task(tuple(topics), SearchSettings(**({"depth": 2} | search)), together))
    needs: list[Need[object]] = [next(walk)]
    try:
        while True:
            reply = answer(needs[-1])
            needs.append(walk.throw(reply) if isinstance(reply, Exception) else walk.send(reply))
    except StopIteration as end:
        return end.value, needs


def kinds(needs: Sequence[Need[object]]) -> list[str]:
    """The names of the needs, in order; of a scoring what is scored."""
    return [need.what if isinstance(need, Scoring) else type(need).__name__ for need in needs]


def scored(needs: Sequence[Need[object]], what: str, depth: int) -> Scoring:
    """The one scoring of relations or entities at that depth."""
    (scoring,) = [need for need in needs if isinstance(need, Scoring) and (need.what, need.depth) == (what, depth)]
    return scoring


def shown(needs: Sequence[Need[object]]) -> tuple[PartialPath, ...]:
    """What the answer call sees."""
    (beams,) = [need.partial_paths for need in needs if isinstance(need, Answering)]
    return beams


def test_the_three_stages_follow_each_other() -> None:
    """Per hop one call for relations, one plan, per hop one call for entities, one answer: 2D + 2 calls."""
    result, needs = drive(Driver(ab=0.9, c=0.4))
    retrieved, weighed = ["Expanding", "relations"] * 2, ["entities"] * 2
    assert kinds(needs) == [*retrieved, "Planning", "Completing", *weighed, "Answering"]
    assert result.measures == {"plans": 2, "grounded plans": 2, "relations in the subgraph": 3}


@pytest.mark.parametrize(("depth", "hops"), [(1, 1), (3, 3), (50, 3)])
def test_no_more_than_three_hops(depth: int, hops: int) -> None:
    """The settings bound the hops further; plans may be as long."""
    _, needs = drive(Driver(a=0.5), depth=depth)
    assert kinds(needs).count("Expanding") == hops
    assert [need.depth for need in needs if isinstance(need, Planning)] == [hops]


def test_the_best_relations_are_walked_and_planned_with() -> None:
    """The top K over all paths; the plan call is offered what they are called, the best first, and no other."""
    names = "abcdefghijklmno"
    _, needs = drive(Driver(names, weigh=lambda name: names.index(name[-1]) / 20 if len(name) == 1 else 0.5, o=1.0))
    walked = [need.partial_paths for need in needs if isinstance(need, Expanding)][1]
    assert [beam.chain[0] for beam in walked] == [relation(name) for name in names[::-1][:RELATIONS]]
    offered = next(need.relations for need in needs if isinstance(need, Planning))
    assert offered[0] == relation("o")
    assert set(offered) <= {relation(name) for name in names[-RELATIONS:]}


@pytest.mark.parametrize(("candidates", "shown_at_once"), [(None, OFFERED), (7, 7), (500, 130)])
def test_as_many_steps_are_scored_as_the_settings_say(candidates: int | None, shown_at_once: int) -> None:
    """Not the page of a retriever: what the model scores it has to see."""
    steps = tuple(step([TOPIC], f"r{number}", 1) for number in range(130))

    def answer(need: Need[object]) -> Any:
        return Expansion(steps, complete=True, page=10) if isinstance(need, Expanding) else Driver()(need)

    _, needs = drive(answer, candidates=candidates)
    assert len(scored(needs, "relations", 1).candidates) == shown_at_once


def test_the_weight_of_a_path_is_the_product() -> None:
    """Plan by entity by entity (Eq. 3); the heaviest is shown first, with its heaviest end first."""
    weights = {"t.a0": 0.5, "t.a1": 1.0, "t.a0.b0": 1.0, "t.a0.b1": 1.0, "t.a1.b0": 0.25, "t.a1.b1": 0.75, "t.c0": 0.5}
    _, needs = drive(Driver(weigh=lambda name: weights.get(name, 0.1), c=1.0, ab=0.8))
    light, heavy = shown(needs)[::-1]
    assert [step.score for step in (*heavy.steps, *light.steps)] == pytest.approx([0.8, 0.6, 0.5])
    assert named(heavy.steps[-1]) == ["t.a1.b1", "t.a1.b0", "t.a0.b0", "t.a0.b1"]
    assert heavy.score == heavy.steps[-1].score


def cities(**search: Any) -> tuple[SearchResult, list[Need[object]]]:
    """One plan of one step that leads to three cities, each of which scores otherwise."""
    return drive(Driver(tails=3, weigh=lambda name: int(name[-1]) / 2 if "." in name else 0.5, a=0.5), **search)


def test_each_end_of_a_plan_keeps_its_own_weight() -> None:
    """They are shown as one path, its weight is the heaviest; each answer stands on a path of its own weight."""
    result, needs = cities()
    (need,) = [need for need in needs if isinstance(need, Answering)]
    assert [named(beam.steps[-1]) for beam in need.partial_paths] == [["t.a2", "t.a1", "t.a0"]]
    assert need.weights == ((0.5, 0.25, 0.0),)
    assert [(beam.score, named(beam.steps[-1])) for beam in result.paths] == [
        (0.5, ["t.a2"]),
        (0.25, ["t.a1"]),
        (0.0, ["t.a0"]),
    ]


def test_ends_that_are_told_apart_keep_their_weights() -> None:
    """The model names the second and third end of a path: two answers, each with its own weight."""
    driver = Driver(tails=3, weigh=lambda name: int(name[-1]) / 2 if "." in name else 0.5, a=0.5)

    def answer(need: Need[object]) -> Any:
        return Conclusion((1,), {1: (2, 3)}) if isinstance(need, Answering) else driver(need)

    result, _ = drive(answer)
    assert [(beam.score, numbers) for beam, numbers in zip(result.paths, result.tails, strict=True)] == [
        (0.25, (1,)),
        (0.0, (1,)),
    ]


def test_without_the_answer_predictor_all_ends_answer_the_heaviest_first() -> None:
    """Table 4: no answer call; a judgement is made all the same, and says so."""
    result, needs = cities(last_step=False)
    assert "Answering" not in kinds(needs)
    assert [named(beam.steps[-1]) for beam in result.paths] == [["t.a2"], ["t.a1"], ["t.a0"]]
    result, needs = cities(last_step=False, together=True)
    assert kinds(needs)[-1] == "Answering"
    assert "last_step is off" in result.note


def test_without_weights_nothing_is_scored_or_left_out() -> None:
    """Table 3, without filtering: all paths of the plans, as the graph has them, and no entity call."""
    result, needs = drive(Driver(tails=5, ab=0.9, c=0.2), weights=False)
    assert "entities" not in kinds(needs)
    (need,) = [need for need in needs if isinstance(need, Answering)]
    assert not any(need.weights)
    assert [len(beam.tails) for beam in need.partial_paths] == [25, 5]
    assert [beam.complete for beam in result.paths] == [True, True]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_relations_plans_and_entities_are_bounded_as_the_settings_say(most: int) -> None:
    """K, s and S of the paper's sweeps."""
    plans: dict[str, Any] = {f"{name}a": 0.5 for name in "abcdef"}
    driver = Driver("abcdef", tails=6, **plans)
    _, needs = drive(driver, top_relations=most, top_plans=most, top_entities=most)
    walked = [need.partial_paths for need in needs if isinstance(need, Expanding)][1]
    assert len(walked) == most
    assert [need.most for need in needs if isinstance(need, Planning)] == [most]
    gone_on = scored(needs, "entities", 2).partial_paths
    assert max(sum(beam.chain == chain for beam in gone_on) for chain in {beam.chain for beam in gone_on}) == most


def test_entities_are_scored_with_their_path_and_surroundings() -> None:
    """Each apart, on the path that leads to it."""
    _, needs = drive(Driver(ab=0.9))
    need = scored(needs, "entities", 2)
    assert need.surroundings
    assert [(named(need.partial_paths[pair.path_index].steps[-1]), named(pair)) for pair in need.candidates[1:3]] == [
        (["t.a0"], ["t.a0.b1"]),
        (["t.a1"], ["t.a1.b0"]),
    ]


def test_only_the_best_entities_are_gone_on_from() -> None:
    """The top S of a hop; the path then says that it may have further ends. Its own ends are all kept."""
    _, needs = drive(Driver(tails=5, weigh=lambda name: int(name[-1]) / 5 if "." in name else 0.5, ab=1.0))
    need = scored(needs, "entities", 2)
    assert [named(beam.steps[-1]) for beam in need.partial_paths] == [["t.a4"], ["t.a3"], ["t.a2"]]
    (path,) = shown(needs)
    assert len(path.tails) == 5 * ENTITIES
    assert [step.complete for step in path.steps] == [False, True]


def test_entities_beyond_the_frontier_are_not_scored() -> None:
    """About as many as one batch fetches: in the middle of a plan the others are left out, at its end they are last."""
    _, needs = drive(Driver(tails=8, ab=1.0), frontier=2)
    assert [len(scored(needs, "entities", hop).candidates) for hop in (1, 2)] == [2, 2]
    (path,) = shown(needs)
    assert (len(path.steps[0].tails), len(path.tails)) == (2, 16)
    assert not path.complete


def test_a_plan_that_the_graph_does_not_have_is_dropped() -> None:
    """The others stand; where none is left nothing is judged."""
    result, needs = drive(Driver(missing="b", ab=0.9, c=0.4))
    assert [beam.chain for beam in shown(needs)] == [(relation("c"),)]
    assert (result.measures["plans"], result.measures["grounded plans"]) == (2, 1)
    result, needs = drive(Driver(missing="b", ab=0.9))
    assert (result.paths, result.exhausted, kinds(needs)[-1]) == ((), False, "Completing")


def test_an_entity_from_which_the_plan_leads_nowhere_is_no_part_of_a_path() -> None:
    """It takes no place among the top S, and costs no score."""
    walk = PartialPath(TOPIC, (step([TOPIC], "a", 4), step([Iri("http://x/t.a3")], "b", 1)))

    def answer(need: Need[object]) -> Any:
        return (walk,) if isinstance(need, Completing) else Driver(ab=1.0)(need)

    _, needs = drive(answer)
    assert [named(pair) for pair in scored(needs, "entities", 1).candidates] == [["t.a3"]]
    assert [named(step) for step in shown(needs)[0].steps] == [["t.a3"], ["t.a3.b0"]]


def test_a_path_does_not_go_back_to_where_it_has_been() -> None:
    """From one of two people to a third and back: the way over the other one is another path, this one ends."""
    first, two, third = (Iri(f"http://x/{name}") for name in ("one", "two", "third"))
    ends = [(TOPIC, first), (TOPIC, two)], [(first, third)], [(third, first), (third, two)]
    knows = relation("k").relation
    steps = (Step(0, relation("k"), tuple(Edge(a, knows, b, "out", "e") for a, b in pairs)) for pairs in ends)
    walk = PartialPath(TOPIC, tuple(steps))

    def answer(need: Need[object]) -> Any:
        return (walk,) if isinstance(need, Completing) else Driver(kkk=1.0)(need)

    _, needs = drive(answer, depth=3)
    assert shown(needs)[0].tails == (two,)


def test_each_topic_has_its_paths_and_a_plan_counts_once() -> None:
    """Algorithm 1 walks every plan from every topic; what decides together counts with all its ends."""
    other = Iri("http://x/u")
    result, needs = drive(Driver(a=0.9), topics=(TOPIC, other), together=True)
    assert [beam.topic for beam in shown(needs)] == [TOPIC, other]
    assert (result.measures["plans"], result.tails) == (1, ((), ()))


@pytest.mark.parametrize("complete", [True, False])
def test_a_topic_without_edges_is_the_graphs_own_none(complete: bool) -> None:
    """If nobody left anything out; no call is paid for."""
    driver = Driver(names="")
    driver.complete = complete
    result, needs = drive(driver)
    assert (result, kinds(needs)) == (SearchResult(exhausted=complete, measures=MEASURES), ["Expanding"])


def test_none_is_sure_only_where_every_relation_within_reach_was_weighed() -> None:
    """A walk that ends by itself, nothing cut, and a model that sees no plan in it; the bound of depth is no end."""

    def answer(need: Need[object]) -> Any:
        steps = (step([TOPIC], "a", 1),) if isinstance(need, Expanding) and need.depth == 1 else ()
        return Expansion(steps, complete=True) if isinstance(need, Expanding) else Driver()(need)

    assert drive(answer)[0].exhausted
    assert not drive(answer, depth=1)[0].exhausted
    assert not drive(Driver("abcdefghijkl"))[0].exhausted


@pytest.mark.parametrize("last", [Completing, Scoring, Answering])
def test_a_spent_budget_leaves_the_measures(last: type[Need[object]]) -> None:
    """Without a judgement on its paths there is no answer."""
    driver = Driver(ab=0.9)

    def answer(need: Need[object]) -> Any:
        entities = not isinstance(need, Scoring) or need.what == "entities"
        return BudgetError("spent", budget="calls") if isinstance(need, last) and entities else driver(need)

    result, _ = drive(answer)
    assert (result.paths, result.exhausted, result.measures["plans"]) == ((), False, 1)


def test_before_there_are_plans_a_spent_budget_ends_the_search() -> None:
    """There is nothing to return."""
    with pytest.raises(BudgetError):
        drive(lambda _: BudgetError("spent", budget="seconds"))


@given(st.data(), st.integers(1, 3), st.integers(1, 5), st.integers(1, 30))
def test_weights_and_bounds_hold_whatever_is_scored(data: st.DataObject, depth: int, tails: int, most: int) -> None:
    """Weights lie in 0..1 and never grow along a path; of s plans, S entities and K relations there are never more."""
    chains = st.text("abcde", min_size=1, max_size=depth)
    shares = st.floats(0, 1)
    plans: dict[str, Any] = data.draw(st.dictionaries(chains, shares, min_size=1, max_size=PLANS))
    driver = Driver("abcdefghijkl", tails, lambda _: data.draw(shares), **plans)
    result, needs = drive(driver, depth=depth, frontier=most)
    assert len(shown(needs)) <= len(plans) <= PLANS
    for beam in result.paths:
        weights = [step.score for step in beam.steps]
        assert all(0 <= weight <= 1 for weight in weights)
        assert sorted(weights, reverse=True) == weights
        assert all(len(step.tails) <= ENTITIES for step in beam.steps[:-1])
        assert all(beam.walks(tail) for tail in beam.tails)
        assert beam.score == beam.steps[-1].score or len(shown(needs)) < len(result.paths)
    for same in {beam.chain: [] for beam in result.paths}:
        heaviest = [beam.score for beam in result.paths if beam.chain == same]
        assert heaviest == sorted(heaviest, reverse=True)
    assert all(len(need.partial_paths) <= RELATIONS for need in needs if isinstance(need, Expanding))
    (planned,) = [need for need in needs if isinstance(need, Planning)]
    assert (planned.most, len(set(planned.relations))) == (PLANS, len(planned.relations))


class Weigher:
    """Plays a model that plans by relation names, scores what has one of the words, and answers with the first path."""

    def __init__(self, *chain: str, words: Sequence[str] = (), **instead: Any) -> None:
        self.chain = chain
        self.words = [*chain, *words]
        self.instead = instead
        self.asked: dict[str, list[str]] = {}

    def __call__(self, messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        user = messages[1].content
        self.asked.setdefault(call, []).append(user)
        lines = re.findall(r"(?m)^(\d+)\. (.*)$", user)
        helping = [int(number) for number, text in lines if any(word in text for word in self.words)]
        numbers = {text: int(number) for number, text in lines}
        replies: dict[str, Any] = {
            "plan": {
                "keywords": ["director", "spouse"],
                "planning_steps": [],
                "declarative_statement": "*placeholder* is the spouse of the director.",
                "kind": "entities",
                "mentions": ["King Kong"],
            },
            "score-relations": {"scores": [{"relation": number, "score": 0.9} for number in helping]},
            "score-entities": {"scores": [{"entity": number, "score": 0.8} for number in helping]},
            "relation-paths": {
                "plans": [{"relations": [numbers.get(f"→ {name} →", 0) for name in self.chain], "weight": 0.5}]
            },
            "weighted-answer": {"paths": [{"path": 1, "ends": []}]},
        }
        return json.dumps({**replies, **self.instead}[call])


async def test_a_model_that_weighs_comes_to_the_answer(ask: Ask) -> None:
    """Two hops over a real graph: the path proves the answer, and its score is the product of all weights."""
    model = Weigher("directed by", "spouse")
    answer = await ask("eperm", model, depth=2)
    assert [(value.value, value.grounded) for value in answer.answers] == [("Fran Walsh", True)]
    assert answer.paths[0].score == pytest.approx(0.5 * 0.8 * 0.8)
    assert (answer.method, answer.measures["grounded plans"]) == ("eperm", 1)
    assert len([user for users in model.asked.values() for user in users]) == 1 + 2 * 2 + 2


async def test_what_a_model_sees(ask: Ask) -> None:
    """At the first hop steps beside their path, at the second each with its own; entities with what is around them."""
    model = Weigher("directed by", "spouse")
    await ask("eperm", model, depth=2)
    first, second = model.asked["score-relations"]
    assert "Path so far: King Kong\n" in first
    assert re.search(r"\d\. → directed by →\n", first)
    assert re.search(r"\d\. King Kong → directed by → Peter Jackson → spouse →\n", second)
    assert re.search(
        r"1\. King Kong → directed by → Peter Jackson \[.*→ spouse → Fran Walsh.*\]\n", model.asked["score-entities"][0]
    )
    assert re.search(
        r"1\. King Kong → directed by → Peter Jackson → spouse → Fran Walsh \(score [01]\.\d\d\)\n",
        model.asked["weighted-answer"][0],
    )


NONSENSE: dict[str, Any] = {
    "score-relations": {"scores": [{"relation": 99, "score": 7}]},
    "score-entities": {"scores": "all of them"},
    "relation-paths": {"plans": [{"relations": [1, 99], "weight": -3}]},
    "weighted-answer": {},
}


@pytest.mark.parametrize("call", NONSENSE)
async def test_nonsense_is_no_end(ask: Ask, call: str) -> None:
    """The search goes on by its own ranking and says so; only who fails to answer gives no answer."""
    answer = await ask("eperm", Weigher("directed by", "spouse", **{call: NONSENSE[call]}), depth=2)
    assert answer.warnings
    assert (answer.status is Status.ANSWERED) == (call != "weighted-answer")
    assert not answer.unproven()


@pytest.mark.parametrize("call", ["score-relations", "score-entities"])
async def test_where_nothing_helps_the_plan_decides(ask: Ask, call: str) -> None:
    """No score is a score of 0: the top K and the top S are as the retriever and the graph have them."""
    nothing: dict[str, Any] = {call: {"scores": []}}
    answer = await ask("eperm", Weigher("directed by", "spouse", **nothing), depth=2)
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert (answer.paths[0].score == 0) == (call == "score-entities")


async def test_no_plan_is_no_answer(ask: Ask) -> None:
    """Beyond the second hop nothing was looked at: that is not found, and not the graph's none."""
    unplanned: dict[str, Any] = {"relation-paths": {"plans": []}}
    answer = await ask("eperm", Weigher("directed by", **unplanned), depth=2)
    assert (answer.status, answer.answers) == (Status.NOT_FOUND, ())
    assert answer.measures["plans"] == 0


async def test_without_a_model_it_answers_by_likeness(ask: Ask) -> None:
    """The local model scores and plans by the names of relations."""
    answer = await ask("eperm", question="Who was King Kong directed by?")
    assert [value.value for value in answer.answers] == ["Peter Jackson"]
    assert all(0 <= path.score <= 1 for path in answer.paths)


def test_a_branch_takes_only_edges_of_its_own() -> None:
    """Of the edges of a step those that start where the path has come to."""
    first = step([TOPIC], "a", 2)
    ahead = step([tail for tail in first.tails if isinstance(tail, Iri)], "b", 1)
    narrowed = msgspec.structs.replace(first, edges=first.edges[:1])
    assert named(eperm.Branch(0, PartialPath(TOPIC, (narrowed,)), (ahead,)).step) == ["t.a0.b0"]


def test_a_branch_goes_back_only_where_nothing_goes_on() -> None:
    """The spouse of one's spouse is oneself; the child of one's parent is first of all a sibling."""
    back = Edge(Iri("http://x/t.a0"), relation("b").relation, TOPIC, "out", "e")
    path, on = PartialPath(TOPIC, (step([TOPIC], "a", 1),)), step([Iri("http://x/t.a0")], "b", 1).edges
    for edges, ends in (((back,), ["t"]), ((back, *on), ["t.a0.b0"])):
        assert named(eperm.Branch(0, path, (Step(0, relation("b"), edges),)).step) == ends
