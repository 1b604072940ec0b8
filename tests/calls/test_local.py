"""The reasoning model without a language model."""

from collections.abc import Sequence

import numpy as np
import pytest

from fedkg.calls.base import ReasoningModel
from fedkg.calls.local import HOP_PENALTY, PAIRED, LocalModel
from fedkg.embed.base import Matrix
from fedkg.records import Kind, Match, Mention, Offer, Plan, Recalled
from fedkg.terms import Iri

QUESTION = "where was the spouse of Peter Jackson born?"


class Told:
    """A similarity that is told what each chain of relations is worth; it keeps the queries that it is asked."""

    name = "told"
    embedded = 0
    unrelated = 0.05
    weak = 0.3

    def __init__(self, **worth: float) -> None:
        self.worth = worth
        self.queries: list[str] = []

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """The worth of each text, its words joined by underscores."""
        self.queries.append(query)
        return np.array([self.worth.get(text.replace("'s ", "__"), 0.0) for text in texts], dtype=np.float32)


def offer(number: int, *relations: str, topic: str = "Peter Jackson") -> Offer:
    """An offer of a chain of relations."""
    return Offer(number, " → ".join(relations), relations, topic=topic)


async def test_it_plans_by_content_words() -> None:
    """Keywords are what is left without stop words; mentions are left to the linking step."""
    plan = await LocalModel(Told()).plan(QUESTION)
    assert plan.keywords == ("spouse", "peter", "jackson", "born")
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
    assert (await LocalModel(Told()).plan(question)).kind == kind


async def test_it_abstains_from_verdicts_and_choices() -> None:
    """What it cannot do it says beforehand, so that nothing is fetched for it."""
    assert LocalModel(Told()).abstains == {"yesno", "claim", "choice"}


async def test_it_chooses_the_best_chains() -> None:
    """The chains most similar to the question, best first, no more than the width."""
    model = LocalModel(Told(spouse=0.5, film=0.2, award=0.4))
    offers = [offer(1, "film"), offer(2, "spouse"), offer(3, "award")]
    picks = await model.choose(QUESTION, Plan(()), offers, 2)
    assert [pick.number for pick in picks] == [2, 3]
    assert not any(pick.finishes for pick in picks)


async def test_the_better_order_of_a_chain_counts() -> None:
    """Questions name relations in the order of the walk or against it."""
    model = LocalModel(Told(born__spouse=0.9, film=0.5))
    picks = await model.choose(QUESTION, Plan(()), [offer(1, "film"), offer(2, "spouse", "born")], 1)
    assert [pick.number for pick in picks] == [2]


async def test_the_topic_is_not_part_of_what_is_asked() -> None:
    """The question is compared without the words that name the topic."""
    told = Told(spouse=1.0)
    await LocalModel(told).choose(QUESTION, Plan(()), [offer(1, "spouse")], 1)
    assert told.queries[0] == "where was the spouse of born?"


async def test_it_stops_where_no_longer_chain_says_more() -> None:
    """The walk ends when every chain scores below the best one that it extends."""
    model = LocalModel(Told(spouse=0.6, spouse__born=0.6, spouse__film=0.2))
    offers = [offer(1, "spouse", "born"), offer(2, "spouse", "film")]
    assert await model.choose(QUESTION, Plan(()), offers, 4) == ()
    better = LocalModel(Told(spouse=0.6, spouse__born=0.6 + 2 * HOP_PENALTY))
    assert [pick.number for pick in await better.choose(QUESTION, Plan(()), offers, 1)] == [1]


async def test_the_first_step_is_always_taken() -> None:
    """Even where nothing resembles the question, the answer call may still choose among one-step chains."""
    assert len(await LocalModel(Told()).choose(QUESTION, Plan(()), [offer(1, "film")], 4)) == 1
    assert await LocalModel(Told()).choose(QUESTION, Plan(()), [], 4) == ()


async def test_it_answers_with_the_best_chain_of_all_depths() -> None:
    """One path, all its tails."""
    model = LocalModel(Told(spouse=0.5, spouse__born=0.8))
    conclusion = await model.answer(QUESTION, Plan(()), [offer(1, "spouse"), offer(2, "spouse", "born")])
    assert (conclusion.paths, conclusion.tails) == ((2,), {})
    assert (await model.answer(QUESTION, Plan(()), [])).paths == ()


async def test_verification_prunes_and_finishes_nothing() -> None:
    """It has no notion of deduction: the answer call compares the chains of all depths."""
    verdicts = await LocalModel(Told()).deductive(QUESTION, Plan(()), [offer(1, "a"), offer(2, "b")])
    assert [(verdict.number, verdict.follows, verdict.finishes) for verdict in verdicts] == [
        (1, True, False),
        (2, True, False),
    ]


async def test_several_topics_are_compared_each_without_its_own_mention() -> None:
    """Chains from different topic entities compete."""
    told = Told(spouse=0.5, film=0.7)
    model = LocalModel(told)
    picks = await model.beam(QUESTION, Plan(()), None, [offer(1, "spouse"), offer(2, "film", topic="spouse")], 1)
    assert [pick.number for pick in picks] == [2]
    assert "where was the of Peter Jackson born?" in told.queries


