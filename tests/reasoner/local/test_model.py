"""The reasoning model without a language model."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from fedkg.common.normalize import content_words
from fedkg.core.choice import ModelOnlyAnswer, PromptCandidate
from fedkg.core.question import Kind, Match, Mention, Plan
from fedkg.core.terms import Direction, Iri
from fedkg.embed.base import Matrix
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.local.confidence import Calibration
from fedkg.reasoner.local.judge import LEAST
from fedkg.reasoner.local.model import PLANNED, LocalModel

QUESTION = "where was the wife of Peter Jackson born?"


class Told:
    """A similarity that is told which words say a text: the share of the query's content words that are among them."""

    name = "told"
    embedded = 0
    unrelated = 0.05
    weak = 0.3

    def __init__(self, **clues: str) -> None:
        self.clues = {text: words.split() for text, words in clues.items()}
        self.queries: list[str] = []

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """The share for each text; it keeps the queries that it is asked."""
        self.queries.append(query)
        return np.array(self._shares(query, texts), dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """The share for each query and text."""
        self.queries += queries
        return np.array([self._shares(query, texts) for query in queries], dtype=np.float32)

    def _shares(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = content_words(query)
        alike = [[word in self.clues.get(text, ()) for word in asked] for text in texts]
        return [sum(shared) / max(1, len(asked)) for shared in alike]


def offer(number: int, *relations: str, topic: str = "Peter Jackson") -> PromptCandidate:
    """An offer of a chain of relations, each walked in its direction."""
    steps = " ".join(f"→ {relation} → x" for relation in relations)
    ways: list[Direction] = ["out" for _ in relations]
    return PromptCandidate(number, f"{topic} {steps}", relations, topic=topic, directions=tuple(ways))


def step(number: int, relation: str, topic: str = "Peter Jackson") -> PromptCandidate:
    """An offer of a relation alone, walked in its direction."""
    return PromptCandidate(number, f"→ {relation} →", (relation,), topic=topic, directions=("out",))


def told() -> Told:
    """What says the relations of the tests."""
    return Told(spouse="wife husband", place="born birthplace", film="movie", award="prize")


async def test_it_plans_by_content_words() -> None:
    """Keywords are what is left without stop words; mentions are left to the linking step."""
    plan = await LocalModel(Told()).ask(PlanCall(QUESTION))
    assert plan.keywords == ("wife", "peter", "jackson", "born")
    assert (plan.kind, plan.mentions) == ("entities", ())


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many films did he direct?", "count"),
        ("Is Paris a city?", "yesno"),
        ("Did Churchill win?", "yesno"),
        ("Can you name a film directed by Jackson?", "entities"),
        ("When was she born?", "literal"),
        ("How tall is it?", "literal"),
        ("Who wrote it?", "entities"),
    ],
)
async def test_the_kind_of_a_question_shows_in_its_first_words(question: str, kind: Kind) -> None:
    """Kinds are told apart by how a question begins."""
    assert (await LocalModel(Told()).ask(PlanCall(question))).kind == kind


async def test_it_abstains_from_claims_and_choices() -> None:
    """What it cannot do it says beforehand, so that nothing is fetched for it."""
    assert LocalModel(Told()).abstains == {"claim", "choice"}


async def test_it_chooses_the_best_chains() -> None:
    """The chains that the question says best, best first, no more than the width."""
    offers = [offer(1, "film"), offer(2, "place"), offer(3, "spouse")]
    best = await LocalModel(told()).ask(ChooseCall("the wife of Peter Jackson?", Plan(()), offers, 1))
    assert best.picks == (3,)
    both = await LocalModel(told()).ask(ChooseCall(QUESTION, Plan(()), offers, 2))
    assert (set(both.picks), both.decides) == ({2, 3}, None)


async def test_the_topic_is_not_part_of_what_is_asked() -> None:
    """The question is compared without the words that name the topic."""
    similarity = told()
    await LocalModel(similarity).ask(ChooseCall(QUESTION, Plan(()), [offer(1, "spouse")], 1))
    assert similarity.queries
    assert not any("jackson" in query.lower() for query in similarity.queries)


