"""Findings of the graph: its shape, its names, whether entities are found by them, their edges, and what is hidden."""

from collections.abc import Mapping, Sequence

from fedkg.core.answer import PathEdge
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Literal, Term
from fedkg.errors import EndpointError
from fedkg.graph.hidden_edges import HiddenEdges, hides
from fedkg.graph.labels import Ranked, best_label
from fedkg.sparql import build
from fedkg.sparql.text_search import words
from fedkg.wiring.check.report import Finding, Grade, listed, quoted
from fedkg.wiring.check.sample import choose
from fedkg.wiring.check.subject import GENERIC, Subject

__all__ = ["edges", "hidden", "labels", "lookup", "neighbourhood", "search", "shape"]

SCANNED = 60
"""Labels that are read of each label predicate: some are in another language, some those of relations."""
MOST_NAMED = 3
SHOWN = 5
"""Edges of each direction that a report shows."""
FEW = 0.5
"""The share of nodes with a label below which proofs and prompts are hard to read."""
LABEL_PREDICATES = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
    "http://rdf.freebase.com/ns/type.object.name",
    "http://www.w3.org/2008/05/skos-xl#literalForm",
    "http://www.geonames.org/ontology#name",
    "http://purl.uniprot.org/core/mnemonic",
    "http://id.nlm.nih.gov/mesh/vocab#prefLabel",
)
"""What graphs name their things by; those in use are proposed where a profile's own predicates are not."""


async def shape(subject: Subject) -> Finding:
    """Which of the known shapes the graph has, told by the predicates that give them away."""
    profile = subject.profile
    same = [known.name for known in subject.known if known.shape.marker == profile.shape.marker]
    if same or profile.name != GENERIC:
        return Finding("shape", Grade.OK, f"as the profile {(same or [profile.name])[0]} says")
    markers = await _used(subject, [known.shape.marker for known in subject.known])
    like = [known.name for known in subject.known if known.shape.marker in markers]
    if not like:
        return Finding("shape", Grade.OK, "that of no bundled profile; the generic one is used")
    advice = f"name it {like[0]}@URL, or put like = '{like[0]}' into its profile"
    summary = f"the graph looks like that of {', '.join(like)}"
    return Finding("shape", Grade.WARNING, summary, advice, {"like": like[0]})


async def labels(subject: Subject) -> Finding:
    """Which label predicates are in use, and whether in a wanted language."""
    predicates = subject.profile.shape.labels.predicates
    rows = (await subject.ask(build.scan_labels(subject.profile.shape.labels, SCANNED))).rows
    bound = {name for row in rows for name in row}
    none = [predicate for number, predicate in enumerate(predicates) if f"l{number}" not in bound]
    if len(none) == len(predicates):
        return await _unlabelled(subject)
    subject.named, subject.terms = _named(rows, subject.languages), _terms(rows, predicates)
    summary = f"by {listed([predicate for predicate in predicates if predicate not in none])}"
    summary += f"; none by {listed(none)}" if none else ""
    if subject.named:
        return Finding("labels", Grade.OK, f"{summary}; such as {subject.named[0].label!r}")
    spoken = sorted({term.language for row in rows for term in row.values() if isinstance(term, Literal)})
    advice = f"name one of these languages with --lang: {', '.join(spoken)}"
    return Finding("labels", Grade.WARNING, f"{summary}; but none of those seen is in a wanted language", advice)


async def neighbourhood(subject: Subject) -> Finding:
    """The edges of whichever of the chosen entities has the most, both ways."""
    before = subject.cause
    await choose(subject)
    if not subject.chosen:
        summary = "no entity with an IRI was seen"
        return Finding("neighbourhood", Grade.FAILED, summary, "a graph of blank nodes alone cannot be walked")
    out = max(await subject.graph.neighbours(subject.chosen, "out"), key=lambda near: len(near.edges))
    into = (await subject.graph.neighbours([out.entity], "in"))[0]
    subject.edges = [*out.edges, *into.edges]
    names = await subject.graph.labels(dict.fromkeys(term for edge in subject.edges for term in edge.terms))
    subject.sample = tuple(PathEdge.of(edge, names) for edge in (*out.edges[:SHOWN], *into.edges[:SHOWN]))
    if (why := out.failed or into.failed) and subject.cause is before:
        subject.note(EndpointError(why, endpoint=subject.name))
    return _walkable(subject, out, into)


