"""What a question asks to be computed over the ends of its paths, once it is read."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from fedkg.reasoner.local.degrees import Measure

__all__ = ["TITLES", "BoundReading", "Comparison", "OperationReading"]

Comparison = Literal["equal", "less", "at_most", "more", "at_least", "before", "after", "between", "contains"]
Result = Literal["ends", "count", "extreme", "compare", "group"]
Form = Literal["which", "whether", "difference"]
TITLES = {"title": ("title", "label", "name"), "name": ("name", "label", "title")}
"""Relations that hold what a noun of names names."""


class BoundReading(NamedTuple):
    """A condition: relations that may hold the value, how it compares to the values, as written, and their unit."""

    names: tuple[str, ...]
    comparison: Comparison
    values: tuple[str, ...]
    unit: str = ""


class OperationReading(NamedTuple):
    """What is computed, and `rest`, the question without its words: that of the paths whose ends it is computed over.

    `measure` is what an extreme or a comparison goes by, `rank` counts from 1; `group` are the words that tell by what
    ends are grouped. `minus` is the question of the paths whose ends are taken away. Of a comparison `form` tells
    whether it asks which of two, whether one is so, or by how much; its `rest` asks for the value, and `pair` are the
    two topics, the first one first.
    """

    rest: str
    result: Result = "ends"
    measure: Measure = Measure()
    rank: int = 1
    group: str = ""
    bounds: tuple[BoundReading, ...] = ()
    minus: str = ""
    form: Form = "which"
    pair: tuple[str, ...] = ()

    def sides(self, topics: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Which of the topics each side of the operation starts from: of a comparison, or of what is taken away.

        None where there are no sides, or one of them has no topic.
        """
        known = (self._compared(topics), self._without(topics))
        return next((sides for sides in known if sides and all(sides)), ())

    def _compared(self, topics: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(topic for topic in topics if topic.casefold() == name.casefold()) for name in self.pair)

    def _without(self, topics: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        minus = self.minus.casefold()
        taken = tuple(topic for topic in topics if topic.casefold() in minus)
        return (tuple(topic for topic in topics if topic not in taken), taken) if minus else ()