async def test_what_resembles_nothing_is_no_answer_and_little_is_a_guess() -> None:
    """A chain that shares nothing with the question is not offered as its answer; a weak one says that it is weak."""
    assert (await LocalModel(Told()).answer(QUESTION, Plan(()), [offer(1, "film")])).paths == ()
    weak = await LocalModel(Told(film=0.2)).answer(QUESTION, Plan(()), [offer(1, "film")])
    assert (weak.paths, "guess" in weak.note) == ((1,), True)
    assert (await LocalModel(Told(film=0.5)).answer(QUESTION, Plan(()), [offer(1, "film")])).note == ""


def test_it_implements_every_call() -> None:
    """It is a model like the prompted one: the same protocol, without prompts."""
    model: ReasoningModel = LocalModel(Told())
    assert (model.name, model.exhaustive) == ("local", True)


async def test_it_has_nothing_to_add_to_a_choice_by_words() -> None:
    """Which of several entities is meant is left as the linking step chose it; from memory it knows nothing."""
    same = Mention("Berlin", (Match(Iri("http://x/1"), "Berlin", 1.0), Match(Iri("http://x/2"), "Berlin", 1.0)))
    model = LocalModel(Told())
    assert await model.link(QUESTION, [same]) == {}
    assert await model.model_only(QUESTION, "entities", style="cot") == Recalled()


async def test_paths_are_adequate_where_their_answer_is_no_guess() -> None:
    """Below the similarity's own threshold, or without any path, they are not."""
    model = LocalModel(Told(spouse=0.5, film=0.2))
    assert await model.adequacy(QUESTION, Plan(()), [offer(1, "film"), offer(2, "spouse")]) is True
    assert await model.adequacy(QUESTION, Plan(()), [offer(1, "film")]) is False
    assert await model.adequacy(QUESTION, Plan(()), []) is False


async def test_scores_are_similarities_from_0_to_1() -> None:
    """In the order of the offers; a relation counts with the chain that it ends, or alone by its name."""
    model = LocalModel(Told(spouse=0.5, spouse__born=1.5, film=-0.4))
    offers = [offer(1, "spouse", "born"), Offer(2, "→ spouse →"), offer(3, "film")]
    scores = await model.score_relations(QUESTION, Plan(()), None, offers)
    assert scores == pytest.approx((1.0, 0.5 - HOP_PENALTY, 0.0))
    entities = [Offer(1, "spouse"), Offer(2, "film"), Offer(3, "elsewhere")]
    assert await model.score_entities(QUESTION, Plan(()), entities) == pytest.approx((0.5, 0.0, 0.0))
    assert await model.score_entities(QUESTION, Plan(()), []) == ()


async def test_relation_paths_are_single_relations_and_pairs() -> None:
    """The most similar first, no longer than asked for and no more than asked for."""
    model = LocalModel(Told(spouse=0.5, born=0.4, film=0.1, born__spouse=0.9))
    relations = [Offer(1, "→ film →"), Offer(2, "→ spouse →"), Offer(3, "→ born →")]
    paths = await model.relation_paths(QUESTION, Plan(()), relations, 2, 2)
    assert [path.relations for path in paths] == [(2, 3), (3, 2)], "both orders of a chain are compared"
    assert paths[0].weight == pytest.approx(0.9 - 2 * HOP_PENALTY)
    [single] = await model.relation_paths(QUESTION, Plan(()), relations, 1, 1)
    assert single.relations == (2,)
    assert await model.relation_paths(QUESTION, Plan(()), [], 2, 2) == ()


async def test_not_all_pairs_of_many_relations_are_tried() -> None:
    """A hundred relations would make ten thousand pairs."""
    relations = [Offer(number, f"→ r{number} →") for number in range(1, 101)]
    paths = await LocalModel(Told()).relation_paths(QUESTION, Plan(()), relations, 2, 1_000)
    assert len(paths) == 100 + PAIRED**2


async def test_of_whole_paths_it_picks_those_with_the_best_chains() -> None:
    """As many as it is asked for; nothing holds it to them, and nothing needs to."""
    model = LocalModel(Told(spouse=0.5, film=0.2, born=0.4))
    offers = [offer(1, "film"), offer(2, "spouse"), offer(3, "born")]
    assert [pick.number for pick in await model.reasoning_paths(QUESTION, Plan(()), offers, 2)] == [2, 3]
    assert (await model.reasoning_paths(QUESTION, Plan(()), [], 2), model.held) == ((), 0)


async def test_the_inductive_answer_is_the_answer() -> None:
    """A hypothesis is a tail of its path, which it compares anyway."""
    model = LocalModel(Told(spouse=0.5, film=0.2))
    offers = [offer(1, "film"), offer(2, "spouse")]
    plan = Plan(())
    assert await model.inductive(QUESTION, plan, offers, ("a", "b")) == await model.answer(QUESTION, plan, offers)
