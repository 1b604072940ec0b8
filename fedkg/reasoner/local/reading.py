"""How well a question expresses a chain of relations: which of its words express which relation, in their order.

The question without its topic is read in the orders of a walk, cut into as many spans as the chain has relations, and
each relation is compared with its own span; the best cut counts. Every word belongs to a span: what no relation says
makes its span less like the relation, which also tells how long the chain has to be.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedkg.core.terms import Direction
from fedkg.embed.base import Matrix
from fedkg.embed.bm25 import words
from fedkg.reasoner.local.chains import THING, RelationChain, RelationName
from fedkg.reasoner.local.directions import agrees, clash
from fedkg.reasoner.local.doers import as_people
from fedkg.reasoner.local.kinds import asked, end_kinds, fitting
from fedkg.reasoner.local.likeness import unwalked, worded
from fedkg.reasoner.local.wording import Unit, Wording, asks_the_kind, content, span_text

__all__ = ["UNSAID", "ChainJudgement", "Reading", "together"]

AGAINST = 0.06
"""Taken off for each step against its direction: of two walks with one name, the straight one is more often meant."""
CLASH = 0.25
"""Taken off where the question tells another direction: "directed by X" are the works, not the directors (tuned)."""
TURN, PASSED, TURNED = 0.12, 0.04, 0.1
"""Taken off for a turn back by the relation just walked, which leads to the topic again: at the end, and on the way;
given for a turn where the question says "the same" (tuned)."""
LONGER = 0.04
"""Taken off for each step after the first: of two walks that fit alike, the shorter one is meant."""
FITTING, UNLIKE = 0.06, 0.15
"""Given where the ends are what is asked for; taken off where they are something else (tuned)."""
PASSED_OVER = 0.05
"""Taken off for each word that expresses a relation, and none of the chain: "dad" where no parent is walked (tuned)."""
PROMISE, BEGUN = 0.75, 0.3
"""How well the words that are left may yet be said by a further step, where those before are said so well (tuned)."""
AGAIN = 0.25
"""Taken off for a last step that leads from what is asked for to more of its kind (tuned)."""
TYPES = frozenset({"type", "instance of"})
UNREAD = np.float32(-np.inf)
UNSAID = -1.0
"""The fit of a chain that has more relations than the question has words for."""
SAME = re.compile(
    r"\b(same|shares?|shared|also|both|(?<!get )(?<!got )together|co|else|another|other(?! half))\b", re.IGNORECASE
)


class ChainJudgement(NamedTuple):
    """How well a chain is said: `fit` by words alone, `score` with all else that counts.

    `promise` is what a longer chain may come to that begins so. `fitting` and `clashes`: see the methods of Reading.
    `alike` is how like the question a trained scorer finds it, 0 without one that was trained on its graph; `vouched`
    is the same where the confidence was fitted on questions about that graph, too.
    """

    fit: float
    score: float
    promise: float
    fitting: int
    clashes: int
    alike: float = 0.0
    vouched: float = 0.0


class Reading:
    """A question about one topic; `others` are the names of further ones, which are no words of it.

    Where it is a part of a question, that `whole` one tells what is asked for.
    """

    def __init__(self, question: str, topic: str, others: Iterable[str] = (), whole: str = "") -> None:
        self.wording = Wording(as_people(question), topic, others)
        self.wanted = asked(whole or question)
        several = any(other != topic for other in others)
        self._same = SAME.search(self.wording.rest) is not None and not several
        orders = [_spans(order) for order in self.wording.orders] or [{(0, 1): question}]
        self.spans = tuple(dict.fromkeys(text for order in orders for text in order.values()))
        places = {text: place for place, text in enumerate(self.spans)}
        self._orders = [_places(order, places) for order in orders]
        self.likeness: dict[RelationName, Matrix] = {}

    def bonus(self, chain: RelationChain) -> float:
        """What counts for or against a chain beside its words: turns, directions, length, and the kind of its ends."""
        turns = TURNED * bool(chain.turns) if self._same else -self._turned(chain)
        fit = self.fitting(chain)
        kinds = FITTING * (fit > 0) - UNLIKE * (fit < 0) - UNLIKE * max(self._begins(chain), self._typed(chain))
        passed = PASSED_OVER * unwalked(self.wording.rest, chain.names)
        return turns + kinds - passed - self._astray(chain) - LONGER * (len(chain.relations) - 1)

    def _begun(self, chain: RelationChain) -> float:
        """What counts for or against a chain as the beginning of a longer one, whose ends are others."""
        turns = TURNED * bool(chain.turns) if self._same else -PASSED * chain.turns
        return turns - self._astray(chain) - LONGER * len(chain.relations)

    def _astray(self, chain: RelationChain) -> float:
        """What its directions take off."""
        against = chain.against - self._meant_so(chain)
        return AGAINST * against + CLASH * self.clashes(chain)

    def _typed(self, chain: RelationChain) -> int:
        """Whether it leads to what something is, and nobody asked for that; 2 where the question says that itself."""
        if chain.relations[-1:] == () or chain.relations[-1] not in TYPES:
            return 0
        return 2 if asks_the_kind(self.wording.whole) else int(not worded(self.wording.rest, chain.relations[-1]))

    def _turned(self, chain: RelationChain) -> float:
        """What turns take off that the question does not speak of."""
        last = len(chain.relations) > 1 and chain.turn(len(chain.relations) - 1)
        return PASSED * chain.turns + (TURN - PASSED) * last

    def _meant_so(self, chain: RelationChain) -> bool:
        """Whether the first step goes against its direction since the question says so."""
        said = self.wording
        return chain.directions[:1] == ("in",) and agrees(said.role, chain.relations[0], "in", said.done)

    def _begins(self, chain: RelationChain) -> bool:
        """Whether what is asked for is where the last relation leads to, and the walk comes to where it begins."""
        return chain.directions[-1:] == ("in",) and bool(self.wanted.roots & set(content(chain.relations[-1])))

    def fitting(self, chain: RelationChain) -> int:
        """Whether the ends are what is asked for: 1, 0 for not known, -1."""
        values = chain.kinds and THING not in chain.kinds
        valued = self.wanted.kinds & {"date", "number"}
        if values and self._called(chain):
            return 1
        if values or valued:
            return (1 if chain.kinds & valued else -1) if chain.kinds else 0
        return fitting(self.wanted, chain.kinds - {THING})

    def _called(self, chain: RelationChain) -> bool:
        """Whether the relation is called by the noun that asks, which names no kind: the "box office" of a film."""
        return not self.wanted.kinds and bool(self.wanted.roots & set(content(chain.relations[-1])))

    def clashes(self, chain: RelationChain) -> int:
        """Whether the step from the topic goes another way than the question says."""
        values = chain.kinds and THING not in chain.kinds  # these lead nowhere, so there is one way alone
        if values or not chain.directions:
            return 0
        said, relation = self.wording, chain.relations[0]
        against = clash(said.role, relation, chain.directions[0], said.done) or self._no_people(chain)
        return int(against and worded(said.beside, relation) > 0)

    def _no_people(self, chain: RelationChain) -> bool:
        """Whether people at the topic are asked for, and not what the relation leads to: "who is signed to X"."""
        led = end_kinds(chain.relations[0]) if chain.directions == ("out",) else frozenset[str]()
        people = self.wording.role == "patient" and "person" in self.wanted.kinds and not self.wanted.roots
        at = not {"at", "for", "from", "in", "on", "to", "with"}.isdisjoint(words(self.wording.beside))
        return people and at and bool(led) and "person" not in led  # "who employs X" may be a company

    def judged(
        self, likeness: Mapping[RelationName, Matrix], chains: Sequence[RelationChain], *, partly: bool = False
    ) -> dict[RelationChain, ChainJudgement]:
        """How well each chain is expressed: the mean similarity of its relations to their spans, for the best cut.

        `likeness` has for each relation that of all `spans`. With `partly` words may be left over anywhere, and
        relations unsaid.
        """
        fits, promises = self._read(likeness, chains, partly=partly)
        there = {(chain.relations, chain.directions) for chain in chains if self._of_kind(chain.kinds)}
        return {
            chain: ChainJudgement(
                fit,
                fit + self.bonus(chain) - AGAIN * self._again(chain, there),
                hope + self._begun(chain),
                self.fitting(chain),
                self.clashes(chain),
            )
            for chain, fit, hope in zip(chains, fits, promises, strict=True)
        }

    def _of_kind(self, kinds: frozenset[str]) -> bool:
        """Whether ends are what the noun names that says what is asked for."""
        return bool(self.wanted.roots and kinds & (self.wanted.roots | self.wanted.narrow))

    def _again(self, chain: RelationChain, there: Collection[tuple[tuple[str, ...], tuple[Direction, ...]]]) -> bool:
        """Whether the last relation is only said by the noun that names the kind of answer, and ends before it were so.

        The countries that are members need no country of theirs.
        """
        if (chain.relations[:-1], chain.directions[:-1]) not in there:
            return False
        last = chain.relations[-1]
        name = content(last)  # "every record label": all of a name that ends in the noun
        nouns = self.wanted.roots.union(name if name[-1:] and name[-1] in self.wanted.roots else ())
        noun = [word for word in content(self.wording.rest) if word in nouns]
        rest = [word for word in content(self.wording.rest) if word not in nouns]
        return worded(" ".join(noun), last) > 0 and not worded(" ".join(rest), last)

    def _read(
        self, likeness: Mapping[RelationName, Matrix], chains: Sequence[RelationChain], *, partly: bool
    ) -> tuple[list[float], list[float]]:
        """The fits of the chains as they are, and as beginnings; a turn may be one step of the question."""
        said = {chain.names for chain in chains} | {chain.shared for chain in chains if self._same}
        table = dict.fromkeys(said, (UNSAID, UNSAID))
        for length in {len(each) for each in said if each}:
            alike = [each for each in said if len(each) == length]
            whole, begun = self._of_length(likeness, alike, partly=partly)
            table |= zip(alike, zip(whole.tolist(), begun.tolist(), strict=True), strict=True)
        pairs = [max(table[chain.names], table[chain.shared]) if self._same else table[chain.names] for chain in chains]
        return [whole for whole, _ in pairs], [begun for _, begun in pairs]

    def _of_length(
        self, likeness: Mapping[RelationName, Matrix], chains: Sequence[tuple[RelationName, ...]], *, partly: bool
    ) -> tuple[Matrix, Matrix]:
        """Both for chains of one length, shape (chains,)."""
        names = {name: place for place, name in enumerate(dict.fromkeys(name for chain in chains for name in chain))}
        alike = np.stack([np.append(likeness[name], UNREAD) for name in names], axis=1)
        steps = np.array([[names[name] for name in chain] for chain in chains])
        whole = np.full(len(chains), UNSAID, dtype=np.float32)
        begun = whole.copy()
        for order in self._orders:
            sums = _summed(alike[order], steps, partly=partly)
            whole = np.maximum(whole, sums[:, -1] / steps.shape[1])
            begin = sums[:, :-1].max(axis=1)
            hope = np.where(begin >= BEGUN * steps.shape[1], (begin + PROMISE) / (steps.shape[1] + 1), UNSAID)
            begun = np.maximum(begun, hope)
        return whole, begun


def together(judged: Sequence[ChainJudgement]) -> ChainJudgement:
    """The judgement of chains from several topics that lead to the same ends: the mean; what clashes does so in any."""
    if len(judged) == 1:
        return judged[0]
    fit, score, promise = (fmean(values) for values in zip(*(one[:3] for one in judged), strict=True))
    return ChainJudgement(fit, score, promise, min(one.fitting for one in judged), sum(one.clashes for one in judged))


def _summed(table: Matrix, steps: NDArray[np.intp], *, partly: bool) -> Matrix:
    """For each chain and number of units the most that its relations are like them, shape (chains, units + 1).

    `table` has the likeness of each relation to the span from unit i to before unit j, shape (units + 1, units + 1,
    relations).
    """
    sums = np.full((len(steps), len(table)), 0.0 if partly else -np.inf, dtype=np.float32)
    sums[:, 0] = 0.0
    for step in steps.T:
        best = (sums[:, :, np.newaxis] + table[:, :, step].transpose(2, 0, 1)).max(axis=1)
        sums = np.maximum.accumulate(np.maximum(best, sums), axis=1) if partly else best
    return sums


def _spans(order: Sequence[Unit]) -> dict[tuple[int, int], str]:
    """The text from each unit of a walking order to before each later one, its words as they stand in the question."""
    ends = range(1, len(order) + 1)
    return {(start, end): span_text(order[start:end]) for end in ends for start in range(end)}


def _places(spans: Mapping[tuple[int, int], str], places: Mapping[str, int]) -> NDArray[np.intp]:
    """The place of the span from unit i to before unit j, shape (units + 1, units + 1).

    The last one where there is none.
    """
    units = max(end for _, end in spans)
    table = np.full((units + 1, units + 1), -1)
    for cut, text in spans.items():
        table[cut] = places[text]
    return table
