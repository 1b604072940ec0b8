"""Linking on real graphs: topics by IRI and label, mentions, n-grams, and what is said where nothing matches."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config import profiles
from fedkg.core.meter import Meter
from fedkg.core.question import JUDGED, Kind, Match, Mention, Plan
from fedkg.core.terms import Iri
from fedkg.engine import linking
from fedkg.engine.linking import ngrams
from fedkg.engine.mentions import ALIAS
from fedkg.errors import TermError, TopicError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.session import Session

MakeGraph = Callable[..., SparqlGraph]
NO_PLAN = Plan(())
TITLES = """
:odyssey rdfs:label "2001: A Space Odyssey"@en . :towers rdfs:label "The Lord of the Rings: The Two Towers"@en .
:rings rdfs:label "The Lord of the Rings"@en . :curie rdfs:label "Marie Curie"@en . :jobs rdfs:label "Jobs"@en .
:washington rdfs:label "Washington, D.C."@en . :film rdfs:label "film"@en . :city rdfs:label "city"@en .
:who rdfs:label "The Who"@en . :it rdfs:label "It"@en . :r2 rdfs:label "R2-D2"@en . :james rdfs:label "James"@en .
:love rdfs:label "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb"@en .
r:director rdfs:label "director"@en . :odyssey r:director :kubrick . :kubrick rdfs:label "Stanley Kubrick"@en .
:malaria rdfs:label "malaria"@en .
"""


@pytest.fixture
def titles(make_graph: MakeGraph) -> SparqlGraph:
    """A graph of awkward names."""
    return make_graph(TITLES)


def names(matches: list[Match]) -> list[str]:
    """The entities by short names."""
    return [match.iri.value.removeprefix("http://x/") for match in matches]


@pytest.mark.parametrize(
    ("question", "topics", "mention"),
    [
        ("Who directed 2001: A Space Odyssey?", ["odyssey"], "2001: A Space Odyssey"),
        ("who directed 2001: a space odyssey", ["odyssey"], "2001: a space odyssey"),
        ("Who wrote The Lord of the Rings: The Two Towers?", ["towers"], "The Lord of the Rings: The Two Towers"),
        ("Who was Marie Curie's husband?", ["curie"], "Marie Curie"),
        ("Who was Marie Curie’s husband?", ["curie"], "Marie Curie"),
        ("Who was James' mother?", ["james"], "James"),
        ("In which city did Marie Curie live?", ["curie"], "Marie Curie"),
        ("Which film was made by Stanley Kubrick and seen by Marie Curie?", ["kubrick", "curie"], "Stanley Kubrick"),
        ("Who lives in Washington, D.C.?", ["washington"], "Washington, D.C."),
        ("Tell me about Marie Curie.", ["curie"], "Marie Curie"),
        ("Have you heard of Marie Curie? Who was her husband?", ["curie"], "Marie Curie"),
        ("Who sang in The Who?", ["who"], "The Who"),
        ("What did R2-D2 say (in the film)?", ["r2"], "R2-D2"),
        ("Marie Curie", ["curie"], "Marie Curie"),
        ("what is a film", ["film"], "film"),
        ("Film of Stanley Kubrick", ["kubrick"], "Stanley Kubrick"),
        (
            'Who made "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb"?',
            ["love"],
            "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb",
        ),
        ("Who was the director of “It”?", ["it"], "It"),
    ],
)
async def test_a_question_names_its_topic(titles: SparqlGraph, question: str, topics: list[str], mention: str) -> None:
    """The longest names win; possessives, punctuation and brackets go; common words give way to proper names."""
    linked = await linking.from_question(titles, question, NO_PLAN)
    assert names(linked) == topics
    assert linked[0].mention == mention


async def test_mentions_come_before_ngrams(titles: SparqlGraph) -> None:
    """What the model named is searched; only where none of it is known, the question's own words are."""
    question = "Who directed 2001: A Space Odyssey, Stanley Kubrick?"
    linked = await linking.from_question(titles, question, Plan((), mentions=("marie curie", "nobody", "Marie Curie")))
    assert (names(linked), linked[0].mention) == (["curie"], "marie curie")
    assert names(await linking.from_question(titles, question, Plan((), mentions=("nobody",)))) == [
        "odyssey",
        "kubrick",
    ]


