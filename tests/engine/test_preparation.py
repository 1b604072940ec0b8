"""What is planned and linked before a walk: topics that are given, named, unknown or ambiguous."""

import contextlib
import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from fedkg.core.answer import Status
from fedkg.core.caveat import CaveatKind
from fedkg.core.events import Answered, Linked
from fedkg.core.question import Match
from fedkg.errors import (
    TopicError,
)
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from tests.support.played_runs import FILMS, QUESTION, Player, answer_of, events_of, run_of


async def test_a_name_that_links_to_nothing_is_told(films: SparqlGraph) -> None:
    """The walk starts from the other topics, and the answer says which one is missing."""
    player = Player("directed by", "spouse")

    def play(messages: Sequence[Message], call: str) -> str:
        return player(messages, call).replace('["King Kong"]', '["King Kong", "Nobody Known"]')

    answer = await answer_of(run_of(films, play, f"{QUESTION} Or of Nobody Known?"))
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    (warning,) = [text for text in answer.warnings if "Nobody Known" in text]
    assert warning.startswith("no entity of films is known by the name")


async def test_a_topic_that_the_caller_names_is_not_looked_for(films: SparqlGraph) -> None:
    """Labels and IRIs are taken as topics; an unknown one is told with the nearest labels before any model call.

    Where the question names nothing else.
    """
    player = Player("spouse")
    answer = await answer_of(run_of(films, player, topics=["<http://x/jackson>"]))
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    idle = Player()
    with pytest.raises(TopicError, match="Peter Jackso") as caught:
        await answer_of(run_of(films, idle, "Who is his spouse?", topics=["Peter Jackso"]))
    assert "Peter Jackson <http://x/jackson>" in caught.value.hint
    assert idle.calls == []


