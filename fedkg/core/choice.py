"""What a reasoning model is shown, and what it says of it: candidates by number, choices, verdicts, a conclusion."""

from typing import Literal

import msgspec

from fedkg.core.operation import Operator
from fedkg.core.path_errors import PathFault
from fedkg.core.terms import Direction

__all__ = [
    "ChainEvidence",
    "Choice",
    "Conclusion",
    "Decision",
    "ModelOnlyAnswer",
    "PromptCandidate",
    "PromptTopics",
    "RelationPath",
    "Verdict",
]


class PromptCandidate(msgspec.Struct, frozen=True):
    """What a reasoning model is shown of one path or candidate, already safe to enter a prompt.

    `number` counts from 1, `text` is one line, `relations` are the names along the whole chain, `tails` the labels or
    values at its end (a bounded number, best first), `more` how many further tails there are; `topic` is how the
    question names the entity where the path starts. `directions` go with `relations`, `start` is the label of the topic
    entity. A program that needs what the text tells reads these, and never the text. `stem` is the text of the path
    before its last step, `step` how the step is written below that, without arrows but for the one of a step backwards;
    `beyond` is the number of the path that it extends, where that is shown as well. `types` are the labels of what the
    first tails are, where that is known; `also` are paths from other topics that lead to the same ends. `typed` are the
    relations' names with domain and type where their IRIs say these, "film.film.directed_by" in Freebase, else "".
    `weights` are those of the ways to the first tails, where they were weighed.
    """

    number: int
    text: str
    relations: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    more: int = 0
    score: float = 0.0
    topic: str = ""
    directions: tuple[Direction, ...] = ()
    start: str = ""
    stem: str = ""
    step: str = ""
    beyond: int = 0
    types: tuple[str, ...] = ()
    also: tuple["PromptCandidate", ...] = ()
    typed: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


class PromptTopics(msgspec.Struct, frozen=True):
    """What a reasoning model is shown of the topics: of each that was `linked` a safe line, of the `absent` the names.

    A line says what the topic is called, what it is, as far as that is known, and how it was linked. Absent is what the
    question names and the graph does not know.
    """

    linked: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Choice(msgspec.Struct, frozen=True):
    """A chosen candidate, by its number; or what a model has written freely, with its `fault` and without a number.

    `hypothesis` is what a model that wrote it goes on to answer: one safe line.
    """

    number: int
    hypothesis: str = ""
    fault: PathFault | None = None


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What the model says beside the numbers of paths, and what rests on these.

    `verdict` is "yes" or "no" for yes/no questions and claims, `option` the number (from 1) of the right one for a
    choice, 0 for none. `note` is said with the answer, as a warning. `bridge` is the common knowledge that a verdict or
    an option rests on beside its paths, in the model's words: one safe line, empty for none. `checks` are the numbers
    of paths whose last step only tells which of the ends before it answer: those that lead to the ends of the path.
    `unproven` are the question's words of a condition that no path shows. `operator` is what the question needs of the
    ends, None where that was not asked.
    """

    verdict: Literal["yes", "no", ""] = ""
    option: int = 0
    note: str = ""
    bridge: str = ""
    checks: tuple[int, ...] = ()
    unproven: str = ""
    operator: Operator | None = None


class Decision(Judgement, frozen=True):
    """What the model makes of a page of offers, and of the paths that it picked before.

    `picks` are numbers of both, best first. `decides`: they answer the question as they are (FiDeLiS v4 section 3.2,
    C_global); False where they do not do so yet, None where that was not judged. `ends` maps a pick's number to the
    numbers of its ends that answer, from 1: without an entry all of them, with 0 some that are not shown. `more`:
    further offers are to be shown. Its judgement rests on the picks. `confidence` is the probability that the model
    gives to just this, in 0..1, where that was measured.
    """

    picks: tuple[int, ...] = ()
    decides: bool | None = None
    ends: dict[int, tuple[int, ...]] = {}
    more: bool = False
    confidence: float | None = None


class Verdict(msgspec.Struct, frozen=True):
    """The deductive verification of one path: C_local and C_global of FiDeLiS v4 section 3.2."""

    number: int
    follows: bool
    finishes: bool


class ChainEvidence(msgspec.Struct, frozen=True):
    """What speaks for the chain of relations that `local` answers with, or came closest: features of a confidence.

    `nearest` is the number of its path, 0 for none. `score` is its own, `second` that of the best chain of other
    relations (0 where there is none), both as they were compared: a likeness, and what counts beside it. `unsaid` is
    the share of the question's content words that none of its relations says, `unasked` that of its relations' content
    words that the question does not say, with what one that stands for two leads through ("regular cast" before an
    actor). `unwalked` is how many of the question's words express a relation, by the word lists, that the chain does
    not walk. `fitting` is how the ends agree with the kind of answer that is asked for: 1
    where they do, -1 where they do not, or are shared where those that share them are asked for, 0 where either is
    unknown. `against` are the steps that go against what the
    question says of their direction. `hops` is its length, `ends` how many it leads to. `left` is how much better the
    chain fits part of the question than all of it, `weakest` how much the relation that is said worst is like the words
    that say it best. `said` is how well its relations say each word of the question, on average, and `elsewhere` how
    much better a relation beside the chain says one of them than its own do. `names` is how many names the question has
    beside its topics, `renamed` whether the graph calls the topic otherwise than the question does. `alike` is how like
    the question a trained scorer finds the chain, and `ahead` how much more so than the best of other relations; both 0
    without a scorer that was trained on the graph.
    """

    nearest: int = 0
    score: float = 0.0
    second: float = 0.0
    unsaid: float = 0.0
    unasked: float = 0.0
    fitting: int = 0
    against: int = 0
    hops: int = 0
    ends: int = 0
    left: float = 0.0
    weakest: float = 0.0
    said: float = 0.0
    elsewhere: float = 0.0
    names: int = 0
    renamed: bool = False
    alike: float = 0.0
    ahead: float = 0.0
    unwalked: int = 0

    @property
    def margin(self) -> float:
        """How far the best chain is ahead of the second."""
        return self.score - self.second


class Conclusion(Judgement, frozen=True):
    """What the answer call says: which offered paths answer the question.

    `tails` maps a path's number to the numbers of its tails that answer (empty: all of them). `evidence` is there where
    `local` concludes: also where it takes no path. `confidence` is how likely the paths answer the question, in 0..1;
    None where the model gives none. `untyped` are the numbers of paths of whose ends those answer that are of the kind
    asked for, where the types of all ends would have to be told. `unread` is what of the question the model went
    past, as a clause, so that its answer is a guess. `computes`: something is to be computed over the ends, which are
    no answers by themselves. `topics_answer` is False where a topic is no answer beside other ends.
    """

    paths: tuple[int, ...] = ()
    tails: dict[int, tuple[int, ...]] = {}
    evidence: ChainEvidence | None = None
    confidence: float | None = None
    untyped: tuple[int, ...] = ()
    unread: str = ""
    computes: bool = False
    topics_answer: bool = True


class RelationPath(msgspec.Struct, frozen=True):
    """A planned chain of relations, by their numbers, with its weight in 0..1 (EPERM, evidence path finder).

    One with a `fault` cannot be walked, and has no relations.
    """

    relations: tuple[int, ...]
    weight: float = 1.0
    fault: PathFault | None = None


class ModelOnlyAnswer(msgspec.Struct, frozen=True):
    """What a model answers from its memory alone: never grounded.

    `values` are its answers in its own words, `verdict` and `option` as in a Conclusion.
    """

    values: tuple[str, ...] = ()
    verdict: Literal["yes", "no", ""] = ""
    option: int = 0
