"""Links, adequacy, scores and weighted relation paths, as replies give them."""

import json
import math
from typing import Any

import pytest

from fedkg.core.choice import PromptCandidate, RelationPath
from fedkg.core.question import Match, Mention, Plan
from fedkg.core.terms import Iri
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Capability, Completion, Request, Token
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

PLAN = Plan(("k",), ("from Momo by author",))
RELATIONS = tuple(PromptCandidate(n, f"→ r{n} →", (f"r{n}",)) for n in range(1, 5))
MENTIONS = (
    Mention("Berlin", (Match(Iri("http://x/1"), "Berlin", 1.0, "capital of Germany", "Berlin", "city"),) * 2),
    Mention("Antony", (Match(Iri("http://x/3"), "Antony\n9) Anton", 1.0, "Roman general"),) * 3),
)


def scripted(*replies: Any) -> tuple[PromptedModel, ScriptedModel]:
    """A model that replies so, and the chat model that was asked."""
    chat = ScriptedModel([json.dumps(reply) for reply in replies])
    return PromptedModel(chat), chat


def entry(number: Any, value: Any, key: str = "relation", score_key: str = "score") -> dict[str, Any]:
    """An entry of a reply."""
    return {key: number, score_key: value}


async def linked(*links: tuple[Any, Any]) -> dict[str, int]:
    """What `link` makes of these mentions and candidates."""
    reply = {"links": [entry(number, candidate, "mention", "candidate") for number, candidate in links]}
    return await scripted(reply, reply)[0].ask(LinkCall("Q?", MENTIONS))


async def test_links_are_candidates_that_the_mention_has() -> None:
    """0 is "none of them"; a number beyond the mention's own candidates is left out, and the first of two counts."""
    assert await linked((1, 2), (2, 0)) == {"Berlin": 2, "Antony": 0}
    assert await linked((1, 3), (2, 3), (2, 1), (3, 1)) == {"Antony": 3}
    assert await linked() == {}


@pytest.mark.parametrize("link", [(1, 3), (0, 1), (3, 1), (1, -1), (1, "one"), (None, 1)])
async def test_links_of_which_none_was_offered_are_malformed(link: tuple[Any, Any]) -> None:
    """They are not taken for "nothing said"."""
    with pytest.raises(ModelReplyError, match="offered"):
        await linked(link)


async def test_candidates_are_shown_on_a_line_each() -> None:
    """Label, type and description, numbered within their mention; what is not known leaves no brackets."""
    model, chat = scripted({"links": []})
    await model.ask(LinkCall("Which songs are on Berlin?", MENTIONS))
    user = chat.asked[0][0][1].content
    assert "1. Berlin\n   1) Berlin (city): capital of Germany\n   2) Berlin (city)" in user
    assert "2. Antony\n   1) Antony 9) Anton: Roman general\n" in user


@pytest.mark.parametrize(("adequate", "read"), [(True, True), (False, False), ("yes", True), ("No", False)])
async def test_adequacy_is_yes_or_no(adequate: Any, read: bool) -> None:
    """Written as a boolean or as a word."""
    assert await scripted({"adequate": adequate})[0].ask(AdequacyCall("Q?", PLAN, RELATIONS)) is read


@pytest.mark.parametrize("adequate", [1, None, "enough", [True], {}])
async def test_an_unclear_adequacy_is_malformed(adequate: Any) -> None:
    """What is neither is not guessed at."""
    with pytest.raises(ModelReplyError):
        await scripted({"adequate": adequate}, {"adequate": adequate})[0].ask(AdequacyCall("Q?", PLAN, RELATIONS))


async def scored(*entries: Any) -> tuple[float, ...]:
    """What `score_relations` makes of these entries."""
    reply = {"scores": list(entries)}
    return await scripted(reply, reply)[0].ask(ScoreRelationsCall("Q?", PLAN, None, RELATIONS))


async def test_scores_come_in_the_order_of_the_offers() -> None:
    """What is left out is 0.0, the first of two scores counts, and none at all are fine."""
    assert await scored(entry(3, 0.5), entry(1, 1), entry("2", "0.25"), entry(3, 0.9)) == (1.0, 0.25, 0.5, 0.0)
    assert await scored() == (0.0,) * 4