async def edges(subject: Subject) -> Finding:
    """What the edges seen are like: names that count as edges are the commonest fault of a new profile."""
    through = sum(edge.through is not None for edge in subject.edges)
    qualified = sum(bool(edge.qualifiers) for edge in subject.edges)
    summary = f"{through} of {len(subject.edges)} seen lead through a mediator, {qualified} carry qualifiers"
    naming = {*subject.profile.shape.labels.predicates, *subject.profile.shape.labels.aliases}
    naming |= {subject.profile.shape.labels.description, *LABEL_PREDICATES}
    names = sorted(naming & {edge.relation.value for edge in subject.edges})
    if not names:
        return Finding("edges", Grade.OK, summary)
    advice = f"in its profile, add to [shape.edges] skip: {quoted(names)}"
    skip = [*subject.profile.shape.edges.skip, *names]
    return Finding(
        "edges", Grade.WARNING, f"{summary}; names count as edges ({listed(names)})", advice, {"shape.edges.skip": skip}
    )


async def hidden(subject: Subject) -> Finding:
    """What the profile hides of the chosen entities, by predicate."""
    if not hides(subject.profile.shape) or not subject.chosen:
        return Finding("hidden", Grade.OK, "the profile leaves out names and links to copies only")
    counts = await subject.graph.hidden(subject.chosen)
    number, shown = sum(count.number for count in counts), sum(count.shown for count in counts)
    summary = f"the profile leaves out {number:,} of {number + shown:,} edges of {len(counts)} entities"
    if number <= shown:
        return Finding("hidden", Grade.OK, f"{summary}{_most(counts)}")
    advice = "is that meant? `only`, `skip` and `skip_prefixes` in [shape.edges] of its profile leave them out"
    return Finding("hidden", Grade.WARNING, f"{summary}{_most(counts)}", advice)


async def search(subject: Subject) -> Finding:
    """Whether labels are found again: those of the chosen entities, since relations are left out of a search."""
    if not subject.named:
        return Finding("search", Grade.WARNING, "not tried: there is no label to search for", "use --topic IRI")
    wanted = subject.labelled(subject.chosen)
    if not wanted:
        return Finding(
            "search", Grade.OK, "not tried: of the entities with edges none has a label in a wanted language"
        )
    matches = await subject.graph.search([match.label for match in wanted])
    again = [match for match in wanted if match.iri in {other.iri for other in matches[match.label]}]
    if not again:
        summary = f"{wanted[0].label!r} is not found again by its own label"
        return Finding("search", Grade.WARNING, summary, "name topics by IRI: --topic IRI")
    subject.named = again + [match for match in subject.named if match not in again]
    return Finding("search", Grade.OK, f"{again[0].label!r} is found again by its label")


async def lookup(subject: Subject) -> Finding:
    """Whether entities are found by words too; that they are not is common and no fault."""
    wanted = subject.labelled(subject.chosen) or subject.named
    labels = [match.label for match in wanted if words(match.label)][:MOST_NAMED]
    matches = await subject.graph.lookup(labels)
    if again := [label for label in labels if matches[label]]:
        return Finding("look-up", Grade.OK, f"{again[0]!r} is found by its words as well")
    return Finding("look-up", Grade.OK, "none by words: topics have to be named by their label, or by an alias")


async def _used(subject: Subject, predicates: Sequence[str]) -> list[str]:
    """Those of the predicates that the graph has."""
    rows = (await subject.ask(build.used([Iri(predicate) for predicate in predicates]))).rows
    bound = {name for row in rows for name in row}
    return [predicate for number, predicate in enumerate(predicates) if f"x{number}" in bound]