@pytest.mark.parametrize(("question", "looked_up"), [(QUESTION, []), ("Who is his spouse?", ["Nobody"])])
async def test_an_unknown_topic_is_looked_up_once(
    films: SparqlGraph, question: str, looked_up: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the nearest labels, which are told where the question names nothing else: else it is not looked up by words.

    What else was given stays as it is, and each entity is started from once.
    """
    asked: list[str] = []
    lookup = films.lookup

    async def counted(texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        asked.extend(texts)
        return await lookup(texts, limit)

    monkeypatch.setattr(films, "lookup", counted)
    topics = ["Peter Jackson", "<http://x/jackson>", "Nobody"]
    with pytest.raises(TopicError, match="'Nobody'") if looked_up else contextlib.nullcontext():
        events = await events_of(run_of(films, Player("spouse"), question, topics=topics))
        [linked] = [event for event in events if isinstance(event, Linked)]
        assert [match.label for match in linked.topics] == ["Peter Jackson", "King Kong"]
    assert asked == looked_up


async def test_an_entity_that_was_found_by_its_name_is_no_typing_error(make_graph: Callable[..., SparqlGraph]) -> None:
    """It may have no edges and a label that is the end of its IRI: then the graph says none."""
    graph = make_graph(':Kong rdfs:label "Kong"@en .', name="films")
    answer = await answer_of(run_of(graph, Player("directed by"), "Who directed King Kong?", topics=["Kong"]))
    assert answer.status is Status.NONE


async def test_an_iri_that_nobody_knows_is_bad_input(films: SparqlGraph) -> None:
    """A typing error in a topic is not what the graph says, where the question names nothing that is known either."""
    with pytest.raises(TopicError, match="says nothing of http://x/nobody"):
        await answer_of(run_of(films, Player("spouse"), "Who is her spouse?", topics=["http://x/nobody"]))


@pytest.mark.parametrize(
    ("topic", "question"),
    [
        ("http://x/nobody", QUESTION),
        ("Nobody", QUESTION),
        ("http://y/King_Kong", "Who is the spouse of its director?"),
    ],
)
async def test_a_given_topic_that_is_not_known_falls_back_to_names(
    films: SparqlGraph, topic: str, question: str
) -> None:
    """To its own name, or to what the question names: with a caveat, and never an error; nor is "none" said then."""
    answer = await answer_of(run_of(films, Player("directed by", "spouse"), question, topics=[topic]))
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert [(caveat.kind, topic in caveat.about) for caveat in answer.caveats] == [("loosely_linked", True)]
    nothing = await answer_of(run_of(films, Player("composed by"), question, topics=[topic]))
    assert nothing.status is Status.NOT_FOUND


async def test_a_dropped_topic_rules_out_none(films: SparqlGraph) -> None:
    """A mention that links to nothing is a caveat: what the graph has of it was not looked for."""

    class Naming(Player):
        """Its plan names somebody else, too."""

        def __call__(self, messages: Sequence[Message], call: str) -> str:
            """The reply to one call."""
            return super().__call__(messages, call).replace('["King Kong"]', '["King Kong", "director"]')

    answer = await answer_of(run_of(films, Naming("composed by"), QUESTION))
    assert [(caveat.kind, caveat.about) for caveat in answer.caveats] == [("dropped_topic", "director")]
    assert answer.status is Status.NOT_FOUND


@pytest.mark.parametrize(
    ("topics", "known"),
    [
        ((), "Topic: King Kong, 2005 film\nNot in this graph: director\n"),
        (("King Kong",), "Topic: King Kong, 2005 film\n"),
        (("http://x/kong", "http://x/none"), "Topic: King Kong\nNot in this graph: none\n"),
    ],
)
async def test_the_model_is_told_what_is_known(
    make_graph: Callable[..., SparqlGraph], topics: Sequence[str], known: str
) -> None:
    """How each topic was linked, with the description that came with its name, and what is not in the graph.

    It stands before the offers, which are counted, and before the paths that the answer is chosen from.
    """
    described = ':kong <http://purl.org/dc/terms/description> "2005 film"@en .'
    shown: dict[str, str] = {}

    class Naming(Player):
        """Its plan names somebody else, too."""

        def __call__(self, messages: Sequence[Message], call: str) -> str:
            """The reply to one call."""
            shown[call] = messages[-1].content.partition("<graph>\n")[2]
            return super().__call__(messages, call).replace('["King Kong"]', '["King Kong", "director"]')

    play = Naming("directed by", "spouse")
    answer = await answer_of(run_of(make_graph(FILMS + described, name="described"), play, topics=topics))
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert re.match(re.escape(known) + r"(Kept paths:\n.*\n)?Offers \d to (\d) of \2:\n", shown["choose"])
    assert re.match(re.escape(known) + r"1\. King Kong", shown["answer"])


async def test_an_iri_that_nobody_knows_among_known_ones_is_left_out(films: SparqlGraph) -> None:
    """The walk starts from the others, which the answer says."""
    alone = await answer_of(run_of(films, Player("directed by"), topics=["http://x/kong"]))
    both = await answer_of(run_of(films, Player("directed by"), topics=["http://x/nobody", "http://x/kong"]))
    assert both.answers == alone.answers != ()
    assert [warning for warning in both.warnings if "http://x/nobody" in warning] == [
        "films says nothing of http://x/nobody; the walk starts without it"
    ]


APES = """
@prefix dcterms: <http://purl.org/dc/terms/> .
:ape rdfs:label "King Kong"@en ; dcterms:description "1933 release" ; r:directed_by :cooper .
:kong1 rdfs:label "King Kong"@en ; dcterms:description "2005 release" ; r:directed_by :jackson .
:cooper rdfs:label "Merian Cooper"@en . :jackson rdfs:label "Peter Jackson"@en .
r:directed_by rdfs:label "directed by"@en .
"""


@pytest.mark.parametrize(
    ("reply", "answered", "warned"),
    [
        ({"links": [{"mention": 1, "candidate": 2}]}, "Peter Jackson", ""),
        ({"links": []}, "Merian Cooper", ""),
        ({"links": [{"mention": 1, "candidate": 0}]}, "Merian Cooper", "starts from the likeliest"),
        ({"links": [{"mention": 1, "candidate": 3}]}, "Merian Cooper", "which entity is meant by 'King Kong'"),
    ],
)
async def test_the_model_says_which_of_several_entities_is_meant(
    make_graph: Callable[..., SparqlGraph], reply: dict[str, Any], answered: str, warned: str
) -> None:
    """In one call, before the walk; what it does not say usably is chosen without it, with a warning."""
    player = Player("directed by")
    calls: list[str] = []

    def play(messages: Sequence[Message], call: str) -> str:
        calls.append(call)
        return json.dumps(reply) if call == "link" else player(messages, call)

    answer = await answer_of(run_of(make_graph(APES), play, "Who is the director of King Kong?"))
    assert [value.value for value in answer.answers] == [answered]
    assert any(warned in warning for warning in answer.warnings) if warned else not answer.warnings
    assert calls.count("link") == (2 if "which entity" in warned else 1)
    assert calls[:2] == ["plan", "link"]


@pytest.mark.parametrize(
    ("options", "linked"), [(("Peter Jackson", "Merian Cooper"), 0), (("King Kong", "Peter Jackson"), 1)]
)
async def test_words_beside_the_options_of_a_choice_are_not_told_apart(
    make_graph: Callable[..., SparqlGraph], options: tuple[str, ...], linked: int
) -> None:
    """An ambiguous option is worth a call of the model, an ambiguous word of the question is not."""
    player = Player("directed by")
    calls: list[str] = []

    def play(messages: Sequence[Message], call: str) -> str:
        calls.append(call)
        return json.dumps({"links": []}) if call == "link" else player(messages, call)

    run = run_of(make_graph(APES), play, "Who directed King Kong?")
    await answer_of(dataclasses.replace(run, kind="choice", options=options))
    assert min(calls.count("link"), 1) == linked


async def test_a_topic_that_is_not_known_leaves_the_others_as_they_were_given(
    make_graph: Callable[..., SparqlGraph],
) -> None:
    """Of two given names one is unknown, and told once: the walk starts from the other, and from what else is named."""
    topics = ["Merian Cooper", "Nowhere", "Nowhere"]
    run = run_of(make_graph(APES), Player("directed by"), "Did Peter Jackson direct it?", topics)
    events = await events_of(run)
    linked = next(event for event in events if isinstance(event, Linked))
    assert [match.label for match in linked.topics] == ["Merian Cooper", "Peter Jackson"]
    answer = events[-1].answer if isinstance(events[-1], Answered) else None
    assert answer
    about = [caveat.about for caveat in answer.caveats if caveat.kind is CaveatKind.LOOSELY_LINKED]
    assert len(about) == 1
    assert about[0].startswith("Nowhere: not known here")
