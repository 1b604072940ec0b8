"""What the tools are called with; the descriptions are written for a model."""

from typing import Annotated, Literal

import msgspec

from fedkg.serve.records import MOST_EDGES, MOST_MATCHES

__all__ = [
    "AnswerArguments",
    "NeighboursArguments",
    "PathsArguments",
    "SearchArguments",
    "SparqlArguments",
    "VerifyArguments",
]

Entity = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=500, description="IRI of the entity (as `search` returns it), or a label."),
]
AnswerId = Annotated[
    str, msgspec.Meta(min_length=1, max_length=20, description="The answer_id of an earlier result, such as a1.")
]
Skip = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name to look for."""

    text: Annotated[
        str, msgspec.Meta(min_length=1, max_length=500, description="A name as people write it, not a whole question.")
    ]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_MATCHES, description="Most entities to return.")] = 10


class NeighboursArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entity, and which of its edges are wanted."""

    entity: Entity
    direction: Annotated[
        Literal["out", "in", "both"],
        msgspec.Meta(description="out: the entity is the subject; in: it is the object; both."),
    ] = "both"
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_EDGES, description="Most edges to return.")] = 50
    skip: Annotated[Skip, msgspec.Meta(description="Edges to leave out at the beginning, to read on.")] = 0


class PathsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two entities, and how far apart they may be."""

    start: Entity
    end: Entity
    hops: Annotated[int, msgspec.Meta(ge=1, le=6, description="Most steps of a path; more take longer.")] = 3


class SparqlArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer of before, or one of its paths."""

    answer_id: AnswerId
    path: Annotated[int | None, msgspec.Meta(description="Number of one path; null: the whole answer.")] = None


class AnswerArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer of before, and how much of it is known already."""

    answer_id: AnswerId
    skip_answers: Annotated[Skip, msgspec.Meta(description="Answers to leave out at the beginning.")] = 0
    skip_paths: Annotated[Skip, msgspec.Meta(description="Paths to leave out at the beginning.")] = 0


class VerifyArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer of before."""

    answer_id: AnswerId
