"""What a search may ask for: the vocabulary between a method, which does no I/O, and the engine, which does it all.

A method is a generator: it yields a need and is sent what it needed, until it returns its result. So a method can be
tested with a list of replies, and every method runs on every graph, model and budget.

Where a budget is spent the need is answered with a BudgetError: a method that has an answer by then returns it.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Generic, Literal, TypeVar, cast

import msgspec

from fedkg.config.settings import ConstraintLevel, Form, SearchSettings
from fedkg.core.caveat import Caveat
from fedkg.core.choice import Choice, Conclusion, Decision, ModelOnlyAnswer, Verdict
from fedkg.core.operation import Computation, Operation, Operator
from fedkg.core.path import PartialPath, Step
from fedkg.core.path_errors import PathErrors, PathFault
from fedkg.core.question import Style
from fedkg.core.terms import DirectedRelation, Iri, Term
from fedkg.retrieval.base import Retriever

__all__ = [
    "Answering",
    "AskingModelOnly",
    "Choosing",
    "Completing",
    "Decoded",
    "Decoding",
    "Deducing",
    "Expanding",
    "Expansion",
    "Inducing",
    "Judging",
    "Method",
    "Naming",
    "Need",
    "Operating",
    "Picking",
    "PlannedChain",
    "Planning",
    "Scoring",
    "SearchResult",
    "Task",
    "Walk",
    "Walking",
    "ask",
]


Reply = TypeVar("Reply")
Reply_co = TypeVar("Reply_co", covariant=True)


class Need(msgspec.Struct, Generic[Reply_co], frozen=True):
    """What a method asks for; each kind declares its reply: `class Judging(Need[bool], frozen=True)`."""


class Expansion(msgspec.Struct, frozen=True):
    """The candidates, best first, and `page`, how many of them are offered at once (0: all).

    `complete` is True where the endpoints left nothing out.
    """

    candidates: tuple[Step, ...]
    complete: bool
    page: int = 0


class Expanding(Need[Expansion], frozen=True):
    """Asks for the ranked next steps of these paths; the reply is an Expansion. `last`: no step follows this one.

    `retriever` ranks them, as candidates of that `form`, `page` of them are offered at once, and at most `frontier` of
    the paths' ends are looked at: None for what the settings say.
    """

    depth: int
    partial_paths: tuple[PartialPath, ...]
    last: bool = False
    retriever: str | None = None
    form: Form | None = None
    frontier: int | None = None
    page: int | None = None


class Choosing(Need[Decision], frozen=True):
    """Asks the model, in one call, which of the `offers` to walk on, at most `width`, and whether they decide.

    The reply is a Decision. Each offer is a path whose last step is new; `kept` are paths that were picked before.
    `numbers` are those of the offers, then of the kept paths (empty: from 1 on). `waiting` further offers can be shown;
    `last`: no other call follows. `operators`: the decision names the operator that the question needs.
    """

    depth: int
    offers: tuple[PartialPath, ...]
    width: int
    kept: tuple[PartialPath, ...] = ()
    numbers: tuple[int, ...] = ()
    waiting: int = 0
    last: bool = False
    operators: bool = False

    @property
    def numbered(self) -> dict[int, PartialPath]:
        """The offers and the kept paths by their numbers."""
        shown = (*self.offers, *self.kept)
        return dict(zip(self.numbers or range(1, len(shown) + 1), shown, strict=True))


class Decoded(msgspec.Struct, frozen=True):
    """The numbers of the paths that the model has chosen, best first, and the `constraint_level` that was used.

    It is None where nothing held the model: `errors` then says what it has written. `hypotheses` are what it took for
    the answer behind each of the paths, "" where that was not asked; `agreeing` is the share of those that name the end
    of their path, None without any.
    """

    constraint_level: ConstraintLevel | None
    numbers: tuple[int, ...]
    hypotheses: tuple[str, ...] = ()
    errors: PathErrors = PathErrors()
    agreeing: float | None = None


class Decoding(Need[Decoded | None], frozen=True):
    """Asks the model for at most `width` of these whole paths in one call that is held to them; the reply is a Decoded.

    It is None where nothing holds the model to so many, or it failed.
    """

    partial_paths: tuple[PartialPath, ...]
    width: int


class Picking(Need[tuple[Choice, ...]], frozen=True):
    """Asks the model for at most `width` candidates of one path, unverified; the reply is a tuple of Choices."""

    depth: int
    path: PartialPath
    candidates: tuple[Step, ...]
    width: int


class Deducing(Need[tuple[Verdict, ...]], frozen=True):
    """Asks the model to verify walked paths; the reply is a tuple of Verdicts. `kept` are paths as in `Choosing`.

    `weighed`: a path finishes where the model's own probability says so, and every path follows.
    """

    depth: int
    partial_paths: tuple[PartialPath, ...]
    kept: tuple[PartialPath, ...] = ()
    weighed: bool = False


class Completing(Need[tuple[PartialPath, ...]], frozen=True):
    """Asks for all tails along the paths' relation chains; the reply is a tuple of PartialPaths in the same order.

    The last step of those whose numbers (from 0) stand in `back` keeps edges that lead back to what was walked over.
    """

    partial_paths: tuple[PartialPath, ...]
    back: frozenset[int] = frozenset()


class Answering(Need[Conclusion], frozen=True):
    """Asks the model which paths answer the question; the reply is a Conclusion.

    `also` are, for the first of the paths, those from other topics that lead to the same ends: each is shown with its
    path. `weights` are, for each of the paths, those of the ways to its ends, in their order: they stand beside them.
    """

    partial_paths: tuple[PartialPath, ...]
    also: tuple[tuple[PartialPath, ...], ...] = ()
    weights: tuple[tuple[float, ...], ...] = ()


class Scoring(Need[tuple[float, ...]], frozen=True):
    """Asks the model how much each step helps, in 0..1; the reply is a tuple of floats, in the order of the candidates.

    `what` is scored: the candidates' `relations`, whatever they lead to, or the `entities` that they lead to, which
    `surroundings` shows with what the graph has around them. A candidate extends the path that it numbers; a single
    path all of them.
    """

    depth: int
    what: Literal["relations", "entities"]
    partial_paths: tuple[PartialPath, ...]
    candidates: tuple[Step, ...]
    surroundings: bool = False


class Judging(Need[bool], frozen=True):
    """Asks the model whether these paths together are enough to answer; the reply is a bool, False where it fails."""

    partial_paths: tuple[PartialPath, ...]


class PlannedChain(msgspec.Struct, frozen=True):
    """Relations to walk one after the other from a topic entity, planned before it is known whether they can be.

    A plan with a `fault` has none.
    """

    topic: Iri
    relations: tuple[DirectedRelation, ...]
    weight: float = 1.0
    fault: PathFault | None = None

    @property
    def path(self) -> PartialPath:
        """The chain as a walk without edges, which `Completing` fills with those that the graph has.

        The weight is its score.
        """
        steps = tuple(Step(0, relation, (), self.weight) for relation in self.relations)
        return PartialPath(self.topic, steps, self.weight)


class Planning(Need[tuple[PlannedChain, ...]], frozen=True):
    """Asks the model for at most `most` chains of at most `depth` relations.

    The reply is a tuple of PlannedChains, best first.

    Offered are the `relations` or, without any, those that the graph has within `depth` steps of the topics. With
    `faulty` the plans that cannot be walked are listed behind the others, once each.
    """

    topics: tuple[Iri, ...]
    depth: int
    most: int
    relations: tuple[DirectedRelation, ...] = ()
    faulty: bool = False


class Operating(Need[Operation | None], frozen=True):
    """Asks the model what is to be computed over the ends of these paths: the reply is an Operation, by their numbers.

    `relations` are those that the ends have, each with samples of what it leads to. `operator` is what the question
    needs, where that is known. None where nothing is to be computed, or the model fails.
    """

    partial_paths: tuple[PartialPath, ...]
    relations: tuple[Step, ...]
    operator: Operator | None = None


class Naming(Need[Mapping[Term, str]], frozen=True):
    """Asks what entities are called: the reply has the names of those that have one."""

    terms: tuple[Term, ...]


class Inducing(Need[Conclusion], frozen=True):
    """Asks the model which paths answer, each shown with the end that it led to; the reply is a Conclusion.

    `hypotheses` stand there instead, where they are given: one for each path, "" for its ends.
    """

    partial_paths: tuple[PartialPath, ...]
    hypotheses: tuple[str, ...] = ()


class AskingModelOnly(Need[ModelOnlyAnswer | None], frozen=True):
    """Asks the model for the answer from its memory; the reply is a ModelOnlyAnswer, or None where the model gave none.

    `sample` is 0 for its usual reply; the others, from 1, differ as the model's own replies do.
    """

    style: Style
    sample: int = 0


class SearchResult(msgspec.Struct, frozen=True):
    """The end of a search: the paths that answer, what the model concluded of them, and how the search ended.

    `tails` are, per path, the numbers (from 1) of its answering tails, empty for all of them. `exhausted` is True
    where everything that the graph has within reach was seen, so that an empty result means that the graph has none.
    `from_memory` is what the model answered without a graph. `measures` are the method's own figures, by name. `note`
    becomes a warning of the answer, `caveats` are what it has to admit. `checks` are paths one step beyond answering
    ends: their last edges show that these meet a condition of the question. `computation` is what was computed over the
    ends, without its `deciding` values: these are `decided`, each end with its value. Paths `beside` the answers lead
    to the values that these were compared with.
    """

    paths: tuple[PartialPath, ...] = ()
    tails: tuple[tuple[int, ...], ...] = ()
    conclusion: Conclusion = Conclusion()
    exhausted: bool = False
    from_memory: ModelOnlyAnswer | None = None
    measures: dict[str, float | str] = {}
    note: str = ""
    caveats: tuple[Caveat, ...] = ()
    checks: tuple[PartialPath, ...] = ()
    computation: Computation | None = None
    decided: tuple[tuple[Term, Term], ...] = ()
    beside: tuple[PartialPath, ...] = ()


Walking = Generator[Need[object], object, Reply]
"""Part of a walk: it yields needs, is sent their replies, and ends in a `Reply` of its own."""
Walk = Walking[SearchResult]
"""A whole walk, from the topics to the end of the search."""


def ask(need: Need[Reply]) -> Walking[Reply]:
    """Yields the need and returns its reply, of the type that it declares: `yield from` gives that.

    Raises BudgetError where a budget is spent.
    """
    return cast("Reply", (yield need))


class Task(msgspec.Struct, frozen=True):
    """What a method is given: the topic entities, the bounds of the search, whether several paths decide together.

    `planned` is False where no plan was made: all that is around the topics is then to be shown at once. `computes`:
    the question has words of an operator.
    """

    topics: tuple[Iri, ...]
    search: SearchSettings
    together: bool = False
    planned: bool = True
    computes: bool = False


class Method(msgspec.Struct, frozen=True):
    """A method by what it is known for: its `title`, the `paper` with its section, and the walk.

    `graph` is False for one that asks the model alone: nothing is linked. `plans` is False for one that needs no plan
    call; its keywords are the question's content words. `prompts` is True where a model without prompts cannot serve
    it, `verifies` where `search.verifier` names what ends its walk, `decodes` where `search.door` names how a model is
    held to its paths.

    `looks_first` tells by the settings whether a walk can do without a plan where little lies around known topics,
    `decides` whether it typically ends without the answer call, since its choices decide.

    `calls` are the most calls by name that a search from so many topics takes, without those that plan and link; of a
    method without a graph they are those of its walk. `hops` is the depth that it goes no further than unless the
    settings name their `hops`; `looks_ahead` is True where it has the retriever look at the next hop,
    `lets_retriever_ask` where it lets the retriever ask the model, once a hop; `calls` do not count that.
    """

    title: str
    paper: str
    walk: Callable[[Task], Walk]
    graph: bool = True
    plans: bool = True
    looks_first: Callable[[SearchSettings], bool] = lambda _search: False
    decides: Callable[[SearchSettings], bool] = lambda _search: False
    prompts: bool = False
    verifies: bool = False
    decodes: bool = False
    calls: Callable[[SearchSettings, int], Mapping[str, int]] = lambda _search, _topics: {"answer": 1}
    hops: int | None = None
    looks_ahead: bool = False
    lets_retriever_ask: bool = False

    def deepest(self, search: SearchSettings) -> int:
        """The most hops that it goes: the depth of the settings, or its own where that is less."""
        return min(search.depth, search.hops or self.hops) if self.hops else search.depth

    def most_calls(self, search: SearchSettings, topics: int, retriever: Retriever) -> dict[str, int]:
        """`calls`, with those of that retriever before them."""
        asks = self.lets_retriever_ask and retriever.asks_model
        return {**({"score-relations": search.depth} if asks else {}), **self.calls(search, topics)}
