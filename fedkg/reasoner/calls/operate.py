"""What is to be computed over the ends of paths: sets, filters and a result, by numbers of what is offered."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from fedkg.common.normalize import quoted
from fedkg.common.one_line import line
from fedkg.core.choice import PromptCandidate
from fedkg.core.operation import Combination, Comparison, Filter, Form, Operation, OperationResult, Operator
from fedkg.core.terms import DirectedRelation
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import Flag, Whole, clause, fit, numbers
from fedkg.reasoner.sketch import WalkSketch

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["MOST_FILTERS", "NEEDS_VALUE", "OperateCall"]

MOST_FILTERS = 4
HIGHEST_RANK = 1_000
LONGEST = 100
"""Characters of a value in the question's words."""
NEEDS_VALUE: frozenset[OperationResult] = frozenset({"extreme", "compare", "group"})
"""Results that go by a relation of the ends."""
NEEDLESS: Mapping[Operator | None, frozenset[str]] = {
    "filter": frozenset({"relation", "most", "rank", "form"}),
    "extreme": frozenset({"form"}),
    "compare": frozenset({"combine", "filters", "rank"}),
    "group": frozenset({"form"}),
}
"""Keys of the reply that mean nothing to an operator."""


class FilterReply(msgspec.Struct):
    """A filter of the reply."""

    relation: Whole
    comparison: Comparison
    values: list[Any]


class OperateReply(msgspec.Struct):
    """The reply to `operate`."""

    sets: list[Any]
    combine: Combination = "union"
    filters: list[FilterReply] = []
    result: OperationResult = "ends"
    relation: Whole = Whole(0)
    most: Flag = Flag(1)
    rank: Whole = Whole(1)
    form: Form = "which"
    unproven: Any = ""


class OperateCall(PlannedCall[Operation], frozen=True):
    """Asks what is to be computed over the ends of `paths`; `relations` are offered for values, `walked` are the same.

    `names` shows some of the ends' own names, where filters may go by them: that is relation 0.

    The reply is an Operation; one without sets computes nothing. A slot is a number that was offered, and a value
    stands in the question: anything else refuses the reply. Where the `operator` is known the reply is not asked for
    what that leaves no choice of.
    """

    name: ClassVar[str] = "operate"

    paths: Sequence[PromptCandidate]
    relations: Sequence[PromptCandidate] = ()
    walked: Sequence[DirectedRelation] = ()
    operator: Operator | None = None
    names: str = ""

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given = {"question": self.question, "plan": self.plan, "paths": self.paths, "relations": self.relations}
        return {**given, "operator": self.operator, "names": self.names}

    def trivial(self) -> Operation | None:
        """Nothing over no sets."""
        return None if self.paths else Operation()

    @property
    def known(self) -> Mapping[str, object]:
        """What the operator tells of the reply, by key."""
        if self.operator not in NEEDLESS:
            return {}
        ends = "count" if self.plan.kind == "count" else "ends"
        known: dict[str, object] = {"result": ends if self.operator == "filter" else self.operator}
        if self.operator == "compare":
            known |= {"form": "whether"} if self.plan.kind == "yesno" else {}
        elif len(self.paths) == 1:
            known |= {"sets": [self.paths[0].number], "combine": "union"}
        return known

    def adapted(self, template: "PromptTemplate") -> "PromptTemplate":
        """The template that asks for what is not known."""
        return template.without({*self.known, *NEEDLESS.get(self.operator, ())}) if self.known else template

    def parse(self, reply: Mapping[str, object], shown: int) -> Operation:
        """The operation. Raises ModelReplyError for a number that was not offered, or words that were not asked."""
        needless = NEEDLESS.get(self.operator, frozenset())
        asked = {key: value for key, value in reply.items() if key not in needless}
        read = fit({**asked, **self.known}, OperateReply)
        sets = numbers(read.sets, {path.number for path in self.paths[:shown]})
        if not sets:
            return Operation(unproven=clause(read.unproven))
        if read.result == "compare" and len(sets) != 2:
            raise ModelReplyError("compare needs two sets")
        if not 1 <= read.rank <= HIGHEST_RANK:
            raise ModelReplyError("its rank is no rank: 1 is the first")
        if len(read.filters) > MOST_FILTERS:
            raise ModelReplyError(f"it has more than {MOST_FILTERS} filters")
        return Operation(
            read.result,
            tuple((number,) for number in sets),
            read.combine,
            tuple(map(self._filter, read.filters)),
            self._relation(read.relation) if read.result in NEEDS_VALUE else None,
            bool(read.most),
            int(read.rank),
            read.form,
            clause(read.unproven),
        )

    def _relation(self, number: int) -> DirectedRelation | None:
        """The relation of that number; None for 0, the ends themselves."""
        if not 0 <= number <= len(self.walked):
            raise ModelReplyError(f"relation {number} was not offered")
        return self.walked[number - 1] if number else None

    def _filter(self, read: FilterReply) -> Filter:
        """The filter, with values as the question has them."""
        values = tuple(self._words(value) for value in read.values)
        if len(values) != (2 if read.comparison == "between" else 1):
            raise ModelReplyError(f'"{read.comparison}" needs {2 if read.comparison == "between" else 1} values')
        return Filter(read.comparison, values, self._relation(read.relation))

    def _words(self, value: object) -> str:
        text = str(line(value if isinstance(value, str) else ""))
        words = quoted(text, self.question) if 0 < len(text) <= LONGEST else ""
        if not words:
            raise ModelReplyError("its values are not copied from the question")
        return words

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "OperateCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.kept), sketch.steps(sketch.offered_each))
