"""Think-on-Graph as a state machine, played with lists of replies, and over a real graph with a model that scores."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import SearchSettings
from fedkg.core.answer import Answer, Status
from fedkg.core.choice import Conclusion
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Edge, Iri
from fedkg.llm.base import Message
from fedkg.methods import tog
from fedkg.methods.base import Answering, Completing, Expanding, Expansion, Judging, Need, Scoring, SearchResult
from tests.support import searches

TOPICS = (Iri("http://x/t"),)


def group(number: int, beam: PartialPath, name: str, tails: int) -> Step:
    """The step from a path's end over the relation `name` to so many entities, each called after the way to it."""
    start = beam.tails[0]
    assert isinstance(start, Iri)
    ends = [Iri(f"{start.value}.{name}{tail}") for tail in range(tails)]
    edges = tuple(Edge(start, Iri(f"http://x/r/{name}"), end, "out", "e") for end in ends)
    return Step(number, edges[0].walked, edges, 0.5)


class Driver:
    """Offers the relations a, b and c of each path, each with so many entities, the first of which scores otherwise."""

    def __init__(self, enough_at: int = 0, tails: int = 2, complete: bool = True, **scores: float) -> None:
        self.enough_at = enough_at
        self.tails = tails
        self.complete = complete
        self.scores = {"a": 0.9, "b": 0.5, "c": 0.0, "first": 0.8, "second": 0.4} | scores
        self.depth = 0

    def __call__(self, need: Need[object]) -> Any:
        """The reply to a need."""
        match need:
            case Expanding():
                self.depth = need.depth
                steps = [
                    group(n, beam, name, self.tails) for n, beam in enumerate(need.partial_paths) for name in "abc"
                ]
                return Expansion(tuple(steps), self.complete, page=1)
            case Scoring(what="relations"):
                return tuple(self.scores[str(step.relation.relation.local_name)] for step in need.candidates)
            case Scoring():
                return tuple(self.scores["first" if named(step)[-1] == "0" else "second"] for step in need.candidates)
            case Judging():
                return self.depth == self.enough_at
            case Completing():
                return need.partial_paths
            case Answering():
                return Conclusion(tuple(range(1, len(need.partial_paths) + 1)))


def named(step: Step) -> str:
    """What the first entity of a step is called, such as t.a0.b1."""
    tail = step.tails[0]
    assert isinstance(tail, Iri)
    return tail.value.removeprefix("http://x/")


drive = partial(searches.drive, topics=TOPICS, search=tog.search)


def kinds(needs: Sequence[Need[object]]) -> list[str]:
    """The names of the needs, in order; of a scoring what is scored."""
    return [need.what if isinstance(need, Scoring) else type(need).__name__ for need in needs]


def expanded(needs: Sequence[Need[object]], depth: int) -> list[str]:
    """The ends of the paths that were expanded at that depth."""
    (need,) = [need for need in needs if isinstance(need, Expanding) and need.depth == depth]
    return [named(beam.steps[-1]) for beam in need.partial_paths]


def test_each_depth_scores_relations_then_entities_then_judges() -> None:
    """One call per path for relations, one for all entities, one for adequacy; the answer call is the last."""
    _, needs = drive(SearchSettings(depth=2, beam=2), Driver())
    first, second = ["relations", "entities", "Judging"], ["relations", "relations", "entities", "Judging"]
    assert kinds(needs) == ["Expanding", *first, "Expanding", *second, "Answering", "Completing"]


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (2, 3), (4, 4)])
def test_the_calls_stay_within_what_is_said(width: int, depth: int) -> None:
    """N · D + 2D + 1 calls of the model at most."""
    _, needs = drive(SearchSettings(depth=depth, beam=width), Driver())
    calls = [kind for kind in kinds(needs) if kind not in ("Expanding", "Completing")]
    assert len(calls) <= width * depth + 2 * depth + 1


def test_entities_are_kept_by_the_product_of_both_scores() -> None:
    """The second entity of the best relation (0.36) stays behind the first one of the next (0.4)."""
    _, needs = drive(SearchSettings(depth=2, beam=2), Driver())
    assert expanded(needs, 2) == ["t.a0", "t.b0"]
    _, needs = drive(SearchSettings(depth=2, beam=2), Driver(b=0.1))
    assert expanded(needs, 2) == ["t.a0", "t.a1"]


