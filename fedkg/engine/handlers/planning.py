"""Planning: chains of relations, before it is known whether the graph has them."""

from collections.abc import Sequence

import msgspec

from fedkg.core.choice import PromptCandidate, RelationPath
from fedkg.core.events import Proposed
from fedkg.core.terms import DirectedRelation
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.engine.presentation import relation_candidate, safe
from fedkg.methods.base import PlannedChain, Planning
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.retrieval.surroundings import relations_within

__all__ = ["plan"]


@handles(Planning)
async def plan(walk: RunningWalk, need: Planning) -> tuple[PlannedChain, ...]:
    """Chains of the offered relations from each topic; where the model fails, each of the best relations alone.

    A failure counts as one plan with an error of format, where plans with faults are wanted.

    Raises TopicError where the relations have to be fetched, and no endpoint has anything of any topic.
    """
    context = walk.context
    relations = need.relations or await relations_within(need.topics, need.depth, walk.retrieval)
    terms = [term for relation in relations for term in (relation.relation, relation.via) if term]
    walk.record.labels |= await context.explored.graph.labels([*need.topics, *terms])
    if not need.relations:
        walk.check_topics()
    candidates = _candidates(walk, relations)
    try:
        planned = await context.reasoner.ask(
            RelationPathsCall(
                context.question,
                context.plan,
                candidates,
                need.depth,
                need.most,
                need.faulty,
                tuple(safe(walk.record.labels.get(topic, "")) for topic in need.topics),
                context.search.path_score,
                freely=context.search.decoding == "free",
                examples=context.search.path_examples,
            )
        )
    except UNUSABLE as error:
        walk.unjudged(f"planned by the retriever's ranking: {error}")
        first = tuple(RelationPath((number,)) for number in range(1, min(len(relations), need.most) + 1))
        planned = (*first, *([RelationPath((), 0.0, "format errors")] if need.faulty else ()))
    walk.emit(Proposed(tuple(_line(candidates, chain) for chain in planned if not chain.fault)))
    chains = [(tuple(relations[number - 1] for number in chain.relations), chain) for chain in planned]
    return tuple(
        PlannedChain(topic, steps, chain.weight, chain.fault)
        for steps, chain in chains
        for topic in (need.topics[:1] if chain.fault else need.topics)
    )


def _candidates(walk: RunningWalk, relations: Sequence[DirectedRelation]) -> list[PromptCandidate]:
    """Relations as a model is shown them, without what they lead to: `→ author →`."""
    topics, labels = walk.record.topics, walk.record.labels
    topic = (topics[0].mention or topics[0].label) if len(topics) == 1 else ""
    candidates = [relation_candidate(number, relation, labels) for number, relation in enumerate(relations, 1)]
    return [msgspec.structs.replace(candidate, topic=topic) for candidate in candidates]


def _line(candidates: Sequence[PromptCandidate], chain: RelationPath) -> str:
    """A chain of offered relations as one line: `→ director → → spouse →`."""
    return " ".join(candidates[number - 1].text for number in chain.relations)