@pytest.mark.parametrize("value", [1.01, -0.1, float("nan"), float("inf"), "high", True, None, [1], 10**400, "1e0"])
async def test_a_score_out_of_range_drops_its_entry(value: Any) -> None:
    """The others stay; where it was the only one, the reply is malformed."""
    assert await scored(entry(1, value), entry(2, 0.5)) == (0.0, 0.5, 0.0, 0.0)
    with pytest.raises(ModelReplyError):
        await scored(entry(1, value))


async def test_scores_of_entities_go_by_their_own_name() -> None:
    """An entry names an entity there, a relation here."""
    reply = {"scores": [entry(2, 0.75, "entity")]}
    assert await scripted(reply)[0].ask(ScoreEntitiesCall("Q?", PLAN, RELATIONS)) == (0.0, 0.75, 0.0, 0.0)
    with pytest.raises(ModelReplyError):
        await scripted(reply, reply)[0].ask(ScoreRelationsCall("Q?", PLAN, None, RELATIONS))


def plan(weight: Any, *relations: Any) -> dict[str, Any]:
    """A plan of a reply."""
    return {"relations": list(relations), "weight": weight}


async def chains(*plans: Any, depth: int = 2, most: int = 9) -> tuple[RelationPath, ...]:
    """What `relation_paths` makes of these plans."""
    reply = {"plans": list(plans)}
    return await scripted(reply, reply)[0].ask(RelationPathsCall("Q?", PLAN, RELATIONS, depth, most))


async def test_relation_paths_come_heaviest_first() -> None:
    """Equal chains are one, with the greater weight; a relation may be walked twice; no more than `most` are kept."""
    relation_paths = await chains(plan(0.3, 1), plan(0.5, 2, 2), plan(0.8, 1), plan(0.1, 1, 2))
    assert relation_paths == (RelationPath((1,), 0.8), RelationPath((2, 2), 0.5), RelationPath((1, 2), 0.1))
    assert await chains(plan(0.3, 1), plan(0.5, 2), most=1) == (RelationPath((2,), 0.5),)
    assert await chains() == ()


@pytest.mark.parametrize(
    "bad",
    [
        plan(0.9),
        plan(0.9, 1, 5),
        plan(0.9, 0),
        plan(0.9, 1, 2, 3),
        plan(1.5, 1),
        plan(None, 1),
        [1],
        "1",
        plan(1, "r1"),
    ],
)
async def test_a_chain_that_cannot_be_walked_is_dropped_as_a_whole(bad: Any) -> None:
    """Without relations, with one that was not offered, with too many, or without a weight; the other chains stay."""
    assert await chains(bad, plan(0.5, 4)) == (RelationPath((4,), 0.5),)
    audited = RelationPathsCall("Q?", PLAN, RELATIONS, 2, 9, faulty=True)
    reply = {"plans": [bad, plan(0.5, 4)]}
    first, second = await scripted(reply)[0].ask(audited)
    assert (first, second.relations) == (RelationPath((4,), 0.5), ())
    unknown = bad in (plan(0.9, 1, 5), plan(0.9, 0))
    assert second.fault == ("relations not in the graph" if unknown else "format errors")
    with pytest.raises(ModelReplyError, match="none of its plans"):
        await chains(bad)


async def test_nothing_is_asked_about_nothing() -> None:
    """Without mentions, paths, offers or relations no call is made."""
    model, chat = scripted()
    assert await model.ask(LinkCall("Q?", ())) == {}
    assert await model.ask(AdequacyCall("Q?", PLAN, ())) is False
    assert await model.ask(ScoreRelationsCall("Q?", PLAN, None, ())) == ()
    assert await model.ask(ScoreEntitiesCall("Q?", PLAN, ())) == ()
    assert await model.ask(RelationPathsCall("Q?", PLAN, (), 2, 3)) == ()
    assert chat.asked == []


