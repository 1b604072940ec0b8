"""GCR as a state machine, its driver played over plain tables; and each constraint level from question to document."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.choice import Conclusion, Decision
from fedkg.core.events import Answered
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.core.usage import Usage
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import BudgetError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Capability, Message
from fedkg.llm.trie import Trie
from fedkg.methods import gcr
from fedkg.methods.base import (
    Choosing,
    Completing,
    Decoded,
    Decoding,
    Expanding,
    Expansion,
    Inducing,
    Need,
    SearchResult,
    Task,
)
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

Facts = Sequence[tuple[str, str, str]]
FILMS: Facts = (
    ("kong", "director", "jackson"),
    ("kong", "starring", "watts"),
    ("kong", "starring", "black"),
    ("jackson", "spouse", "walsh"),
    ("jackson", "born", "pukerua"),
    ("watts", "born", "shoreham"),
)


def node(name: str) -> Iri:
    """The entity of that name."""
    return Iri(f"http://x/{name}")


class Table:
    """A driver over a table of facts; the model chooses steps of the `wanted` relations and finishes with the last.

    `page` is what it says of how many steps are to be offered, `complete` whether its endpoint left nothing out.
    """

    def __init__(self, facts: Facts, *wanted: str, page: int = 10, complete: bool = True) -> None:
        self.facts = facts
        self.wanted = wanted
        self.page = page
        self.complete = complete
        self.decode: Callable[[Decoding], Decoded | None] = lambda _: None
        self.pick: Callable[[Choosing], Decision] = self._wanted
        self.conclude: Callable[[Inducing], Conclusion] = lambda need: Conclusion(
            tuple(range(1, len(need.partial_paths) + 1))
        )

    def __call__(self, need: Need[object]) -> Any:
        """The reply to a need."""
        match need:
            case Expanding():
                steps = [step for number, beam in enumerate(need.partial_paths) for step in self._steps(number, beam)]
                return Expansion(tuple(steps), self.complete, self.page)
            case Decoding():
                return self.decode(need)
            case Choosing():
                return self.pick(need)
            case Completing():
                return need.partial_paths
            case Inducing():
                return self.conclude(need)
        raise AssertionError(f"GCR does not need {need}")

    def _steps(self, number: int, beam: PartialPath) -> list[Step]:
        """The beam's next steps, one for each relation; none leads back."""
        back = beam.ancestors()
        groups: dict[str, list[Edge]] = {}
        for subject, relation, target in self.facts:
            start, end = node(subject), node(target)
            if start in beam.tails and end not in {start, *back[start]}:
                groups.setdefault(relation, []).append(Edge(start, node(relation), end, "out", "e"))
        return [Step(number, DirectedRelation(node(name), "out"), tuple(edges), 1.0) for name, edges in groups.items()]

    def _wanted(self, need: Choosing) -> Decision:
        """What is wanted at that depth; what was wanted last, which decides, alone."""
        names = {number: chain(path)[-1] for number, path in need.numbered.items()}
        last = tuple(number for number, name in names.items() if name == self.wanted[-1])
        wanted = tuple(number for number, name in names.items() if name in self.wanted[: need.depth])
        return Decision(last, decides=True) if last and need.depth >= len(self.wanted) else Decision(wanted)


def drive(
    driver: Callable[[Need[object]], Any], topics: Sequence[str] = ("kong",), *, together: bool = False, **search: Any
) -> tuple[SearchResult, list[Need[object]]]:
    """Runs the method to its end."""
    walk = gcr.search(Task(tuple(map(node, topics)), SearchSettings(**search), together))
    needs: list[Need[object]] = [next(walk)]
    try:
        while True:
            needs.append(walk.send(driver(needs[-1])))
    except StopIteration as end:
        return end.value, needs


def kinds(needs: Sequence[Need[object]]) -> list[str]:
    """The names of the needs, in order."""
    return [type(need).__name__ for need in needs]


def chain(beam: PartialPath) -> list[str]:
    """The names of the relations that a beam walked."""
    return [relation.relation.local_name for relation in beam.chain]


