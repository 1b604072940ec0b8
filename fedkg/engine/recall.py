"""Recalling: what the model answers from memory where the graph has left a question open. It is never proven."""

from collections.abc import Callable

from fedkg.core.answer import AnswerValue
from fedkg.core.proof import Status
from fedkg.core.question import Plan
from fedkg.engine.assembly import remembered
from fedkg.errors import ModelError
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.calls.model_only import ModelOnlyCall

__all__ = ["OPEN", "recalled"]

OPEN: dict[Status, str] = {
    Status.NONE: "the graph has none",
    Status.NOT_FOUND: "nothing was found in the graph within the limits of the search",
}
"""How a search ends that leaves its question open, and what a recalled answer has to admit of that."""


async def recalled(
    reasoner: ReasoningModel, question: str, plan: Plan, warn: Callable[[str], None]
) -> tuple[AnswerValue, ...]:
    """The model's own answers, in one call; none where it does not know, or fails, which is told to `warn`.

    Raises BudgetError, and OfflineError where no reply is kept.
    """
    try:
        from_memory = await reasoner.ask(ModelOnlyCall(question, plan.kind, plan.options))
    except ModelError as error:
        warn(f"the model was asked what the graph leaves open, and gave no answer: {error}")
        return ()
    return remembered(plan, from_memory)