async def test_relations_are_no_topics(titles: SparqlGraph) -> None:
    """What the question asks along is not where it starts."""
    with pytest.raises(TopicError):
        await linking.from_question(titles, "who is the director", NO_PLAN)


async def test_no_more_than_three_topics(titles: SparqlGraph) -> None:
    """A question that names many entities starts from the first of the longest."""
    question = "Stanley Kubrick, Marie Curie, James, Jobs and R2-D2?"
    assert names(await linking.from_question(titles, question, NO_PLAN)) == ["kubrick", "curie", "james"]


async def test_a_name_that_nothing_bears_is_dropped_by_name(titles: SparqlGraph) -> None:
    """Where another one links the walk starts without it, which is said; everyday words with capitals are no names."""
    warnings, dropped = list[str](), list[str]()
    question = "Which film did Stanley Kubrick and Quentin Zyxwv direct?"
    linked = await linking.from_question(titles, question, NO_PLAN, warnings.append, drop=dropped.append)
    assert names(linked) == ["kubrick"]
    assert dropped == ["Quentin Zyxwv"]
    assert "Quentin Zyxwv" in warnings[0]


async def test_what_a_question_of_yes_or_no_names_is_compared(titles: SparqlGraph) -> None:
    """Also where it has an article and is no proper name; of other questions that is what is asked for."""
    question = "Did Stanley Kubrick die of the malaria?"
    plans = [Plan((), kind=kind) for kind in ("yesno", "entities")]
    linked = [names(await linking.from_question(titles, question, plan)) for plan in plans]
    assert linked == [["kubrick", "malaria"], ["kubrick"]]


async def test_a_name_in_small_letters_stays_beside_a_proper_one(titles: SparqlGraph) -> None:
    """It has no article and no degree, and questions ask for nothing by its words: a film is none."""
    linked = await linking.from_question(titles, "Which film of Stanley Kubrick is about malaria?", NO_PLAN)
    other = await linking.from_question(titles, "Which film of Stanley Kubrick is most malaria?", NO_PLAN)
    assert (names(linked), names(other)) == (["kubrick", "malaria"], ["kubrick"])


async def test_a_name_in_small_letters_is_enough(titles: SparqlGraph) -> None:
    """Also where a proper name links to nothing, which is dropped."""
    dropped = list[str]()
    question = "Which drugs against malaria does Quentin Zyxwv sell?"
    linked = await linking.from_question(titles, question, NO_PLAN, drop=dropped.append)
    assert (names(linked), dropped) == (["malaria"], ["Quentin Zyxwv"])


@pytest.mark.parametrize(
    ("question", "topics"),
    [("Which runs longer, Iron Man 3 or Iron Man?", ["third", "first"]), ("How long is Iron Man 3?", ["third"])],
)
async def test_a_name_stands_beside_a_longer_one_that_has_it(
    make_graph: MakeGraph, question: str, topics: list[str]
) -> None:
    """As a film and its sequel do; the part of the longer name alone is none."""
    films = make_graph(':first rdfs:label "Iron Man"@en . :third rdfs:label "Iron Man 3"@en .')
    assert names(await linking.from_question(films, question, NO_PLAN)) == topics


@pytest.mark.parametrize(
    ("question", "topic"),
    [("Which drugs have the side effect cardiac arrest?", "effect"), ("Which drugs treat cardiac arrest?", "disease")],
)
async def test_of_names_that_differ_in_capitals_the_question_chooses(
    make_graph: MakeGraph, question: str, topic: str
) -> None:
    """By the words that it shares with their types; else it is the one that is spelled so."""
    graph = make_graph("""
:disease rdfs:label "cardiac arrest"@en ; a :Disease . :effect rdfs:label "Cardiac arrest"@en ; a :Effect .
:Disease rdfs:label "disease"@en . :Effect rdfs:label "side effect"@en .
""")
    assert topic in names(await linking.from_question(graph, question, NO_PLAN))