def everything(need: Choosing) -> Decision:
    """The picks of a model that goes on wherever it may."""
    return Decision(tuple(range(1, min(need.width, len(need.offers)) + 1)))


def induced(needs: Sequence[Need[object]]) -> list[list[str]]:
    """The relations of the paths that the answer call saw."""
    return [chain(beam) for need in needs if isinstance(need, Inducing) for beam in need.partial_paths]


def test_the_paths_come_first_then_the_picks_then_one_answer() -> None:
    """Every hop is fetched without the model; it picks once per hop, answers once, and what it chose is completed."""
    result, needs = drive(Table(FILMS, "director", "spouse"))
    assert kinds(needs) == ["Expanding", "Expanding", "Decoding", "Choosing", "Choosing", "Inducing", "Completing"]
    assert chain(result.paths[0]) == ["director", "spouse"]
    assert result.paths[0].tails == (node("walsh"),)


def test_the_measures_name_the_door_and_the_trie() -> None:
    """Five chains of relations start at the film: three of two steps, and the two that they start with."""
    result, _ = drive(Table(FILMS, "director", "spouse"))
    assert result.measures == {
        "door": "index",
        "paths in the trie": 5,
        "paths left out": 0,
        "entities not expanded": 0,
    }


def test_the_paths_picked_on_the_way_are_kept_behind_the_longer_ones() -> None:
    """A model that goes on too far still has the short path to answer with; who finishes a path goes no further."""
    table = Table(FILMS, "director", "spouse")
    table.pick = everything
    _, needs = drive(table)
    assert [len(path) for path in induced(needs)] == [2, 2, 2, 1, 1]
    _, needs = drive(Table(FILMS, "starring"))
    assert induced(needs) == [["starring"]]
    assert kinds(needs).count("Choosing") == 1


@pytest.mark.parametrize("depth", [1, 2, 50])
def test_paths_are_at_most_two_hops_long(depth: int) -> None:
    """L is 2, or the depth of the search where that is less."""
    facts = [(f"n{number}", f"r{number}", f"n{number + 1}") for number in range(6)]
    _, needs = drive(Table(facts, "r0", "r1", "none"), ["n0"], depth=depth)
    assert [need.depth for need in needs if isinstance(need, Expanding)] == list(range(1, min(depth, 2) + 1))
    assert max(map(len, induced(needs))) == min(depth, 2)


@pytest.mark.parametrize("complete", [True, False])
def test_a_topic_without_edges_ends_without_a_call(complete: bool) -> None:
    """Nothing is picked from nothing; that the graph says none is known only where it said everything."""
    result, needs = drive(Table((), complete=complete))
    assert kinds(needs) == ["Expanding"]
    assert (result.paths, result.exhausted, result.measures["paths in the trie"]) == ((), complete, 0)


def test_a_circle_is_not_walked_back() -> None:
    """Two entities that point at each other, and at themselves: one path of one step."""
    circle = (("a", "next", "b"), ("b", "next", "a"), ("a", "same", "a"), ("b", "same", "b"))
    result, needs = drive(Table(circle, "next"), ["a"])
    assert result.measures["paths in the trie"] == 1
    assert induced(needs) == [["next"]]


@pytest.mark.parametrize("given", [0, 3, 10, 40])
def test_at_most_ten_paths_are_answered_from(given: int) -> None:
    """All of them where there are fewer."""
    table = Table([("kong", f"r{number}", f"n{number}") for number in range(given)])
    table.pick = everything
    _, needs = drive(table)
    assert len(induced(needs)) == min(given, SearchSettings().top_paths)


@pytest.mark.parametrize(("hops", "longest"), [(1, 1), (3, 3), (9, 4)])
def test_l_is_what_the_settings_say_within_the_depth(hops: int, longest: int) -> None:
    """Figure 6: paths of one hop, of three, and no more than the depth of the search."""
    facts = [(f"n{number}", f"r{number}", f"n{number + 1}") for number in range(6)]
    _, needs = drive(Table(facts, *(f"r{number}" for number in range(6))), ["n0"], depth=4, hops=hops)
    assert [need.depth for need in needs if isinstance(need, Expanding)] == list(range(1, longest + 1))


