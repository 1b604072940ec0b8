"""What is known of a question's answers: the chain of relations that leads to them, and what tells them apart."""

from typing import NamedTuple

from fedkg.core.operation import Combination, Comparison, Form, OperationResult
from fedkg.core.question import Kind
from fedkg.core.terms import Direction

__all__ = ["GoldBound", "GoldChain", "GoldCheck", "GoldSlots", "Steps"]

Steps = tuple[tuple[str, Direction], ...]
"""The relations of a path by their names, each with its direction."""


class GoldCheck(NamedTuple):
    """A condition on the ends of a chain: the step from them, and the names of what those lead to that answer.

    `typed` is the step's name with domain and type, where it has such: several relations share a short name.
    """

    step: tuple[str, Direction]
    values: tuple[str, ...]
    typed: str = ""


class GoldBound(NamedTuple):
    """A condition on ends: the step to what compares so to the values, which are written as a question has them."""

    by: tuple[str, Direction]
    comparison: Comparison
    values: tuple[str, ...]


class GoldSlots(NamedTuple):
    """What is computed: the chains to each set, and what an Operation has, with steps by name in place of relations."""

    sets: tuple["GoldChain", ...]
    result: OperationResult = "ends"
    combine: Combination = "union"
    filters: tuple[GoldBound, ...] = ()
    by: tuple[str, Direction] | None = None
    most: bool = True
    rank: int = 1
    form: Form = "which"


class GoldChain(NamedTuple):
    """What is known of a question: the steps to its answers, relations by name with their directions, and their names.

    `proven` is whether the question set shows a path of the graph with these steps. Errors are drawn by `id`. `checks`
    are the conditions that tell the answers from the other ends of the steps. `starts` are the names of the topic that
    the steps lead from; empty for any topic. `instead` are chains that lead to the same, for where this one is not
    offered. `typed` are the steps' names with domain and type, where they have such. `kind` is that of the question,
    `verdict` the answer to one of yes or no. `operation` is what is computed, where the ends of the steps do not
    answer.
    """

    steps: Steps
    answers: tuple[str, ...]
    proven: bool = True
    id: str = ""
    checks: tuple[GoldCheck, ...] = ()
    starts: tuple[str, ...] = ()
    instead: tuple["GoldChain", ...] = ()
    typed: tuple[str, ...] = ()
    kind: Kind = "entities"
    verdict: str = ""
    operation: "GoldSlots | None" = None

    def starts_at(self, name: str) -> bool:
        """Whether the steps lead from an entity of that name; "" is a step that is offered by itself, from anywhere."""
        return not (self.starts and name) or name in self.starts
