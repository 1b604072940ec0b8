"""The steps by which a walk goes on: those whose chains a question says best, or may say best when they are longer."""

import math
from collections.abc import Sequence

from fedkg.core.choice import Choice, PromptCandidate
from fedkg.reasoner.local.asked_paths import asked_paths
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.connecting import connecting
from fedkg.reasoner.local.judge import ChainJudge

__all__ = ["best_steps"]

HOPELESS = 0.35
"""How much worse than the best a chain may be to be walked on: fewer chains are looked at more closely (tuned)."""


async def best_steps(
    judge: ChainJudge, question: str, candidates: Sequence[PromptCandidate], width: int
) -> tuple[Choice, ...]:
    """The `width` chains that are said best, as they are or as beginnings of longer ones.

    None where none is better than the best chain that it extends, nor may become so.
    """
    meant = asked_paths(question, candidates)
    if values := meant.compared_values:
        return tuple(Choice(path.number) for path in values)[:width]
    if joined := connecting(meant.text, meant.candidates):
        return tuple(Choice(meant.candidates[place].number) for place in joined)[:width]
    chains = meant.chains
    walked = list(dict.fromkeys(chain.before() for chain in chains if len(chain.relations) > 1))
    judged = await judge.judged(meant.text, chains + walked, parts=meant.parts)
    new, old = judged[: len(chains)], judged[len(chains) :]
    hopes = [max(one.score, one.promise) for one in new]
    if not new or (old and max(hopes) <= max(one.score for one in old)):
        return ()
    most = {chain.topic: -math.inf for chain in chains}
    for chain, hope in zip(chains, hopes, strict=True):
        most[chain.topic] = max(most[chain.topic], hope)
    likely = [index for index, hope in enumerate(hopes) if hope > most[chains[index].topic] - HOPELESS]
    same = [index for index, chain in enumerate(chains) if len(chain.relations) == 1 and not chain.told().relations]
    best = same + sorted(likely, key=lambda index: -hopes[index])
    return tuple(Choice(candidates[index].number) for index in _shared(best, chains, width))


def _shared(best: Sequence[int], chains: Sequence[RelationChain], width: int) -> list[int]:
    """The first of these places; each topic has its share of them."""
    topics = {chains[place].topic for place in best}
    share = max(1, width // max(1, len(topics)))
    of_topic = {topic: [place for place in best if chains[place].topic == topic][:share] for topic in topics}
    taken = {place for places in of_topic.values() for place in places}
    more = [place for place in best if place not in taken][: max(0, width - len(taken))]
    return [place for place in best if place in taken or place in more][:width]