@pytest.mark.parametrize("most", [1, 3, 20])
def test_k_is_what_the_settings_say(most: int) -> None:
    """Figure 4: of thirty paths as many are asked for, and answered from."""
    table = Table([("kong", f"r{number}", f"n{number}") for number in range(30)])
    table.pick = everything
    _, needs = drive(table, top_paths=most)
    assert {need.width for need in needs if isinstance(need, Choosing | Decoding)} == {most}
    assert len(induced(needs)) == most


def test_without_the_model_that_picks_paths_the_best_ranked_are_answered_from() -> None:
    """Table 3, without the KG-specialized LLM: all of them where they have room, and no door."""
    result, needs = drive(Table(FILMS), decoding="none")
    assert kinds(needs)[:3] == ["Expanding", "Expanding", "Inducing"]
    assert len(induced(needs)) == 5
    assert "door" not in result.measures
    _, needs = drive(Table(FILMS), decoding="none", candidates=2)
    assert len(induced(needs)) == 2


def test_without_the_answer_call_the_ends_answer_the_one_with_most_votes_first() -> None:
    """Table 3, without the general LLM: three paths lead to the same entity, one of them to another, too."""
    facts = [("a", "r", "x"), ("a", "r", "y"), ("a", "s", "y"), ("a", "t", "y")]
    table = Table(facts)
    table.pick = everything
    result, needs = drive(table, ["a"], last_step=False)
    assert "Inducing" not in kinds(needs)
    ends = [
        path.tails[number - 1] for path, numbers in zip(result.paths, result.tails, strict=True) for number in numbers
    ]
    assert ends == [node("y"), node("y"), node("y"), node("x")]


def test_a_judgement_is_made_without_the_last_step_too() -> None:
    """Only the model can tell whether two films share a director; the answer says that it was asked."""
    table = Table(FILMS, "director")
    table.conclude = lambda _: Conclusion((1,), verdict="no")
    result, needs = drive(table, together=True, last_step=False)
    assert "Inducing" in kinds(needs)
    assert (result.conclusion.verdict, "last_step is off" in result.note) == ("no", True)


def test_nothing_picked_ends_without_an_answer() -> None:
    """Where all within reach was offered and nothing leads on, the graph says none; no answer call is paid for."""
    result, needs = drive(Table(FILMS, "nothing"))
    assert kinds(needs) == ["Expanding", "Expanding", "Decoding", "Choosing"]
    assert (result.paths, result.exhausted) == ((), True)


@pytest.mark.parametrize(
    ("table", "search"),
    [(Table(FILMS, "nothing", complete=False), {}), (Table(FILMS, "nothing"), {"candidates": 1})],
)
def test_none_is_not_said_where_something_was_not_seen(table: Table, search: dict[str, Any]) -> None:
    """An endpoint that left something out, or steps that were not offered."""
    assert not drive(table, **search)[0].exhausted


@pytest.mark.parametrize(("page", "search", "shown"), [(10, {}, gcr.OFFERED), (0, {}, 150), (10, {"candidates": 7}, 7)])
def test_one_call_is_offered_a_bounded_number_of_steps(page: int, search: dict[str, Any], shown: int) -> None:
    """The best hundred, or as many as the settings say; all where offers cost nothing."""
    facts = [("kong", f"r{number}", f"n{number}") for number in range(150)]
    _, needs = drive(Table(facts, "r0", page=page), **search)
    assert [len(need.offers) for need in needs if isinstance(need, Choosing)] == [shown]