@pytest.mark.parametrize("kind", sorted(JUDGED))
async def test_a_comparison_has_more_topics(titles: SparqlGraph, kind: Kind) -> None:
    """Both sides of a comparison, and the options of a choice, are where walks start."""
    mentions = ("Stanley Kubrick", "Marie Curie", "James", "Jobs")
    question = f"{', '.join(mentions)}?"
    plans = [Plan(("k",), kind=asked, mentions=mentions) for asked in (kind, "entities")]
    assert [len(await linking.from_question(titles, question, plan)) for plan in plans] == [4, 3]


async def test_a_question_without_a_known_name_suggests_some(titles: SparqlGraph) -> None:
    """The error names what was asked and the nearest labels of what looks like a name; so for mentions."""
    with pytest.raises(TopicError, match="no entity of test is called what the question names") as caught:
        await linking.from_question(titles, "Who was taught by Mary Curie in the laboratory?", NO_PLAN)
    assert caught.value.hint.startswith("nearest labels: Marie Curie <http://x/curie>")
    with pytest.raises(TopicError, match="'Stanly Kubrik'") as caught:
        await linking.from_question(titles, "Who was he?", Plan((), mentions=("Stanly Kubrik",)))
    assert "Stanley Kubrick" in caught.value.hint
    with pytest.raises(TopicError) as caught:
        await linking.from_question(titles, "???", NO_PLAN)
    assert "fedkg search" in caught.value.hint


async def test_given_topics_are_iris_and_labels(titles: SparqlGraph, meter: Meter) -> None:
    """IRIs with or without brackets and labels in any case, in their order, each entity once, in few requests."""
    topics = ["marie curie", "<http://x/odyssey>", "http://x/nobody", "2001: A Space Odyssey", "urn:x:1", "It"]
    linked = await linking.given(titles, topics)
    assert names(linked) == ["curie", "odyssey", "nobody", "urn:x:1", "it"]
    assert [(match.label, match.mention) for match in linked[:2]] == [("Marie Curie", "marie curie"), ("odyssey", "")]
    assert meter.usage().by_kind == {"search": 2}
    assert await linking.given(titles, []) == []


@pytest.mark.parametrize("topic", ["http://x/a b", '<http://x/"q">', "http://x/{id}"])
async def test_an_iri_that_is_none_is_refused(titles: SparqlGraph, topic: str) -> None:
    """What looks like an IRI is not searched as a label."""
    with pytest.raises(TermError, match="not an IRI"):
        await linking.given(titles, [topic])


async def test_an_unknown_label_is_refused_with_suggestions(titles: SparqlGraph) -> None:
    """Also one with a colon or hostile characters in it, which is no IRI."""
    with pytest.raises(TopicError, match="2001: A Space Odissey") as caught:
        await linking.given(titles, ["It", "2001: A Space Odissey"])
    assert "2001: A Space Odyssey <http://x/odyssey>" in caught.value.hint
    for hostile in ('"@en } #', "\ud800", "x" * 5_000, " "):
        with pytest.raises(TopicError):
            await linking.given(titles, [hostile])


def test_ngrams_are_names_only() -> None:
    """The longest runs first; small words neither begin nor end one, unless they are written as part of a name."""
    spans = ngrams("What is the capital of New Zealand?")
    assert spans[0] == "What is the capital of New Zealand"
    assert {"New Zealand", "the capital", "capital of New Zealand", "Zealand"} < set(spans)
    assert not {"of New Zealand", "of", "What", "capital of", "is the"} & set(spans)
    assert "The Who" in ngrams("songs by The Who")
    assert "what we do in the shadows" in ngrams("who made what we do in the shadows")
    assert ngrams("?") == ngrams("") == ngrams("what is it") == []
    assert ngrams("'The Hobbit' and \"A Day\"")[:2] == ["The Hobbit", "A Day"]


def test_the_number_of_ngrams_is_bounded() -> None:
    """A question of twenty words needs few requests, a long one no more than its length allows."""
    words = (
        "Which of the many films that Stanley Kubrick made in the city of London before 1980 was seen by Marie Curie"
    )
    assert len(ngrams(words)) <= 120
    assert len(ngrams("word " * 400)) <= 10
    long = ngrams(" ".join(f"w{number}" for number in range(300)) + " Marie Curie")
    assert (len(long), long[0]) == (linking.MOST_NGRAMS, "Marie Curie")