async def test_it_stops_where_no_longer_chain_says_more() -> None:
    """The walk ends where every chain fits worse than the best one that it extends."""
    model = LocalModel(told())
    offers = [offer(1, "spouse", "place"), offer(2, "spouse", "film")]
    assert (await model.ask(ChooseCall("the wife of Peter Jackson?", Plan(()), offers, 4))).picks == ()
    assert (await model.ask(ChooseCall(QUESTION, Plan(()), offers, 1))).picks == (1,)


async def test_a_step_to_the_same_thing_is_walked_though_nobody_says_it() -> None:
    """What is asked may be stated of the other one; within the width, and not twice."""
    model = LocalModel(told())
    offers = [offer(1, "film"), offer(2, "exact match"), offer(3, "same as"), offer(4, "spouse")]
    best = await model.ask(ChooseCall("the wife of Peter Jackson?", Plan(()), offers, 3))
    assert best.picks == (2, 3, 4)
    further = [offer(1, "exact match", "same as"), offer(2, "exact match", "spouse"), offer(3, "exact match", "film")]
    assert (await model.ask(ChooseCall("the wife of Peter Jackson?", Plan(()), further, 3))).picks == (2,)


async def test_such_a_step_only_makes_the_way_longer() -> None:
    """It is said as well as the way without it, which is taken where there is one; it alone answers nothing."""
    model = LocalModel(told())
    same, direct = offer(1, "exact match", "spouse"), offer(2, "spouse")
    question = "the wife of Peter Jackson?"
    beyond = await model.ask(AnswerCall(question, Plan(()), [offer(3, "exact match"), offer(4, "film"), same]))
    assert beyond.paths == (1,)
    assert beyond.evidence is not None
    assert beyond.evidence.hops == 1
    assert (await model.ask(AnswerCall(question, Plan(()), [same, direct]))).paths == (2,)
    again = PromptCandidate(5, "", ("spouse", "exact match"), ("Ann",), topic="Peter Jackson", types=("wife",))
    named = PromptCandidate(6, "", ("spouse",), ("Ann",), topic="Peter Jackson")
    assert (await model.ask(AnswerCall("Which wife has Peter Jackson?", Plan(()), [again, named]))).paths == (6,)
    assert (await model.ask(AnswerCall(question, Plan(()), [offer(3, "exact match")]))).paths == ()


async def test_the_first_step_is_always_taken() -> None:
    """Even where nothing resembles the question, the answer call may still choose among one-step chains."""
    assert (await LocalModel(Told()).ask(ChooseCall(QUESTION, Plan(()), [offer(1, "film")], 4))).picks == (1,)
    assert (await LocalModel(Told()).ask(ChooseCall(QUESTION, Plan(()), [], 4))).picks == ()


async def test_it_answers_with_the_best_chain_of_all_depths() -> None:
    """One path, all its tails."""
    model = LocalModel(told())
    conclusion = await model.ask(AnswerCall(QUESTION, Plan(()), [offer(1, "spouse"), offer(2, "spouse", "place")]))
    assert (conclusion.paths, conclusion.tails, conclusion.note) == ((2,), {}, "")
    assert (await model.ask(AnswerCall(QUESTION, Plan(()), []))).paths == ()


async def test_verification_prunes_and_finishes_nothing() -> None:
    """It has no notion of deduction: the answer call compares the chains of all depths."""
    verdicts = await LocalModel(Told()).ask(DeductiveCall(QUESTION, Plan(()), [offer(1, "a"), offer(2, "b")]))
    assert [(verdict.number, verdict.follows, verdict.finishes) for verdict in verdicts] == [
        (1, True, False),
        (2, True, False),
    ]


async def test_several_topics_are_compared_without_their_mentions() -> None:
    """Chains from different topic entities compete; none of their names is a word of what is asked."""
    similarity = told()
    question = "the wife of Peter Jackson, not of Fran"
    offers = [offer(1, "film"), offer(2, "spouse", topic="Fran")]
    picks = await LocalModel(similarity).ask(BeamCall(question, Plan(()), None, offers, 1))
    assert [pick.number for pick in picks] == [2]
    assert not any("peter" in query or "fran" in query for query in similarity.queries)


