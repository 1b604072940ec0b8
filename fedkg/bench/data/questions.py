"""Questions with their gold answers, as every loader gives them."""

import random
from collections.abc import Sequence
from typing import Literal

import msgspec

from fedkg.bench.data.gold_operations import GoldOperation
from fedkg.core.question import Kind

__all__ = ["Bad", "BenchmarkQuestion", "Gold", "Missing", "WordedFact", "drawn", "written"]

WordedFact = tuple[str, str, str]
"""Subject, relation and object as a set writes them: names and values, no IRIs."""
Missing = Literal["", "fact", "entity", "relation"]
"""What a graph lacks, so that a question has no answer there; "" where it has one."""


class Gold(msgspec.Struct, frozen=True, omit_defaults=True):
    """A right answer or a topic: an entity with its IRI, or a literal's value.

    Of a judgement `yes`, `no` or the option's text. `entities` are the IRIs of all that the asked graph calls by that
    label or alias, where the set gives no IRI: whichever of them is the answer is right.
    """

    label: str = ""
    iri: str = ""
    entities: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What an answer is compared by: the IRI, else the label."""
        return self.iri or self.label


class BenchmarkQuestion(msgspec.Struct, frozen=True):
    """One question of a set with its topic entities and its gold answers.

    `kind` is None where the set leaves it open. `gold_path` are (subject, relation, object), walked from the first
    topic; `hops` is its length, 0 where it is not known. `gold_facts` are those that the answer rests on, in no order
    and in words. `supported` says whether all conditions of the question stand in the graph, None where that is not
    known. `unanswerable` says what the graph lacks, where there is no gold answer on purpose. `operation` is what has
    to be computed over the ends of paths, as the set states it; None where it states nothing.
    """

    id: str
    question: str
    topic_entities: tuple[Gold, ...] = ()
    answers: tuple[Gold, ...] = ()
    kind: Kind | None = None
    options: tuple[str, ...] = ()
    hops: int = 0
    gold_path: tuple[tuple[str, str, str], ...] = ()
    gold_facts: tuple[WordedFact, ...] = ()
    supported: bool | None = None
    unanswerable: Missing = ""
    operation: GoldOperation | None = None


class Bad(msgspec.Struct, frozen=True):
    """A question that was left out: where it stands, its id if it has one, and what is wrong with it."""

    place: str
    id: str
    reason: str

    def __str__(self) -> str:
        """All of it in one line."""
        return f"{self.place}{f' ({self.id})' if self.id else ''}: {self.reason}"


def drawn(questions: Sequence[BenchmarkQuestion], limit: int | None, seed: int) -> list[BenchmarkQuestion]:
    """All questions in their order, or `limit` of them drawn by `seed`."""
    sample = list(questions)
    if limit is None or limit >= len(sample):
        return sample
    random.Random(seed).shuffle(sample)  # noqa: S311  # a reproducible sample, not a secret
    return sample[:limit]


def written(label: str) -> list[str]:
    """The label, and as it stands with small letters from its second word on, from its third on, and so on.

    Sets write "German Language" for what a graph calls "German language"; a search tries the usual spellings of each.
    """
    words = label.split()
    return list(
        dict.fromkeys(
            [label, *(" ".join(words[:at]) + " " + " ".join(words[at:]).lower() for at in range(1, len(words)))]
        )
    )