def test_the_trie_is_bounded_and_says_what_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths beyond the bound are not walked, entities beyond theirs not expanded, and "none" is not said."""
    monkeypatch.setattr(gcr, "MOST_PATHS", 3)
    monkeypatch.setattr(gcr, "MOST_ENTITIES", 2)
    result, needs = drive(Table(FILMS, "nothing"))
    assert all(need.frontier == 2 for need in needs if isinstance(need, Expanding))
    assert result.measures["paths in the trie"] == 3
    assert (result.measures["paths left out"], result.measures["entities not expanded"]) == (2, 1)
    assert not result.exhausted


def test_only_what_follows_in_the_trie_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three paths, one of the three ways of going on is left: the others cannot be picked."""
    monkeypatch.setattr(gcr, "MOST_PATHS", 3)
    table = Table(FILMS)
    table.pick = everything
    _, needs = drive(table)
    assert [len(need.offers) for need in needs if isinstance(need, Choosing)] == [2, 1]


def test_paths_that_decide_together_are_completed_before_the_verdict() -> None:
    """A comparison of two topics: both paths are whole when the model sees them, and all their ends count."""
    facts = [*FILMS, ("rings", "director", "jackson")]
    table = Table(facts, "director")
    table.conclude = lambda _: Conclusion((1, 2), {1: (1,)}, verdict="yes")
    result, needs = drive(table, ["kong", "rings"], together=True)
    assert kinds(needs)[-2:] == ["Completing", "Inducing"]
    assert {beam.topic for beam in result.paths} == {node("kong"), node("rings")}
    assert (result.tails, result.conclusion.verdict) == (((), ()), "yes")


def test_an_answer_that_is_known_survives_a_spent_budget() -> None:
    """Where there is no time to complete the set, the chosen path comes back as one that may have more ends."""
    table, walk = Table(FILMS, "director"), gcr.search(Task((node("kong"),), SearchSettings()))
    need = next(walk)
    while not isinstance(need, Completing):
        need = walk.send(table(need))
    with pytest.raises(StopIteration) as end:
        walk.throw(BudgetError("spent", budget="seconds"))
    assert [beam.complete for beam in end.value.value.paths] == [False]


@pytest.mark.parametrize("numbers", [(4, 1), ()])
def test_a_door_that_takes_whole_paths_needs_one_call(numbers: tuple[int, ...]) -> None:
    """All paths of the trie are shown at once; those chosen are answered from, in order; none, if none leads on."""
    table = Table(FILMS)
    table.decode = lambda _: Decoded("schema", numbers)
    result, needs = drive(table)
    (shown,) = [need for need in needs if isinstance(need, Decoding)]
    assert (len(shown.partial_paths), shown.width) == (5, SearchSettings().top_paths)
    assert induced(needs) == [chain(shown.partial_paths[number - 1]) for number in numbers]
    assert "Choosing" not in kinds(needs)
    assert (result.measures["door"], result.exhausted) == ("schema", not numbers)


CHAT = Capability(context=200_000)
NATIVE = Capability(context=200_000, structured="native")


def _scholar(messages: Sequence[Message], call: str) -> str:
    """A good model: it picks what tells the spouse, and on the way to it the director."""
    lines = re.findall(r"(?m)^(\d+)\. (.*)$", messages[1].content)
    wanted = [int(number) for number, text in lines if "spouse" in text] or [
        int(number) for number, text in lines if "directed by" in text
    ]
    replies: dict[str, Any] = {
        "plan": {
            "keywords": ["spouse", "directed by"],
            "declarative_statement": "*placeholder* is it.",
            "kind": "entities",
            "mentions": ["King Kong"],
        },
        "choose": {"picks": [{"offer": number, "ends": []} for number in wanted], "decides": False, "more": False},
        "reasoning-paths": {"picks": wanted},
        "inductive": {"paths": [{"path": 1, "ends": []}]},
    }
    return json.dumps(replies[call])


def _run(graph: SparqlGraph, play: Any, capability: Capability) -> QuestionRun:
    """A question about the films, asked by GCR."""
    model = PromptedModel(ScriptedModel(play, capability))
    question = "Who is the spouse of the director of King Kong?"
    return QuestionRun(question, graph, model, Bm25Similarity(), Settings(method="gcr"), Usage, ledger=model.ledger)


async def _answer(run: QuestionRun) -> Answer:
    """The document that it ends with."""
    last = [event async for event in run.events()][-1]
    assert isinstance(last, Answered)
    return last.answer