async def test_what_resembles_nothing_is_no_answer_and_little_is_no_confidence() -> None:
    """A chain that shares nothing with the question is not offered as its answer; a weak one has less confidence."""
    assert (await LocalModel(Told()).ask(AnswerCall(QUESTION, Plan(()), [offer(1, "film")]))).paths == ()
    weak = await LocalModel(Told(spouse="wife")).ask(
        AnswerCall("Peter Jackson's wife's uncle's dog", Plan(()), [offer(1, "spouse", "film", "award")])
    )
    strong = await LocalModel(told()).ask(AnswerCall(QUESTION, Plan(()), [offer(1, "spouse")]))
    assert (weak.paths, weak.confidence is not None, strong.confidence is not None) == ((1,), True, True)
    assert (weak.confidence or 0) < (strong.confidence or 0)


async def test_what_it_does_not_read_lowers_its_confidence() -> None:
    """To a half at most, and the conclusion tells what that was."""
    model = LocalModel(told(), Calibration(5.0, {}))
    plain = await model.ask(AnswerCall("Who is Peter Jackson's spouse?", Plan(()), [offer(1, "spouse")]))
    doubted = await model.ask(AnswerCall("Who is not Peter Jackson's spouse?", Plan(()), [offer(1, "spouse")]))
    assert plain.unread == ""
    assert (plain.confidence or 0) > 0.99
    assert (doubted.unread, doubted.confidence) == ("the question says 'not', which local does not read", 0.5)


async def test_a_calibration_of_ones_own() -> None:
    """It stands for the bundled one."""
    model = LocalModel(told(), Calibration(0.0, {}))
    assert (await model.ask(AnswerCall(QUESTION, Plan(()), [offer(1, "spouse")]))).confidence == 0.5


async def test_words_in_common_are_enough_on_a_tiny_graph() -> None:
    """By BM25 most scores are 0; whatever has a word in common comes first, whatever else speaks against it."""
    model = LocalModel(Bm25Similarity())
    back = PromptCandidate(2, "King Kong ← film ← x", ("film",), topic="King Kong")
    offers = [offer(1, "award", topic="King Kong"), back]
    question = "in which film does King Kong die?"
    assert (await model.ask(ChooseCall(question, Plan(()), offers, 1))).picks == (2,)
    scores = await model.ask(ScoreRelationsCall(question, Plan(()), None, offers))
    assert scores[0] == 0
    assert scores[1] >= LEAST
    assert (await model.ask(AnswerCall(question, Plan(()), offers))).paths == (2,)


def test_it_implements_every_call() -> None:
    """It is a model like the prompted one: the same protocol, without prompts."""
    model: ReasoningModel = LocalModel(Told())
    assert (model.name, model.exhaustive) == ("local", True)


async def test_it_has_nothing_to_add_to_a_choice_by_words() -> None:
    """Which of several entities is meant is left as the linking step chose it; from memory it knows nothing."""
    same = Mention("Berlin", (Match(Iri("http://x/1"), "Berlin", 1.0), Match(Iri("http://x/2"), "Berlin", 1.0)))
    model = LocalModel(Told())
    assert await model.ask(LinkCall(QUESTION, [same])) == {}
    assert await model.ask(ModelOnlyCall(QUESTION, "entities", style="cot")) == ModelOnlyAnswer()


async def test_paths_are_adequate_where_they_say_all_of_the_question() -> None:
    """A longer one may say what is left; without any path, or where it says nothing, they never are."""
    model = LocalModel(told())
    short, whole = offer(1, "spouse"), offer(2, "spouse", "place")
    assert await model.ask(AdequacyCall(QUESTION, Plan(()), [short, whole])) is True
    assert await model.ask(AdequacyCall(QUESTION, Plan(()), [short])) is False
    assert await model.ask(AdequacyCall("the wife of Peter Jackson?", Plan(()), [short])) is True
    assert await model.ask(AdequacyCall(QUESTION, Plan(()), [offer(1, "award")])) is False
    assert await model.ask(AdequacyCall(QUESTION, Plan(()), [])) is False


