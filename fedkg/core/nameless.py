"""Entities without a name: no label, and an IRI that says nothing to a reader. They are on paths, but no answers."""

import re
from collections.abc import Mapping

from fedkg.core.terms import Iri, Term

__all__ = ["NO_NAME", "nameless"]

NO_NAME = "(no name)"
"""What is shown in place of a name."""

OPAQUE = re.compile(
    r".*[/#:](?:[mg]\.[0-9a-z_]*\d[0-9a-z_]*"  # Freebase: m.08mbj5d
    r"|entity/[QPL]\d+"  # Wikibase: Q42
    r"|\.well-known/genid/.*"  # a blank node with an IRI
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}"  # UUIDs and hashes
    r"|\d{5,})",
    re.IGNORECASE,
)
"""IRIs that end in an identifier which says nothing; accession numbers with letters (DB00945) are read by experts."""


def nameless(term: Term, names: Mapping[Term, str]) -> bool:
    """Whether the term is an IRI without a label among `names`, which hold the local name in its place, and opaque."""
    if not isinstance(term, Iri):
        return False
    name = names.get(term)
    return (not name or name == term.local_name) and OPAQUE.fullmatch(term.value) is not None