@pytest.mark.parametrize(
    ("capability", "door", "calls"),
    [
        (CHAT, "index", ["plan", "choose", "choose", "inductive"]),
        (NATIVE, "schema", ["plan", "reasoning-paths", "inductive"]),
    ],
)
async def test_both_doors_lead_from_a_question_to_its_document(
    films: SparqlGraph, capability: Capability, door: str, calls: list[str]
) -> None:
    """Two hops over a graph in process; every edge was said by it, and the document names door and trie."""
    answer = await _answer(_run(films, _scholar, capability))
    assert (answer.status, [value.value for value in answer.answers]) == (Status.ANSWERED, ["Fran Walsh"])
    assert all(await films.holds([shown.edge for path in answer.paths for shown in path.edges]))
    assert [call.call for call in answer.ledger] == calls
    assert (answer.measures["door"], answer.measures["paths in the trie"]) == (door, 5)


async def test_a_model_that_picks_no_path_of_the_schema_walks_from_hop_to_hop(films: SparqlGraph) -> None:
    """Numbers beyond the schema are no paths: after two such replies the level `index` is taken, with a warning."""

    def play(messages: Sequence[Message], call: str) -> str:
        return '{"picks": [99]}' if call == "reasoning-paths" else _scholar(messages, call)

    answer = await _answer(_run(films, play, NATIVE))
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert answer.measures["door"] == "index"
    assert any("from hop to hop" in text for text in answer.warnings)


NAMES = st.sampled_from("abcde")


@given(
    facts=st.lists(st.tuples(NAMES, st.sampled_from("pqr"), NAMES), max_size=20),
    topics=st.lists(NAMES, min_size=1, max_size=2, unique=True),
    depth=st.integers(1, 3),
    together=st.booleans(),
    data=st.data(),
)
def test_every_path_that_is_answered_from_is_in_the_trie(
    facts: Facts, topics: list[str], depth: int, together: bool, data: st.DataObject
) -> None:
    """Whatever graph it is, circles included, and whatever the model chooses, and names as answers."""
    table = Table(list(dict.fromkeys(facts)))
    table.pick = lambda need: Decision(
        tuple(data.draw(st.lists(st.integers(1, len(need.offers)), unique=True, max_size=need.width), label="picked")),
        decides=data.draw(st.booleans()),
    )
    table.conclude = lambda need: Conclusion(
        tuple(data.draw(st.lists(st.integers(1, len(need.partial_paths)), unique=True, max_size=4)))
    )
    result, needs = drive(table, topics, together=together, depth=depth)
    trie = Trie.of(gcr.tokens(beam) for beam in _all_paths(table, topics, min(depth, gcr.HOPS)))
    answered = [beam for need in needs if isinstance(need, Inducing) for beam in need.partial_paths]
    assert all(gcr.tokens(beam) in trie for beam in (*answered, *result.paths))
    assert len(answered) <= SearchSettings().top_paths
    assert result.measures["paths in the trie"] == len(trie)


def _all_paths(table: Table, topics: Sequence[str], hops: int) -> list[PartialPath]:
    """Every path of one to so many steps, one after the other."""
    beams = [PartialPath(node(topic)) for topic in topics]
    paths: list[PartialPath] = []
    for _ in range(hops):
        expansion = table(Expanding(1, tuple(beams)))
        beams = [beams[step.path_index].extend(step) for step in expansion.candidates]
        paths += beams
    return paths


def _offered(need: Choosing) -> Mapping[str, list[str]]:
    """The relations that are offered behind each first one."""
    offered: dict[str, list[str]] = {}
    for first, second in map(chain, need.offers):
        offered.setdefault(first, []).append(second)
    return offered


def test_what_follows_each_picked_path_is_offered_in_one_call() -> None:
    """The second hop has one call for all paths that were picked at the first, each with its own steps."""
    table = Table(FILMS)
    table.pick = everything
    _, needs = drive(table)
    (second,) = [need for need in needs if isinstance(need, Choosing) and need.depth == 2]
    assert _offered(second) == {"director": ["spouse", "born"], "starring": ["born"]}