async def test_scores_lie_between_0_and_1_and_count_what_is_said_so_far() -> None:
    """In the order of the offers: the first step of a longer chain is as good as all of it, what is not said is 0."""
    model = LocalModel(told())
    question = "the birthplace of the wife of Peter Jackson"
    offers = [offer(1, "spouse"), step(2, "spouse"), offer(3, "film")]
    first, alone, other = await model.ask(ScoreRelationsCall(question, Plan(()), None, offers))
    assert first == alone
    assert (0.5 < first <= 1, other) == (True, 0.0)
    assert await model.ask(ScoreEntitiesCall(question, Plan(()), [])) == ()
    wife, film = await model.ask(ScoreEntitiesCall(question, Plan(()), [offer(1, "spouse"), offer(2, "film")]))
    assert 1 >= wife > film >= 0


async def test_a_step_shown_alone_goes_on_from_its_path() -> None:
    """Its own text has one arrow, that of the path comes before: the turn back is seen."""
    path = PromptCandidate(1, "Kong ← film ← Jackson", ("film",), topic="Kong", directions=("in",))
    back = PromptCandidate(1, "→ film →", ("film", "film"), topic="Kong", directions=("in", "out"))
    other = PromptCandidate(2, "← film ←", ("film", "film"), topic="Kong", directions=("in", "in"))
    turn, straight = await LocalModel(told()).ask(
        ScoreRelationsCall("the movie of movie of Kong", Plan(()), path, [back, other])
    )
    assert turn < straight


async def test_relation_paths_are_as_long_as_the_question_says() -> None:
    """The best first, no longer than asked for and no more than asked for."""
    model = LocalModel(told())
    names = ("film", "spouse", "place")
    relations = [step(number, name) for number, name in enumerate(names, 1)]
    best, *_ = paths = await model.ask(
        RelationPathsCall("the birthplace of the wife of Peter Jackson", Plan(()), relations, 2, 2)
    )
    assert (best.relations, len(paths)) == ((2, 3), 2)
    [single] = await model.ask(RelationPathsCall("the wife of Peter Jackson", Plan(()), relations, 1, 1))
    assert single.relations == (2,)
    three = "the prize of the husband of the wife of Peter Jackson"
    [longest] = await model.ask(RelationPathsCall(three, Plan(()), [*relations, step(4, "award")], 3, 1))
    assert longest.relations == (2, 2, 4)
    assert await model.ask(RelationPathsCall(QUESTION, Plan(()), [], 2, 2)) == ()


async def test_not_all_chains_of_many_relations_are_tried() -> None:
    """A hundred relations would make a million chains of three."""
    relations = [PromptCandidate(number, f"→ r{number} →") for number in range(1, 101)]
    paths = await LocalModel(Told()).ask(RelationPathsCall(QUESTION, Plan(()), relations, 3, 10_000))
    assert len(paths) == 100 + 2 * PLANNED * 100


async def test_of_whole_paths_it_picks_those_with_the_best_chains() -> None:
    """As many as it is asked for; nothing holds it to them, and nothing needs to."""
    model = LocalModel(told())
    offers = [offer(1, "film"), offer(2, "spouse"), offer(3, "spouse", "place")]
    assert [pick.number for pick in await model.ask(ReasoningPathsCall(QUESTION, Plan(()), offers, 2))] == [3, 2]
    assert (await model.ask(ReasoningPathsCall(QUESTION, Plan(()), [], 2)), model.constraint_limit) == ((), 0)


async def test_the_inductive_answer_is_the_answer() -> None:
    """A hypothesis is a tail of its path, which it compares anyway."""
    model = LocalModel(told())
    offers = [offer(1, "spouse"), offer(2, "film")]
    plan = Plan(())
    conclusion = await model.ask(AnswerCall(QUESTION, plan, offers))
    assert await model.ask(InductiveCall(QUESTION, plan, offers, ("a", "b"))) == conclusion
    assert await model.ask(WeightedAnswerCall(QUESTION, plan, offers)) == conclusion