def test_relations_are_pruned_over_all_paths() -> None:
    """Entities are looked at for the best N relations only, whatever path they go on from."""
    _, needs = drive(SearchSettings(depth=2, beam=2), Driver())
    looked = [need.candidates for need in needs if isinstance(need, Scoring) and need.what == "entities"]
    assert [named(step) for step in looked[1]] == ["t.a0.a0", "t.a0.a1", "t.b0.a0", "t.b0.a1"]


def test_what_does_not_help_is_dropped() -> None:
    """A score of 0 is a judgement: no path is walked to fill the width."""
    _, needs = drive(SearchSettings(depth=2, beam=4), Driver(b=0.0))
    assert expanded(needs, 2) == ["t.a0", "t.a1"]


def test_enough_evidence_ends_the_search_and_is_completed() -> None:
    """The answer call sees the paths of that depth with all their ends, those of one chain as one."""
    result, needs = drive(SearchSettings(depth=4, beam=2), Driver(enough_at=1, b=0.1))
    assert kinds(needs) == ["Expanding", "relations", "entities", "Judging", "Completing", "Answering"]
    (beam,) = result.paths
    assert [tail.text for tail in beam.tails] == ["<http://x/t.a0>", "<http://x/t.a1>"]
    assert not result.exhausted


def test_never_enough_leaves_the_answer_to_the_kept_paths_of_every_depth() -> None:
    """The model's memory is not asked; the deepest paths come first."""
    _, needs = drive(SearchSettings(depth=2, beam=1), Driver())
    (shown,) = [need.partial_paths for need in needs if isinstance(need, Answering)]
    assert [named(beam.steps[-1]) for beam in shown] == ["t.a0.a0", "t.a0"]


def test_a_judgement_rests_on_all_evidence() -> None:
    """A path that was pruned is shown again, to whoever judges whether it is enough and to the answer call."""

    class Crossed(Driver):
        """Only the first of two paths goes on."""

        def __call__(self, need: Need[object]) -> Any:
            if isinstance(need, Scoring) and need.depth == 2 and need.partial_paths[0].topic != topics[0]:
                return (0.0,) * len(need.candidates)
            return super().__call__(need)

    topics = (Iri("http://x/t"), Iri("http://x/u"))
    result, needs = drive(SearchSettings(depth=3, beam=2), Crossed(enough_at=2, b=0.0), together=True, topics=topics)
    judged = [need.partial_paths for need in needs if isinstance(need, Judging)]
    assert [{beam.topic for beam in shown} for shown in judged] == [set(topics), set(topics)]
    assert kinds(needs)[-2:] == ["Completing", "Answering"]
    assert {beam.topic for beam in result.paths} == set(topics)


def test_nothing_that_helps_ends_the_search_without_further_calls() -> None:
    """All was offered and judged: the graph says none. No entities are scored for relations that do not help."""
    result, needs = drive(SearchSettings(depth=3), Driver(a=0.0, b=0.0))
    assert (result, kinds(needs)) == (SearchResult(exhausted=True), ["Expanding", "relations"])


def test_a_topic_without_edges_costs_no_call() -> None:
    """There is nothing to score."""
    result, needs = drive(SearchSettings(), lambda _: Expansion((), complete=True))
    assert (result, kinds(needs)) == (SearchResult(exhausted=True), ["Expanding"])


@pytest.mark.parametrize(
    ("settings", "driver"),
    [
        (SearchSettings(candidates=2), Driver(a=0.0, b=0.0)),  # a relation that was not shown
        (SearchSettings(tails=2), Driver(tails=3, first=0.0, second=0.0)),  # an entity that was not shown
        (SearchSettings(beam=1), Driver(first=0.0, second=0.0)),  # a relation that helps was dropped for the width
        (SearchSettings(), Driver(complete=False, a=0.0, b=0.0)),  # something that an endpoint left out
    ],
)
def test_exhausted_is_false_where_something_was_not_looked_at(settings: SearchSettings, driver: Driver) -> None:
    """An empty result means "the graph says none" only where all was offered, and nothing helpful was dropped."""
    result, _ = drive(settings, driver)
    assert (result.paths, result.exhausted) == ((), False)


