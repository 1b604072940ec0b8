"""From walked beams to the answers and paths of a document."""

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from fedkg.readable import NUMBERS
from fedkg.records import MOST_PATHS, AnswerValue, Beam, Kind, Path, PathEdge
from fedkg.terms import Edge, Iri, Literal, Term, own_name

__all__ = ["End", "compose", "ends", "terms"]


class End(msgspec.Struct, frozen=True):
    """One answering tail, the walk that leads to it, and the score of its beam."""

    tail: Term
    walk: tuple[Edge, ...]
    score: float


class Ends(msgspec.Struct, frozen=True):
    """The answering tails: those that the document shows, how many there are, and whether the endpoint gave all."""

    shown: tuple[End, ...] = ()
    total: int = 0
    complete: bool = True

    @property
    def cut(self) -> int:
        """How many answers there are beyond those that the document shows."""
        return self.total - len({end.tail for end in self.shown})


def ends(chosen: Sequence[tuple[Beam, Sequence[int]]]) -> Ends:
    """The answering tails of beams, each with the numbers (from 1) of its tails that answer, none for all.

    A tail that no walk leads to is left out: it would be an answer without a path.
    """
    tails = [
        (beam, tail)
        for beam, numbers in chosen
        for number, tail in enumerate(beam.tails, 1)
        if not numbers or number in numbers
    ]
    found = (End(tail, walk, beam.score) for beam, tail in tails if (walk := beam.walks(tail)))
    shown = tuple(itertools.islice(found, MOST_PATHS))
    total = len({tail for _, tail in tails}) if len(shown) == MOST_PATHS else len({end.tail for end in shown})
    return Ends(shown, total, all(beam.complete or numbers for beam, numbers in chosen))


def terms(found: Ends) -> list[Term]:
    """All terms that the paths show, each once."""
    return list(dict.fromkeys(term for end in found.shown for edge in end.walk for term in edge.terms))


def compose(
    kind: Kind, found: Ends, verdict: str, names: Mapping[Term, str]
) -> tuple[tuple[AnswerValue, ...], tuple[Path, ...]]:
    """The answers, and the paths that prove them; `verdict` is the model's "yes" or "no", for questions of that kind."""
    paths = tuple(Path(end.score, tuple(PathEdge.of(edge, names) for edge in end.walk)) for end in found.shown)
    by_term: dict[Term, list[int]] = {}
    for index, end in enumerate(found.shown):
        by_term.setdefault(end.tail, []).append(index)
    if kind in ("yesno", "claim"):
        return ((AnswerValue(verdict, paths=tuple(range(len(paths)))),) if verdict else ()), paths
    if kind == "count" and not all(map(_is_number, by_term)):
        return (_count(found, paths),), paths
    return tuple(_value(term, names, tuple(indices)) for term, indices in by_term.items()), paths


def _value(term: Term, names: Mapping[Term, str], indices: tuple[int, ...]) -> AnswerValue:
    label = names.get(term) or own_name(term)
    iri = term.value if isinstance(term, Iri) else None
    return AnswerValue(label, iri, label, term, grounded=True, paths=indices)


def _count(found: Ends, paths: Sequence[Path]) -> AnswerValue:
    """How many distinct nodes the paths lead to: counted here, not by the model, and a bound where some are missing."""
    number = str(found.total) if found.complete else f"at least {found.total}"
    return AnswerValue(number, label="count", grounded=True, paths=tuple(range(len(paths))))


def _is_number(term: Term) -> bool:
    """Whether the graph itself says a number, as for "how many inhabitants"."""
    return isinstance(term, Literal) and term.datatype in NUMBERS