# ---- several candidates, and none that is good enough ----

BERLINS = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
:b1 rdfs:label "Berlin"@en ; dcterms:description "capital of Germany"@en ; rdf:type :city .
:b22 rdfs:label "Berlin"@en ; dcterms:description "album by Lou Reed"@en ; rdf:type :album, :work .
:b333 rdfs:label "Berlin"@en ; rdf:type :ship . :b4 rdfs:label "Berlin Wall"@en . :lou rdfs:label "Lou Reed"@en .
:city rdfs:label "city"@en . :album rdfs:label "album"@en . :work rdfs:label "work"@en . :ship rdfs:label "ship"@en .
"""


@pytest.fixture
def berlins(make_graph: MakeGraph) -> SparqlGraph:
    """Three things of one name."""
    return make_graph(BERLINS)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Who lives in Berlin?", "b1"),
        ("Which songs are on the album Berlin?", "b22"),
        ("Who made the work Berlin?", "b1"),
        ("Who built the ship called Berlin?", "b333"),
        ("Is Berlin the capital city of Germany, or a ship?", "b1"),
    ],
)
async def test_of_equal_names_the_question_chooses(berlins: SparqlGraph, question: str, topic: str) -> None:
    """By the words that it shares with description and type; else it is the first, the one with the shortest IRI."""
    assert names(await linking.from_question(berlins, question, NO_PLAN)) == [topic]
    assert names(await linking.from_question(berlins, question, Plan((), mentions=("berlin",)))) == [topic]
    assert names(await linking.given(berlins, ["Berlin"], question)) == [topic]


def test_of_equal_names_that_nothing_tells_apart_the_one_is_meant_that_is_known() -> None:
    """One whose name says its type comes first, then one of a type."""
    bare, effect, illness = (
        Match(Iri(f"http://x/{place}"), "Crohn's disease", 1.0, type=kind)
        for place, kind in enumerate(("", "side effect", "disease"))
    )
    assert linking.choose("", {"Crohn's disease": [bare, effect, illness]})["Crohn's disease"].iri == illness.iri
    assert linking.choose("", {"Crohn's disease": [bare, effect]})["Crohn's disease"].iri == effect.iri


async def test_only_an_ambiguous_name_costs_another_request(berlins: SparqlGraph, meter: Meter) -> None:
    """One entity of that name is taken as it is; of several it is asked once what they are."""
    await linking.from_question(berlins, "Who saw Lou Reed?", NO_PLAN)
    assert meter.usage().by_kind == {"search": 2}, "one for the names, one that tells relations apart"
    await linking.from_question(berlins, "Who saw Berlin and Lou Reed?", NO_PLAN)
    assert meter.usage().by_kind == {"search": 5}


def match(name: str, score: float, description: str = "") -> Match:
    """A candidate."""
    return Match(Iri(f"http://x/{name}"), name, score, description)


def test_a_mention_links_to_its_best_candidate_or_to_nothing() -> None:
    """A better name beats a better description, a likeness below the threshold is none."""
    linked = linking.choose(
        "Which city lies beside the river Main?",
        {
            "Main": [
                match("a", 1.0, "a river"),
                match("b", 1.0, "a city beside a river"),
                match("c", 0.9, "city beside"),
            ],
            "Mayn": [match("d", linking.LINKS, "a river")],
            "M": [match("e", linking.LINKS - 0.01, "a river")],
            "N": [],
        },
    )
    assert {mention: (chosen.label, chosen.mention) for mention, chosen in linked.items()} == {
        "Main": ("b", "Main"),
        "Mayn": ("d", "Mayn"),
    }


class Asked:
    """Says which entity each mention means, and keeps what it was asked."""

    def __init__(self, **says: int) -> None:
        self.says = says
        self.asked: list[Sequence[Mention]] = []

    async def __call__(self, mentions: Sequence[Mention]) -> Mapping[str, int]:
        """The numbers that it was made with."""
        self.asked.append(mentions)
        return self.says


async def test_what_the_words_leave_open_is_asked_once(berlins: SparqlGraph) -> None:
    """All open mentions together, each with its equally good candidates, the likeliest first."""
    ask, plan = Asked(Berlin=2), Plan((), mentions=("Berlin", "Berlin Wall"))
    linked = await linking.from_question(berlins, "Who made Berlin beside the Berlin Wall?", plan, ask=ask)
    assert (names(linked), linked[0].mention) == (["b22", "b4"], "Berlin")
    [[mention]] = ask.asked
    assert names(list(mention.matches)) == ["b1", "b22", "b333"]


async def test_what_is_clear_is_not_asked(berlins: SparqlGraph, make_graph: MakeGraph) -> None:
    """Neither where a word decides, nor where there is one entity only, nor where nothing tells them apart."""
    ask = Asked()
    await linking.from_question(berlins, "Which songs are on the album Berlin?", NO_PLAN, ask=ask)
    await linking.from_question(berlins, "Who saw Lou Reed?", NO_PLAN, ask=ask)
    alike = make_graph(':a rdfs:label "Berlin"@en . :b2 rdfs:label "Berlin"@en .', name="alike")
    assert names(await linking.from_question(alike, "Who lives in Berlin?", NO_PLAN, ask=ask)) == ["a"]
    assert ask.asked == []


async def test_what_is_not_said_stays_as_the_words_chose_it(berlins: SparqlGraph) -> None:
    """Whoever is asked may know nothing."""
    assert names(await linking.from_question(berlins, "Who lives in Berlin?", NO_PLAN, ask=Asked())) == ["b1"]


async def test_a_name_that_means_none_of_its_entities_is_left_out(berlins: SparqlGraph) -> None:
    """With a warning; but the walk never loses its last topic."""
    warnings: list[str] = []
    plan = Plan((), mentions=("Berlin", "Berlin Wall"))
    question = "Who lives in Berlin beside the Berlin Wall?"
    linked = await linking.from_question(berlins, question, plan, warnings.append, Asked(Berlin=0))
    assert (names(linked), len(warnings)) == (["b4"], 1)
    assert "'Berlin'" in warnings[0]
    warnings.clear()
    linked = await linking.from_question(berlins, "Who lives in Berlin?", NO_PLAN, warnings.append, Asked(Berlin=0))
    assert (names(linked), len(warnings)) == (["b1"], 1)
    assert "the likeliest" in warnings[0]


@pytest.fixture
def looked_up(titles: SparqlGraph, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The mentions that `titles` was asked to look up; it finds Marie Curie, more or less alike."""
    asked: list[str] = []
    scores = {"Mary Curie": 0.74, "Mary Currie": 0.7, "Curie": 0.4}

    async def lookup(texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        asked.extend(texts)
        return {text: [match("curie", scores[text])] if text in scores else [] for text in texts}

    monkeypatch.setattr(titles, "lookup", lookup)
    return asked


async def test_a_mention_that_nothing_is_called_is_looked_up(titles: SparqlGraph, looked_up: list[str]) -> None:
    """Those that match exactly are not; what stays without an entity is said."""
    warnings: list[str] = []
    plan = Plan((), mentions=("Mary Curie", "Stanley Kubrick", "nobody"))
    linked = await linking.from_question(titles, "Did Mary Curie meet Stanley Kubrick?", plan, warnings.append)
    assert [(linked.label, linked.mention) for linked in linked] == [
        ("curie", "Mary Curie"),
        ("Stanley Kubrick", "Stanley Kubrick"),
    ]
    assert looked_up == ["Mary Curie", "nobody"]
    assert warnings == ["no entity of test is known by the name 'nobody'; the walk starts without it"]


async def test_a_question_s_own_names_are_looked_up_last(titles: SparqlGraph, looked_up: list[str]) -> None:
    """Where no part of it is a name as it stands; what is not alike enough is a suggestion, not a topic."""
    warnings: list[str] = []
    assert names(await linking.from_question(titles, "Who met Mary Currie?", NO_PLAN, warnings.append)) == ["curie"]
    assert looked_up[0] == "Mary Currie"
    looked_up.clear()
    with pytest.raises(TopicError, match="no entity of test"):
        await linking.from_question(titles, "Who met Curie?", Plan((), mentions=("Curie",)), warnings.append)
    assert (set(looked_up), warnings) == ({"Curie"}, [])


async def test_a_topic_that_is_given_has_to_match(titles: SparqlGraph, looked_up: list[str]) -> None:
    """Whoever names an entity means that one: what is like it is suggested and does not take its place."""
    with pytest.raises(TopicError, match="'Curie'") as caught:
        await linking.given(titles, ["Curie"], "Who met Curie?")
    assert (looked_up, "<http://x/curie>" in caught.value.hint) == (["Curie"], True)


@given(st.text(max_size=80))
def test_ngrams_are_made_of_the_question(question: str) -> None:
    """Whatever a question holds, every run is a part of it, and no run is empty or stands twice."""
    spans = ngrams(question)
    assert all(span in question and span.strip() for span in spans)
    assert len(set(spans)) == len(spans)


async def test_the_sample_questions_are_linked() -> None:
    """All thirty questions of the bundled sample start from exactly their gold topics."""
    sample = Path(profiles.find("sample").source).parent.parent / "sample" / "questions.jsonl"
    async with Session("sample", model="local", embedder="bm25", cache=False) as session:
        graph = await session.graph()
        for text in sample.read_text(encoding="utf-8").splitlines():
            asked = json.loads(text)
            linked = {match.iri.value for match in await linking.from_question(graph, asked["question"], NO_PLAN)}
            assert linked == {topic["iri"] for topic in asked["topic_entities"]}, asked["question"]


def test_looks_like_an_iri() -> None:
    """A title with a colon is a title."""
    assert [linking._looks_like_iri(text) for text in ("urn:a", "mailto:a@b", "http://a", "<a>")] == [True] * 4
    assert [linking._looks_like_iri(text) for text in ("Mission: Impossible", "a:b", "M:tv", "urn: x")] == [False] * 4
    assert Iri.parse("urn:a").queryable


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who directed King Kong?", ["King Kong"]),
        ("In which film does King Kong meet Godzilla?", []),
        ("who directed king kong?", []),
        ("Who directed King Kong" + ", the one that was often told" * 20 + "?", []),
    ],
)
async def test_topics_are_certain_where_all_names_are_labels(
    make_graph: MakeGraph, question: str, expected: list[str]
) -> None:
    """Without a plan: a name that links to nothing, no capitals, or a long case leave open what is meant."""
    graph = make_graph(':kong rdfs:label "King Kong"@en . :film rdfs:label "film"@en . :movie rdfs:label "film"@en .')
    assert [match.label for match in await linking.certain(graph, question)] == expected


