"""Which statements identify two IRIs: link predicates, and identifiers that stand for an IRI.

The table is data: `endpoints/identity.toml`, to which a file of that name in the user's own folder of profiles adds. A
template states how an identifier, a literal, becomes the IRI of the same thing at another endpoint, and back.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from fedkg.common import toml
from fedkg.common.file_cache import FileCache
from fedkg.config.profiles import IDENTITY, Profile
from fedkg.config.resources import layers
from fedkg.core.terms import Edge, Iri, Literal, Term
from fedkg.errors import ProfileError

__all__ = ["IdentifierTemplate", "Identity", "load", "parse"]

PLACE = "$1"
HINT = "docs/endpoints.md says what an identity.toml may hold"
IDENTIFIER = r"([A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?)"
"""What may stand in place of `$1`: nothing that could end an IRI or mean something else in one."""


class IdentifierTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An identifier and the IRI that it stands for: `$1` is the same text in `literal` and in `iri`.

    relation: the predicate that leads to the literal. subject: prefix of the IRIs that have it ("" for any).
    """

    relation: str
    literal: str
    iri: str
    subject: str = ""

    def iri_of(self, value: str) -> Iri | None:
        """The IRI that an identifier stands for; None where it has not the template's form."""
        match = re.fullmatch(_pattern(self.literal), value)
        return Iri(self.iri.replace(PLACE, match[1])) if match else None

    def value_of(self, iri: Iri) -> str | None:
        """The identifier of an IRI; None where the IRI has not the template's form."""
        match = re.fullmatch(_pattern(self.iri), iri.value)
        return self.literal.replace(PLACE, match[1]) if match else None


@dataclass(frozen=True)
class Identity:
    """The table of identities: predicates that link copies of one entity, and templates of identifiers."""

    predicates: tuple[str, ...] = ()
    templates: tuple[IdentifierTemplate, ...] = ()

    @cached_property
    def relations(self) -> frozenset[Iri]:
        """All predicates that the table speaks of: joins in a federation, and no steps of a walk."""
        return frozenset(map(Iri, (*self.predicates, *self._by_relation)))

    @cached_property
    def _by_relation(self) -> dict[str, list[IdentifierTemplate]]:
        grouped: dict[str, list[IdentifierTemplate]] = defaultdict(list)
        for template in self.templates:
            grouped[template.relation].append(template)
        return dict(grouped)

    def links(self, edge: Edge) -> Iterator[Edge]:
        """The edge as a link to copies of its start: as it is, or once for each IRI that its literal stands for."""
        if isinstance(edge.object, Literal):
            for iri in self._identified(edge):
                yield msgspec.structs.replace(edge, identifies=iri)
        elif (
            edge.through is None
            and edge.relation.value in self.predicates
            and _askable(edge.end)
            and edge.start != edge.end
        ):
            yield edge

    def allows(self, edge: Edge) -> bool:
        """Whether the object of an edge is an identifier of the entity that the edge claims, if it claims one."""
        return edge.identifies is None or edge.identifies in self._identified(edge)

    def forward(self, entities: Sequence[Iri]) -> dict[Iri, list[Iri]]:
        """Which of the entities may be the subject of which link."""
        subjects = {Iri(predicate): list(entities) for predicate in self.predicates}
        for relation, templates in self._by_relation.items():
            prefixes = tuple(template.subject for template in templates)
            subjects[Iri(relation)] = [entity for entity in entities if entity.value.startswith(prefixes)]
        return subjects

    def backward(self, entities: Sequence[Iri]) -> dict[Iri, list[Iri | Literal]]:
        """The objects of links that would lead to the entities: themselves, or their identifiers."""
        objects: dict[Iri, list[Iri | Literal]] = {Iri(predicate): list(entities) for predicate in self.predicates}
        for template in self.templates:
            values = (template.value_of(entity) for entity in entities)
            objects.setdefault(Iri(template.relation), []).extend(
                Literal(value) for value in values if value is not None
            )
        return objects

    def shown(self, profile: Profile) -> Profile:
        """The profile of an endpoint that is to return its links too: what it skips as technical are joins here."""
        skip = tuple(iri for iri in profile.shape.edges.skip if Iri(iri) not in self.relations)
        edges = msgspec.structs.replace(profile.shape.edges, skip=skip)
        return msgspec.structs.replace(profile, shape=msgspec.structs.replace(profile.shape, edges=edges))

    def _identified(self, edge: Edge) -> list[Iri]:
        """The IRIs that the literal of an edge stands for."""
        if not isinstance(edge.object, Literal) or not isinstance(edge.subject, Iri) or edge.through is not None:
            return []
        subject, value = edge.subject.value, edge.object.value
        known = self._by_relation.get(edge.relation.value, ())
        iris = (template.iri_of(value) for template in known if subject.startswith(template.subject))
        return [iri for iri in iris if iri is not None and iri != edge.subject]


class _IdentityTable(msgspec.Struct, forbid_unknown_fields=True):
    """The file: `links` are predicates, `template` its tables."""

    links: tuple[str, ...] = ()
    template: tuple[IdentifierTemplate, ...] = ()


LOADED: FileCache[str, Identity] = FileCache()


def load(user_folder: str = "") -> Identity:
    """The bundled table, with what the user's own folder adds. Raises ProfileError for a file that does not fit."""
    folders = layers("endpoints", user_folder, ProfileError, what="profiles")
    files = [file for place in folders if (file := place / f"{IDENTITY}.toml").is_file()]
    return LOADED.get(
        user_folder, files, lambda: _joined([parse(toml.read_text(file, ProfileError), str(file)) for file in files])
    )


def _joined(tables: Sequence[Identity]) -> Identity:
    """All that the tables hold, each once."""
    return Identity(
        tuple(dict.fromkeys(predicate for table in tables for predicate in table.predicates)),
        tuple(dict.fromkeys(template for table in tables for template in table.templates)),
    )


def parse(text: str, source: str) -> Identity:
    """The table that TOML text holds; `source` is named in errors."""
    table = toml.parse(text, source, _IdentityTable, ProfileError, hint=HINT)
    for template in table.template:
        if not (template.literal.count(PLACE) == template.iri.count(PLACE) == 1):
            raise ProfileError(
                f"{source}: template: {PLACE} must stand once in literal and iri: {template.literal!r}", hint=HINT
            )
    for iri in (*table.links, *(iri for known in table.template for iri in (known.relation, known.iri))):
        if not Iri(iri).queryable:
            raise ProfileError(f"{source}: not an IRI: {iri!r}", hint=HINT)
    return Identity(table.links, table.template)


def _askable(term: Term) -> bool:
    """Whether the term can be the name of a copy: no endpoint has one that no query can carry."""
    return isinstance(term, Iri) and term.queryable


def _pattern(text: str) -> str:
    """The regular expression of a template's text; `re` keeps the compiled ones."""
    before, _, after = text.partition(PLACE)
    return re.escape(before) + IDENTIFIER + re.escape(after)