def test_all_relations_are_offered_unless_the_settings_bound_them() -> None:
    """The model prunes, not the retriever, whose page is of one candidate here."""
    for candidates, offered in [(None, 3), (2, 2)]:
        _, needs = drive(SearchSettings(depth=1, candidates=candidates), Driver())
        assert next(len(need.candidates) for need in needs if isinstance(need, Scoring)) == offered


def test_no_next_hop_is_looked_at() -> None:
    """What the retriever would fetch ahead is never used; relations are scored once, whatever the form."""
    _, needs = drive(SearchSettings(depth=2, form="pairs"), Driver())
    assert all(need.last and need.form == "groups" for need in needs if isinstance(need, Expanding))


def test_several_edges_to_one_entity_are_one_pair() -> None:
    """Two terms of one office: the entity is scored once, and its path keeps both."""
    edges = [Edge(TOPICS[0], Iri("http://x/r/a"), Iri("http://x/t.a0"), "out", endpoint) for endpoint in ("one", "two")]

    def answer(need: Need[object]) -> Any:
        if isinstance(need, Expanding):
            return Expansion((Step(0, edges[0].walked, tuple(edges)),), complete=True)
        return Driver(enough_at=1)(need) if not isinstance(need, Judging) else True

    result, needs = drive(SearchSettings(), answer)
    assert [len(need.candidates) for need in needs if isinstance(need, Scoring)] == [1, 1]
    assert result.paths[0].steps[0].edges == tuple(edges)


@given(
    settings=st.builds(SearchSettings, depth=st.integers(1, 4), beam=st.integers(1, 4), tails=st.integers(1, 3)),
    tails=st.integers(1, 3),
    together=st.booleans(),
    data=st.data(),
)
def test_whatever_the_model_says_paths_are_made_of_offered_edges(
    settings: SearchSettings, tails: int, together: bool, data: st.DataObject
) -> None:
    """Any scores, verdicts and conclusions: the widths hold, every edge was offered, and the search ends."""
    offered: set[Edge] = set()
    driver = Driver(tails=tails)

    def answer(need: Need[object]) -> Any:
        match need:
            case Scoring():
                scores = st.sampled_from([0.0, 0.3, 1.0])
                return tuple(data.draw(st.tuples(*[scores] * len(need.candidates))))
            case Judging():
                return data.draw(st.booleans())
            case Answering():
                return Conclusion(tuple(data.draw(st.lists(st.integers(1, len(need.partial_paths)), unique=True))))
        reply = driver(need)
        if isinstance(reply, Expansion):
            offered.update(edge for step in reply.candidates for edge in step.edges)
        return reply

    result, needs = drive(settings, answer, together=together)
    assert all(edge in offered for beam in result.paths for step in beam.steps for edge in step.edges)
    assert all(beam.walks(tail) for beam in result.paths for tail in beam.tails)
    assert all(len(need.partial_paths) <= settings.beam for need in needs if isinstance(need, Expanding))
    entities = [need for need in needs if isinstance(need, Scoring) and need.what == "entities"]
    assert all(len(need.candidates) <= settings.beam * settings.tails for need in entities)
    assert len([need for need in needs if isinstance(need, Expanding)]) <= settings.depth