async def test_a_name_within_a_word_of_another_is_a_name(make_graph: MakeGraph) -> None:
    """Niger is no part of Nigeria, in whichever order they are named."""
    graph = make_graph(':a rdfs:label "Nigeria"@en . :b rdfs:label "Niger"@en .')
    for options in (("Nigeria", "Niger"), ("Niger", "Nigeria")):
        topics = await linking.certain(graph, "Which country is larger in area?", options)
        assert {match.label for match in topics} == {"Nigeria", "Niger"}


@pytest.mark.parametrize(
    ("question", "topic", "mention"),
    [
        ("who was stanly kubrick married to", "kubrick", "stanly kubrick"),
        ("Who killed James Rabbitson?", "james", "James"),
        ("stanly kubrick wife", "kubrick", "stanly kubrick"),
    ],
)
async def test_a_name_in_part_or_misspelled_links_loosely(
    titles: SparqlGraph, question: str, topic: str, mention: str
) -> None:
    """Its score is below that of a name."""
    [match] = await linking.from_question(titles, question, NO_PLAN)
    assert (names([match]), match.mention) == ([topic], mention)
    assert match.score < ALIAS


async def test_what_is_asked_for_takes_the_place_of_no_unknown_name(titles: SparqlGraph) -> None:
    """Films of somebody who is not known are not films."""
    with pytest.raises(TopicError):
        await linking.from_question(titles, "Which film was made by Ingeborg Straalkvist?", NO_PLAN)


async def test_plurals_link_as_the_singular_does(titles: SparqlGraph) -> None:
    """The mention is as the question has it."""
    [match] = await linking.from_question(titles, "which cities are there", NO_PLAN)
    assert (names([match]), match.mention, match.score) == (["city"], "cities", 1.0)
