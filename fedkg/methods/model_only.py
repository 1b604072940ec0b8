"""The model alone, without a graph: what it answers from memory (FiDeLiS v4, Table 1, LLM only; GCR, Table 1).

`io` asks for the answer, `few-shot` shows examples, `cot` lets the model think first (Wei et al., 2022).
`self-consistency` takes the answer that most of several chains of thought come to (Wang et al., 2023, section 2).
"""

import contextlib
from collections import Counter
from collections.abc import Sequence
from functools import partial

from fedkg.common.normalize import normalized_answer
from fedkg.core.choice import ModelOnlyAnswer
from fedkg.core.question import Style
from fedkg.errors import BudgetError
from fedkg.methods.base import AskingModelOnly, Method, SearchResult, Task, Walk, ask

__all__ = ["COT", "FEW_SHOT", "IO", "SAMPLES", "SELF_CONSISTENCY", "once", "voted"]

SAMPLES = 5
"""Five to ten samples have most of the gain (Wang et al., 2023, section 5)."""


def once(_task: Task, style: Style) -> Walk:
    """One call, one answer."""
    from_memory = yield from ask(AskingModelOnly(style))
    return SearchResult(from_memory=from_memory)


def voted(_task: Task) -> Walk:
    """Several samples, and the answer of most of them; where a budget is spent, of those that there are."""
    replies: list[ModelOnlyAnswer] = []
    with contextlib.suppress(BudgetError):
        for sample in range(1, SAMPLES + 1):
            reply = yield from ask(AskingModelOnly("cot", sample))
            replies += [reply] if reply is not None else []
    return _majority(replies)


def _majority(replies: Sequence[ModelOnlyAnswer]) -> SearchResult:
    """The first of the answers that most samples gave, and which share of them that is.

    Not to know is an answer, too.
    """
    if not replies:
        return SearchResult(measures={"samples": 0})
    votes = Counter(map(_vote, replies))
    most = max(votes, key=votes.__getitem__)
    from_memory = next(reply for reply in replies if _vote(reply) == most)
    measures: dict[str, float | str] = {"samples": len(replies), "agreement": votes[most] / len(replies)}
    return SearchResult(from_memory=from_memory, measures=measures)


def _vote(reply: ModelOnlyAnswer) -> ModelOnlyAnswer:
    """The answer as it is compared: several values in any order, each however it is written."""
    return ModelOnlyAnswer(
        tuple(sorted({normalized_answer(value) for value in reply.values})), reply.verdict, reply.option
    )


IO = Method(
    "Input-output prompting: the model alone",
    "FiDeLiS v4, Table 1: zero-shot",
    partial(once, style="io"),
    graph=False,
    plans=False,
    prompts=True,
)
FEW_SHOT = Method(
    "Few-shot prompting: the model alone, shown examples",
    "FiDeLiS v4, Table 1: few-shot",
    partial(once, style="few-shot"),
    graph=False,
    plans=False,
    prompts=True,
)
COT = Method(
    "Chain of thought: the model alone, thinking first",
    "FiDeLiS v4, Table 1: CoT; Wei et al. 2022",
    partial(once, style="cot"),
    graph=False,
    plans=False,
    prompts=True,
)
SELF_CONSISTENCY = Method(
    "Self-consistency: what most of the model's chains of thought come to",
    "Wang et al. 2023, section 2; GCR, Table 1",
    voted,
    graph=False,
    plans=False,
    prompts=True,
)