class Scorer:
    """Plays a model that scores the relation wanted at a depth, and says that it is enough after the last one."""

    def __init__(self, *relations: str, kind: str = "entities", verdict: str = "") -> None:
        self.relations = relations
        self.kind = kind
        self.verdict = verdict
        self.calls: list[str] = []

    def __call__(self, messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        self.calls.append(call)
        shown = messages[-1].content
        steps = re.findall(r"(?m)^(\d+)\. .*?([^→← ][^→←]*?) [→←](?: [^→←]*)?$", shown)
        now = self.relations[max(0, self.calls.count("score-relations") - 1)]
        wanted = [(int(number), 0.9) for number, relation in steps if relation == now]
        replies: dict[str, Any] = {
            "plan": {"keywords": ["film"], "kind": self.kind, "mentions": ["King Kong"]}
            | {"planning_steps": [], "declarative_statement": "It is so." if self.verdict else "*placeholder* is it."},
            "score-relations": {"scores": [{"relation": number, "score": score} for number, score in wanted]},
            "score-entities": {"scores": [{"entity": number, "score": score} for number, score in wanted]},
            "adequacy": {"adequate": f"→ {self.relations[-1]} →" in shown},
            "answer": {"paths": [{"path": 1, "ends": []}], "verdict": self.verdict},
        }
        return json.dumps(replies[call])


Ask = Callable[..., Awaitable[Answer]]


async def test_two_hops_end_in_an_answer_with_a_path(ask: Ask) -> None:
    """Three calls per depth for one path, besides plan and answer."""
    scorer = Scorer("directed by", "spouse")
    answer = await ask("tog", scorer)
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert [edge.relation.local_name for edge in answer.paths[0].edges] == ["directed by", "spouse"]
    depth = ["score-relations", "score-entities", "adequacy"]
    assert scorer.calls == ["plan", *depth, *depth, "answer"]
    assert (answer.method, answer.unproven()) == ("tog", ())


async def test_the_answer_set_is_completed(ask: Ask) -> None:
    """Although one entity only is kept, both actors are answers."""
    answer = await ask("tog", Scorer("starring"), beam=1)
    assert {value.value for value in answer.answers} == {"Naomi Watts", "Jack Black"}


async def test_a_yes_or_no_ends_in_a_verdict(ask: Ask) -> None:
    """A judgement on the paths, which the document shows."""
    answer = await ask("tog", Scorer("starring", kind="yesno", verdict="yes"), "Does Jack Black play in King Kong?")
    assert ([value.value for value in answer.answers], len(answer.paths)) == (["yes"], 2)


async def test_no_relation_that_helps_is_none(ask: Ask) -> None:
    """Everything was shown: the graph says none, after one call besides the plan."""
    scorer = Scorer("composed by")
    answer = await ask("tog", scorer)
    assert (answer.status, scorer.calls) == (Status.NONE, ["plan", "score-relations"])


@pytest.mark.parametrize("call", ["score-relations", "score-entities", "adequacy", "answer"])
async def test_each_call_may_come_to_nothing(ask: Ask, call: str) -> None:
    """Steps are then scored as they rank, nothing counts as enough, and no answer is not said to be none."""
    scorer = Scorer("directed by", "spouse")

    def play(messages: Sequence[Message], asked: str) -> str:
        return "?" if asked == call else scorer(messages, asked)

    answer = await ask("tog", play, depth=2)
    assert any("two unusable replies" in warning for warning in answer.warnings)
    assert answer.status is (Status.NOT_FOUND if call == "answer" else Status.ANSWERED)
    assert answer.unproven() == ()


async def test_without_a_language_model_relations_score_by_their_names(ask: Ask) -> None:
    """The local model walks to the director and stops at what resembles the question."""
    answer = await ask("tog", question="Who directed by name King Kong, or who was it directed by?", depth=1)
    assert [value.value for value in answer.answers] == ["Peter Jackson"]
    assert answer.unproven() == ()


@pytest.mark.parametrize(("enough_at", "steps"), [(1, 1), (0, 2)])
def test_without_the_last_step_the_paths_ends_are_the_answer(enough_at: int, steps: int) -> None:
    """All of those that are enough, or else of the longest; no answer call."""
    result, needs = drive(SearchSettings(depth=2, beam=2, last_step=False), Driver(enough_at))
    assert "Answering" not in kinds(needs)
    assert result.paths
    assert all(len(path.steps) == steps for path in result.paths)


def test_a_judgement_is_made_without_the_last_step_too() -> None:
    """It needs the model, and the document tells that it was asked."""
    result, needs = drive(SearchSettings(depth=1, last_step=False), Driver(1), together=True)
    assert kinds(needs).count("Answering") == 1
    assert "last_step is off" in result.note