async def test_the_prompt_says_how_many_chains_of_which_length() -> None:
    """The bounds are in the user's turn, beside the plan and the relations."""
    model, chat = scripted({"plans": []})
    await model.ask(RelationPathsCall("Q?", PLAN, RELATIONS, 2, 1))
    user = chat.asked[0][0][1].content
    assert "At most 1 chain of at most 2 relations." in user
    assert "3. → r3 →" in user
    assert "Plan: from Momo by author" in user


class Spelling:
    """A chat model whose reply comes in these tokens; `asked` are its requests."""

    name = "spelling"
    capability = Capability(context=200_000, logprobs=True)

    def __init__(self, *spelled: Token) -> None:
        self.spelled = spelled
        self.text = "".join(token.text for token in spelled)
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        """The reply."""
        self.asked.append(request)
        return Completion(self.text, spelled=self.spelled)

    async def close(self) -> None:
        """Nothing to free."""


def token(text: str, **alternatives: float) -> Token:
    """A token; the alternatives are probabilities, by default that of itself is 1."""
    return Token(text, {name: math.log(share) for name, share in (alternatives or {text: 1.0}).items()})


def spelled(verdict: Token, before: str = '{"deducible": ', after: str = "}") -> tuple[Token, ...]:
    """The tokens of a reply with that verdict."""
    return (*map(token, before), verdict, token(after))


async def deduced(*tokens: Token) -> tuple[float, Spelling]:
    """The probability that comes of these tokens, and the model that was asked."""
    chat = Spelling(*tokens)
    path, other = PromptCandidate(1, "Momo → author → Michael Ende"), PromptCandidate(2, "Momo → genre → fantasy")
    return await PromptedModel(chat).ask(DeducibleCall("Who wrote Momo?", PLAN, path, [other])), chat


@pytest.mark.parametrize(
    ("verdict", "share"),
    [
        (token("true", true=0.6, false=0.2), 0.75),
        (token("false", true=0.6, false=0.2), 0.75),
        (Token(" true", {" true": math.log(0.3), "True": math.log(0.3), " false": math.log(0.2)}), 0.75),
        (Token('"yes', {'"yes': -0.5, '"no': -0.5, "maybe": -0.1}), 0.5),
        (token("true"), 1.0),
        (token("false"), 0.0),
        (Token("true", {"true": 5000.0, "false": 5000.0}), 0.5),
    ],
)
async def test_the_probability_of_yes_is_read_off_the_tokens(verdict: Token, share: float) -> None:
    """Softmax over what says yes and what says no, in any spelling; what says neither does not count."""
    after = '"}' if '"' in verdict.text else "}"
    probability, chat = await deduced(*spelled(verdict, after=after))
    assert probability == pytest.approx(share)
    assert [request.alternatives for request in chat.asked] == [5]


async def test_the_path_that_is_judged_stands_apart() -> None:
    """The others are shown below it."""
    _, chat = await deduced(*spelled(token("true")))
    user = chat.asked[0].messages[1].content
    assert "Path: Momo → author → Michael Ende\nKept paths:\n- Momo → genre → fantasy\n" in user


async def test_the_verdict_counts_and_not_what_stands_before_it() -> None:
    """A model that thinks aloud says true and false there, too."""
    before = '<think>{"deducible": false, no</think>{"deducible": '
    probability, _ = await deduced(*spelled(token("true", true=0.9, false=0.1), before))
    assert probability == pytest.approx(0.9)


@pytest.mark.parametrize(
    "tokens",
    [
        (token('{"deducible": true}'),),
        spelled(token("true", maybe=0.5)),
        spelled(token("perhaps")),
        spelled(token("true"), after=""),
    ],
)
async def test_without_a_verdict_of_its_own_there_is_no_probability(tokens: tuple[Token, ...]) -> None:
    """Of a token that says more than the verdict, of none that says it, of what is no JSON."""
    with pytest.raises(ModelReplyError):
        await deduced(*tokens)


async def test_a_reply_without_its_tokens_is_of_no_use() -> None:
    """A server may take the argument and give nothing."""
    chat = ScriptedModel(lambda *_: '{"deducible": true}')
    with pytest.raises(ModelReplyError, match="without the log-probabilities"):
        await PromptedModel(chat).ask(DeducibleCall("Who?", PLAN, PromptCandidate(1, "A → r → B")))
    assert len(chat.asked) == 2