async def _unlabelled(subject: Subject) -> Finding:
    shape = subject.profile.shape
    others = [name for name in LABEL_PREDICATES if name not in shape.labels.predicates]
    summary = "no label predicate of the profile is in use"
    if predicates := await _used(subject, others):
        advice = f"in its profile: [shape.labels] predicates = [{quoted(predicates)}]"
        skip = list(dict.fromkeys([*shape.edges.skip, *predicates]))
        proposal = {"shape.labels.predicates": predicates, "shape.edges.skip": skip}
        return Finding("labels", Grade.WARNING, summary, advice, {**proposal})
    advice = "find the predicate that names things, and put it into its profile: [shape.labels] predicates"
    return Finding("labels", Grade.WARNING, f"{summary}, nor another that is known", advice)


def _walkable(subject: Subject, out: Neighbourhood, into: Neighbourhood) -> Finding:
    if subject.cause and (out.failed or into.failed):
        why = subject.cause.message
        return Finding("neighbourhood", Grade.FAILED, why, "lower [limits] batch, or raise timeout, in its profile")
    nodes = {term for edge in subject.edges for term in (edge.subject, edge.object) if isinstance(term, Iri)}
    named = len(nodes & subject.graph.named.keys())
    summary = f"edges of <{out.entity.value}>: {len(out.edges)} out, {len(into.edges)} in"
    summary += f"; of {len(nodes)} nodes {named} with a label"
    summary += "".join(f"; {near.cut}" for near in (out, into) if near.cut)
    if not subject.edges:
        return Finding("neighbourhood", Grade.WARNING, "none of some entities has an edge", _without_edges(subject))
    if named >= FEW * len(nodes):
        return Finding("neighbourhood", Grade.OK, summary)
    return Finding("neighbourhood", Grade.WARNING, summary, "are there other label predicates? See [shape.labels]")


def _without_edges(subject: Subject) -> str:
    """What may be the reason: a profile that hides nothing cannot hide them."""
    if hides(subject.profile.shape):
        return "does its profile hide too much? See the finding hidden, and [shape.edges]"
    return "look at an entity that has edges: fedkg neighbours IRI -e SPEC"


def _most(counts: Sequence[HiddenEdges]) -> str:
    """The predicates of which most is hidden."""
    sums: dict[str, int] = {}
    for count in counts:
        for predicate, number in count.hidden.items():
            sums[predicate] = sums.get(predicate, 0) + number
    most = sorted(sums, key=lambda predicate: (-sums[predicate], predicate))[:MOST_NAMED]
    return f": most of them {listed(most)}" if most else ""


def _named(rows: Sequence[Mapping[str, Term]], languages: Sequence[str]) -> list[Match]:
    """The entities with a label in one of the languages, the best language and predicate first."""
    best: dict[Iri, Ranked] = {}
    for row in rows:
        entity, ranked = row.get("e"), best_label(row, languages)
        # behind the languages come "mul" and no language; a label of none of these has the rank after them
        if isinstance(entity, Iri) and entity.queryable and ranked and ranked[0] < len(languages) + 2:
            best[entity] = min(best.get(entity, ranked), ranked)
    ordered = sorted(best, key=lambda entity: best[entity][:2])
    return [Match(entity, best[entity][2], 1.0) for entity in ordered]


def _terms(rows: Sequence[Mapping[str, Term]], predicates: Sequence[str]) -> dict[Iri, tuple[str, Literal]]:
    """A label of each entity as the graph has it, with its predicate."""
    terms: dict[Iri, tuple[str, Literal]] = {}
    for row in rows:
        for number, predicate in enumerate(predicates):
            entity, label = row.get("e"), row.get(f"l{number}")
            if isinstance(entity, Iri) and isinstance(label, Literal) and entity.queryable and label.queryable:
                terms.setdefault(entity, (predicate, label))
    return terms
