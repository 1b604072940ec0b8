"""The operation of a gold query in numbers of what is offered."""

from collections.abc import Sequence
from typing import Any

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import Direction
from fedkg.reasoner.gold_chain import GoldChain, GoldSlots
from fedkg.reasoner.gold_view import steps_of

__all__ = ["operate_reply"]


def operate_reply(
    slots: GoldSlots, paths: Sequence[PromptCandidate], relations: Sequence[PromptCandidate]
) -> dict[str, Any]:
    """The reply to `operate`; one without sets, which computes nothing, where a slot is not offered."""
    pair = slots.result == "compare"
    sets = [_path(chain, paths, pair=pair) for chain in slots.sets]
    by = slots.sets[0].steps[-1] if pair else slots.by
    filters = [(_relation(bound.by, relations), bound) for bound in slots.filters]
    wanted = [*sets, *(number for number, _ in filters), *([_relation(by, relations)] if by else [])]
    if not all(wanted):
        return {"sets": []}
    return {
        "sets": sets,
        "combine": slots.combine,
        "filters": [
            {"relation": number, "comparison": bound.comparison, "values": list(bound.values)}
            for number, bound in filters
        ],
        "result": slots.result,
        "relation": _relation(by, relations) if by else 0,
        "most": slots.most,
        "rank": slots.rank,
        "form": slots.form,
    }


def _path(chain: GoldChain, paths: Sequence[PromptCandidate], *, pair: bool) -> int:
    """The number of the path to the set; of a comparison that to what has the value. 0 for none."""
    steps = chain.steps[:-1] if pair else chain.steps
    return next((path.number for path in paths if steps_of(path) == steps and chain.starts_at(path.start)), 0)


def _relation(step: tuple[str, Direction], relations: Sequence[PromptCandidate]) -> int:
    """The number of the relation; 0 for none."""
    return next((each.number for each in relations if steps_of(each)[-1:] == (step,)), 0)