async def test_chains_that_meet_are_said_by_parts_of_the_question() -> None:
    """Each by the words on its own topic's side: by all of them both would be said badly, and another pair better."""
    model = LocalModel(Told(director="films", setting="set", country="films set"))
    question = "Which films of Ada are set in Bath?"
    meant, other = (
        PromptCandidate(
            number, "", names[:1], ("y",), topic="Ada", directions=("out",), also=(offer(0, *names[1:], topic="Bath"),)
        )
        for number, names in enumerate((("director", "setting"), ("film", "country")), 1)
    )
    assert (await model.ask(AnswerCall(question, Plan(()), [other, meant]))).paths == (1,)


async def test_what_the_other_chain_of_two_that_meet_says_is_not_said_elsewhere() -> None:
    """Words that a relation of either topic says are read."""
    meant, other = (
        msgspec.structs.replace(offer(number, first, topic="Ada"), also=(offer(0, then, topic="Bath"),))
        for number, first, then in ((1, "director", "setting"), (2, "setting", "director"))
    )
    alone = offer(3, "setting", topic="Bath")
    model = LocalModel(Told(director="films", setting="set"))
    answer = await model.ask(AnswerCall("Which films of Ada are set in Bath?", Plan(()), [meant, other, alone]))
    assert answer.evidence is not None
    assert (answer.paths, answer.evidence.said, answer.evidence.elsewhere) == ((1,), 0.75, 0.0)


async def test_a_topic_that_is_named_in_part_is_no_word_of_the_question() -> None:
    """Chains are said by what is left: a relation that is called like the rest of the name gains nothing."""
    similarity = Told(residence="live", picasso="picasso")
    await LocalModel(similarity).ask(
        AnswerCall("Where did picasso live?", Plan(()), [offer(1, "residence", topic="Pablo Picasso")])
    )
    assert not any("picasso" in query for query in similarity.queries)


async def test_of_one_walk_by_two_names_the_straight_one_is_meant() -> None:
    """The children of somebody, before those who have him as a parent; these where nothing else is stated."""
    back = PromptCandidate(1, "", ("parents",), ("Ann",), topic="Bo", directions=("in",))
    straight = PromptCandidate(2, "", ("children",), ("Cy",), topic="Bo", directions=("out",))
    model = LocalModel(Told(children="children"))
    for offers, taken in (([back, straight], (2,)), ([back], (1,))):
        assert (await model.ask(AnswerCall("Bo's children?", Plan(()), offers))).paths == taken


async def test_what_connects_two_topics_is_walked_and_answers_where_no_relation_is_said() -> None:
    """The answer is a guess; where a relation is said it is the one that is walked."""
    paths = [
        PromptCandidate(1, "", ("place",), ("Lima",), topic="Ann", directions=("out",), start="Ann"),
        PromptCandidate(2, "", ("party",), ("Whigs",), topic="Ann", directions=("out",), start="Ann"),
        PromptCandidate(3, "", ("film",), ("Emma",), topic="Whigs", directions=("out",), start="Whigs"),
    ]
    model, plan = LocalModel(Told(place="paint")), Plan((), kind="yesno")
    assert (await model.ask(ChooseCall("Did Ann go to the Whigs?", plan, paths, 2))).picks == (2,)
    joined = await model.ask(AnswerCall("Did Ann go to the Whigs?", plan, paths))
    assert (joined.verdict, joined.paths, joined.confidence) == ("yes", (2,), 0.5)
    said = await model.ask(ChooseCall("Did Ann paint the Whigs?", plan, paths, 1))
    assert said.picks == (1,)


async def test_what_is_said_beside_the_question_is_not_read() -> None:
    """The clause that asks tells the chain."""
    offers = [offer(1, "film"), offer(2, "place"), offer(3, "spouse")]
    message = "I saw a film by Peter Jackson. Who is his wife?"
    assert (await LocalModel(told()).ask(ChooseCall(message, Plan(()), offers, 1))).picks == (3,)
