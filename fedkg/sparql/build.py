"""Requests become query text: pure functions, full IRIs, terms written by `fedkg.core.terms` only.

The shapes follow what real engines can plan: VALUES inside each branch (an outer VALUES makes QLever evaluate the whole
UNION), named variables, no BIND, constants in predicate position, one direction per query. Branches that must be told
apart use variables of their own (`?x0`, `?x1`, …) instead of BIND.

Where a query starts from entities that are known, the dialect says how they stand in it: all in one VALUES, or each as
a constant in a branch of its own. The rows are the same, but for how often the same one comes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from fedkg.config import dialects
from fedkg.config.dialects import GENERIC, Dialect
from fedkg.config.profiles import Edges, Labels, Mediators, Shape
from fedkg.core.terms import UNKNOWN, XSD_STRING, Direction, Edge, Iri, Literal, Term
from fedkg.sparql.mediators import entity_marks

__all__ = [
    "DIALECT_VERSION",
    "catalogue",
    "contains",
    "edge_counts",
    "holds",
    "hub_relations",
    "hub_tails",
    "known",
    "labels",
    "named",
    "neighbours",
    "pairs",
    "predicates",
    "room",
    "scan_labels",
    "spoken",
    "subjects",
    "used",
]

DIALECT_VERSION = 4
"""Raised whenever a query shape changes what a neighbourhood is, so that cached ones of the old shape are not used."""

HUB_SAMPLE = 1_000_000
CATALOGUE_ROWS = 200_000
TESTS = 100
"""Conditions on edges that are remembered: an endpoint has a few."""


def room(shape: Shape) -> int:
    """The most entities of one neighbour query, such that each can have branches of its own in every dialect."""
    ways: tuple[Direction, Direction] = ("out", "in")
    branches = max(len(_edge_branches(_Start("", "?x", ""), way, shape, 1, GENERIC)) for way in ways)
    return min(dialect.branches for dialect in dialects.loaded() if dialect.inline) // branches


def neighbours(
    entities: Sequence[Iri],
    direction: Direction,
    shape: Shape,
    limit: int,
    dialect: Dialect = GENERIC,
    *,
    statements: bool = True,
) -> str:
    """All edges of the entities in one direction: rows (s, p, o), and for mediators (s, p, m, …).

    Collapsed nodes, outgoing: (s, p, m, q, v), one row per leg (q, v). Incoming: (s, p, m, w, o): the entity o hangs on
    the mediator's leg w; and (m, q, v): its legs. Wikidata statements, both ways: (s, c, m, o, q, v): claim c, main
    value o, qualifier (q, v). Without `statements` none are asked for; edges that lead to one, (s, p, o), come instead.
    """
    starts = _starts_from("?s" if direction == "out" else "?o", entities, dialect)
    begun = [_Together(starts)] if dialect.together else starts
    branches = [
        branch
        for start in begun
        for branch in _edge_branches(start, direction, shape, limit, dialect, statements=statements)
    ]
    if dialect.inline:
        # else a branch is evaluated in full before the LIMIT of the whole query
        branches = [f"SELECT * WHERE {{ {branch} }} LIMIT {limit}" for branch in branches]
    further = " ?c ?m ?w ?q ?v" if len(branches) > len(begun) else ""  # each costs Virtuoso a little in every row
    return f"SELECT ?s ?p ?o{further} WHERE {{ {_union(branches)} }} LIMIT {limit}"


def hub_relations(entity: Iri, direction: Direction, shape: Shape, limit: int, dialect: Dialect = GENERIC) -> str:
    """The relations of a hub: rows (p); where the engine reads every edge to find them, those of its first edges only.

    The plumbing is left out of the relations, not of the edges: a condition on each of a million edges takes seconds.
    The LIMIT inside keeps an optimizer from moving it there.
    """
    triple = _triple(entity.n3(), "?p", "?x", direction)
    edges = triple if dialect.fast_distinct_predicates else f"{{ SELECT ?p WHERE {{ {triple} }} LIMIT {HUB_SAMPLE} }}"
    relations = f"{{ SELECT DISTINCT ?p WHERE {{ {edges} }} LIMIT {CATALOGUE_ROWS} }}"
    return f"SELECT ?p WHERE {{ {relations} {_edge_filter('?p', shape.edges)} }} LIMIT {limit}"


def hub_tails(entity: Iri, relations: Sequence[Iri], direction: Direction, limit: int) -> str:
    """At most `limit` tails per relation of a hub: rows with one variable bound, `?x<n>` for the n-th relation."""
    branches = [
        f"SELECT ?x{number} WHERE {{ {_triple(entity.n3(), relation.n3(), f'?x{number}', direction)} }} LIMIT {limit}"
        for number, relation in enumerate(relations)
    ]
    return f"SELECT * WHERE {{ {_union(branches)} }}"


def edge_counts(entities: Sequence[Iri], direction: Direction, shape: Shape, limit: int) -> str:
    """How many edges each entity has, counted up to `limit`: rows with one variable bound, `?n<k>` for the k-th one.

    They are among the rows that `neighbours` asks for, with statements or without.
    """
    test = _edge_filter("?p", shape.edges)
    branches = [
        f"SELECT (COUNT(?p) AS ?n{number}) WHERE {{ {{ SELECT ?p WHERE {{ {edges} . {test} }} LIMIT {limit} }} }}"
        for number, edges in enumerate(_triple(entity.n3(), "?p", "?x", direction) for entity in entities)
    ]
    return f"SELECT * WHERE {{ {_union(branches)} }}"


def labels(entities: Sequence[Iri], shape: Labels, languages: Sequence[str], dialect: Dialect = GENERIC) -> str:
    """The labels of the entities in these languages and without language: rows (e, l<n>), n counting label predicates.

    One branch per predicate: `?e ?p ?l` with a condition on `?p` would read every edge of a hub for the sake of its
    name.
    """
    most = dialect.branches // max(1, len(shape.predicates))
    # with a constant predicate VALUES cost no engine much
    starts = _starts_from("?e", entities, dialect if len(entities) <= most else GENERIC)
    branches = [
        f"{start.before}{start.term} {Iri(predicate).n3()} ?l{number} . {spoken(f'?l{number}', languages)}{start.after}"
        for start in starts
        for number, predicate in enumerate(shape.predicates)
    ]
    return f"SELECT * WHERE {{ {_union(branches)} }}"


def catalogue(shape: Labels, languages: Sequence[str], property_type: str) -> str:
    """Every relation with its property entity, and that entity's label and type: rows (e, p, l, t)."""
    name = f"OPTIONAL {{ ?e {Iri(shape.predicates[0]).n3()} ?l . {spoken('?l', languages)} }}"
    kind = f"OPTIONAL {{ ?e {Iri(property_type).n3()} ?t }}"
    return f"SELECT ?e ?p ?l ?t WHERE {{ ?e {Iri(shape.property_of).n3()} ?p . {name} {kind} }} LIMIT {CATALOGUE_ROWS}"


def pairs(predicate: str) -> str:
    """What that predicate joins: rows (s, o)."""
    return f"SELECT ?s ?o WHERE {{ ?s {Iri(predicate).n3()} ?o }} LIMIT {CATALOGUE_ROWS}"


def named(names: Sequence[str], shape: Labels, languages: Sequence[str], limit: int, dialect: Dialect = GENERIC) -> str:
    """The entities with one of these labels or aliases: rows (e<n>, l<n>, d<n>), n counting label and alias predicates.

    `limit` bounds the rows of each predicate. d<n> is the description, where there is one.
    """
    literals = (Literal(name, language=tag) for name in names for tag in _tags(languages))
    forms = [form for literal in literals for form in _forms(literal, dialect)]
    return f"SELECT * WHERE {{ {_union(_named(forms, shape, languages, limit, dialect))} }}"


def scan_labels(shape: Labels, limit: int) -> str:
    """Labels of anything, at most `limit` by predicate: rows (e, l<n>); for graphs small enough to be read whole."""
    branches = [
        f"SELECT ?e ?l{number} WHERE {{ ?e {Iri(predicate).n3()} ?l{number} }} LIMIT {limit}"
        for number, predicate in enumerate(shape.predicates)
    ]
    return f"SELECT * WHERE {{ {_union(branches)} }}"


def predicates(limit: int) -> str:
    """The relations that stand in the graph, at most so many: rows (p). Large endpoints may take too long for it."""
    return f"SELECT DISTINCT ?p WHERE {{ ?s ?p ?o }} LIMIT {limit}"


def subjects(limit: int, offset: int = 0) -> str:
    """The subjects of any `limit` triples, one row each: rows (s); `offset` leaves out so many before them."""
    return f"SELECT ?s WHERE {{ ?s ?p ?o }} LIMIT {limit} OFFSET {offset}"


def used(predicates: Sequence[Iri]) -> str:
    """Which of these IRIs stand as a predicate: rows with one variable bound, `?x<n>` for the n-th that does."""
    branches = [
        f"SELECT ?x{number} WHERE {{ ?x{number} {predicate.n3()} ?y }} LIMIT 1"
        for number, predicate in enumerate(predicates)
    ]
    return f"SELECT * WHERE {{ {_union(branches)} }}"


def holds(edges: Sequence[Edge], unknown: str = "", dialect: Dialect = GENERIC) -> str:
    """Which of the edges the endpoint still says: rows (i), the number of each that holds.

    Where the object is `UNKNOWN`, any value that is not known will do; `unknown` is the prefix of IRIs that stand for
    one.
    """
    branches = [
        f"VALUES ?i {{ {Literal(str(number)).n3()} }} {_pattern(edge, target)}"
        for number, edge in enumerate(edges)
        for target in _targets(edge.object, unknown, dialect)
    ]
    return f"SELECT DISTINCT ?i WHERE {{ {_union(branches)} }}"


def known(
    entities: Sequence[Iri],
    forward: Mapping[Iri, Sequence[Term]],
    backward: Mapping[Iri, Sequence[Term]],
    limit: int,
    dialect: Dialect = GENERIC,
) -> str:
    """Which of the entities the endpoint has edges of, and their links, in one query.

    Rows (e): an entity that stands in some triple, links aside. Rows (s<n>, o<n>): a triple of the n-th relation, whose
    subject is among `forward`'s terms or whose object among `backward`'s; both have the same relations.
    """
    branches = [branch for start in _starts_from("?e", entities, dialect) for branch in _known(start, list(forward))]
    for number, relation in enumerate(forward):
        for place, terms in (("s", forward[relation]), ("o", backward[relation])):
            if terms:
                forms = " ".join(form for term in terms for form in _forms(term, dialect))
                values = f"VALUES ?{place}{number} {{ {forms} }}"
                branches.append(f"{values} ?s{number} {relation.n3()} ?o{number}")
    return f"SELECT * WHERE {{ {_union(branches)} }} LIMIT {limit}"


def contains(predicate: str) -> str:
    """One row where any triple has that predicate; no ASK, whose result Virtuoso writes in a shape of its own."""
    return f"SELECT ?s WHERE {{ ?s {Iri(predicate).n3()} ?o }} LIMIT 1"


class _Start(NamedTuple):
    """How a branch starts from what is known: the text before its pattern, the term in it, the text after it."""

    before: str
    term: str
    after: str

    def edges(self, predicate: str, other: str, direction: Direction, test: str) -> str:
        """Its edges that meet the test."""
        return f"{self.before}{_triple(self.term, predicate, other, direction)} . {test}"


class _Together(NamedTuple):
    """Several starts as one, so that what follows is joined with all of their edges at once."""

    starts: Sequence[_Start]
    after: str = ""

    def edges(self, predicate: str, other: str, direction: Direction, test: str) -> str:
        """The edges of each."""
        return _union(f"{start.edges(predicate, other, direction, test)}{start.after}" for start in self.starts)


def _starts_from(variable: str, entities: Sequence[Iri], dialect: Dialect) -> list[_Start]:
    """One start for all entities, or one for each; `variable` names the entity in the rows in either case.

    A lone entity is a constant everywhere. The VALUES after the pattern shares no variable with it, so no plan depends
    on it.
    """
    if dialect.inline or len(entities) == 1:
        return [_Start("", entity.n3(), f" VALUES {variable} {{ {entity.n3()} }}") for entity in entities]
    return [_Start(f"VALUES {variable} {{ {_list(entities)} }} ", variable, "")]


def _edge_branches(
    start: _Start | _Together,
    direction: Direction,
    shape: Shape,
    limit: int,
    dialect: Dialect,
    *,
    statements: bool = True,
) -> list[str]:
    """The branches that lead from one start to its edges."""
    also = "" if statements else shape.mediators.towards(direction)
    plain = start.edges("?p", "?o" if direction == "out" else "?s", direction, _edge_filter("?p", shape.edges, also))
    stated = _statements(start, direction, shape.mediators, dialect) if statements else []
    mediated = _mediated(start, direction, shape, limit, dialect)
    return [*(f"{branch}{start.after}" for branch in (plain, *stated)), *mediated]


def _known(start: _Start, links: Sequence[Iri]) -> list[str]:
    """Whether an entity is a subject or an object.

    Of one that is a constant one triple is looked at, however many it has.
    """
    besides = f" FILTER(?p NOT IN ({_list(links, ', ')}))" if links else ""
    triples = [f"{pattern}{besides}" for pattern in (f"{start.term} ?p ?o", f"?s ?p {start.term}")]
    if start.after:
        lookups = (f"{{ SELECT ?p WHERE {{ {triple} }} LIMIT 1 }}" for triple in triples)
        return [f"SELECT ?e WHERE {{ {lookup}{start.after} }}" for lookup in lookups]
    return [f"{start.before}FILTER EXISTS {{ {triple} }}" for triple in triples]


def _mediated(start: _Start | _Together, direction: Direction, shape: Shape, limit: int, dialect: Dialect) -> list[str]:
    """Mediators first, in a group of their own: else their legs may be read before it is known that they are any.

    They are looked for among `limit` edges. Where there are more, the plain edges alone fill the reply, and it counts
    as cut; without the bound, an engine that begins with this branch looks at each of a hub's million edges. A simple
    engine would join a bounded query with the whole graph, and goes without.
    """
    test = _mediator_test(shape.mediators)
    if not test:
        return []
    edge, last = (_edge_filter(variable, shape.edges) for variable in ("?p", "?w"))
    first = start.edges(*(("?p", "?m", "out", edge) if direction == "out" else ("?w", "?m", "in", last)))
    nodes = f"{{ {first if dialect.simple else f'{{ SELECT * WHERE {{ {first} }} LIMIT {limit} }}'} {test} }}"
    legs = f"?m ?q ?v . {_leg_filter(shape)}"
    if direction == "out":
        return [f"{nodes} {legs}{start.after}"]
    leading = f"{nodes} ?s ?p ?m . {edge}{start.after}"
    if dialect.simple:
        return [leading, f"SELECT DISTINCT ?m ?q ?v WHERE {{ {{ {nodes} FILTER EXISTS {{ ?s ?p ?m }} }} {legs} }}"]
    # By themselves: joined with those who lead to it, the 600 legs of an entity without a name are 90,000 rows. A group
    # of their own for the nodes and the LIMIT after it keep the engines from reading the whole graph for them.
    led_to = f"{{ SELECT DISTINCT ?m WHERE {{ {nodes} ?s ?p ?m }} LIMIT {limit} }}"
    return [leading, f"{led_to} {legs}"]


def _leg_filter(shape: Shape) -> str:
    """The conditions on a mediator's legs; what marks an entity comes along, though it is no edge."""
    tests = _edge_tests("?q", shape.edges)
    names, types = entity_marks(shape)
    marks = [f"?q IN ({_list(names, ', ')})"] if names else []
    marks += [f"(?q = {relation.n3()} && ?v = {kind.n3()})" for relation, kind in types]
    if not tests:
        return ""
    return f"FILTER({' || '.join((f'({tests})', *marks))})" if marks else f"FILTER({tests})"


def _mediator_test(mediators: Mediators) -> str:
    """The conditions on ?m: blank, or an IRI of a kind that has names when it is an entity, and in neither case named.

    NOT EXISTS stands by itself: inside of a disjunction it costs Virtuoso four times as much.
    """
    prefixes = mediators.unnamed if mediators.name else ()
    kinds = ["isBlank(?m)"] if mediators.blank else []
    kinds += [_starts("?m", prefix) for prefix in prefixes]
    nameless = f" FILTER NOT EXISTS {{ ?m {Iri(mediators.name).n3()} ?n }}" if prefixes else ""
    return f"FILTER({' || '.join(kinds)}){nameless}" if kinds else ""


def _statements(start: _Start | _Together, direction: Direction, mediators: Mediators, dialect: Dialect) -> list[str]:
    """The statements of one start, from the end that is known to the other one."""
    if not mediators.statement:
        return []
    claim, main = (_starts(*part) for part in (("?c", mediators.claim), ("?main", mediators.statement)))
    claims, mains = f"FILTER({claim})", f"FILTER({main})"
    if direction == "out":
        first, second = start.edges("?c", "?m", "out", claims), f"?m ?main ?o . {mains}"
    else:
        first, second = start.edges("?main", "?m", "in", mains), f"?s ?c ?m . {claims}"
    legs = f"?m ?q ?v . FILTER({_starts('?q', mediators.qualifier)}){_ranked(mediators)}"
    return [f"{f'{{ {first} }}' if dialect.simple else first} {second} {legs}"]


def _ranked(mediators: Mediators) -> str:
    """The condition that the statement ?m counts: what was said of a fact in error is nothing said of it."""
    if not (mediators.rank and mediators.deprecated):
        return ""
    return f" FILTER NOT EXISTS {{ ?m {Iri(mediators.rank).n3()} {Iri(mediators.deprecated).n3()} }}"


def _edge_filter(variable: str, edges: Edges, also: str = "") -> str:
    """The conditions on a predicate variable; predicates that begin with `also` meet them, too.

    The plumbing is left out by the endpoint, not carried over the network.
    """
    tests = _edge_tests(variable, edges)
    if tests and also:
        tests = f"{tests} || {_starts(variable, also)}"  # "and" binds tighter
    return f"FILTER({tests})" if tests else ""


@lru_cache(TESTS)
def _edge_tests(variable: str, edges: Edges) -> str:
    """The conditions as one expression, empty where there are none; the same for all requests to an endpoint."""
    tests = [_starts(variable, edges.only)] if edges.only else []
    tests += [f"!{_starts(variable, prefix)}" for prefix in edges.skip_prefixes]
    if edges.skip:
        tests.append(f"{variable} NOT IN ({_list((Iri(iri) for iri in edges.skip), ', ')})")
    return " && ".join(tests)


def _named(
    forms: Sequence[str], shape: Labels, languages: Sequence[str], limit: int, dialect: Dialect
) -> Iterator[str]:
    """A branch for each predicate with all names in it, or one for each name too."""
    for number, predicate in enumerate((*shape.predicates, *shape.aliases)):
        relation, described = Iri(predicate).n3(), _described(number, shape, languages)
        starts = [_Start("", form, f" VALUES ?l{number} {{ {form} }}") for form in forms]
        if not dialect.lone_names:
            starts = [_Start(f"VALUES ?l{number} {{ {' '.join(forms)} }} ", f"?l{number}", "")]
        for start in starts:
            triple = f"{start.before}?e{number} {relation} {start.term} . {described}{start.after}"
            yield f"SELECT ?e{number} ?l{number} ?d{number} WHERE {{ {triple} }} LIMIT {limit}"


def _described(number: int, shape: Labels, languages: Sequence[str]) -> str:
    if not shape.description:
        return ""
    return f"OPTIONAL {{ ?e{number} {Iri(shape.description).n3()} ?d{number} . {spoken(f'?d{number}', languages)} }}"


def spoken(variable: str, languages: Sequence[str]) -> str:
    """The condition that a literal is in one of the languages, for all of them, or in none."""
    return f"FILTER(LANG({variable}) IN ({_list((Literal(tag) for tag in _tags(languages)), ', ')}))"


def _tags(languages: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*(tag.lower() for tag in languages), "mul", "")))


def _starts(variable: str, prefix: str) -> str:
    return f"STRSTARTS(STR({variable}), {Literal(prefix).n3()})"


def _pattern(edge: Edge, target: str) -> str:
    subject, relation = edge.subject.n3(), edge.relation.n3()
    if edge.through is None:
        return f"{subject} {relation} {target}"
    node = edge.through.node.n3() if edge.through.node.queryable else "?m"
    return f"{subject} {relation} {node} . {node} {edge.through.relation.n3()} {target}"


def _targets(term: Term, unknown: str, dialect: Dialect) -> list[str]:
    """What an edge to that term may end in: the forms of the term, or a variable with a condition."""
    if term != UNKNOWN:
        return [f"{form} ." for form in _forms(term, dialect)]
    kinds = ["isBlank(?u)", *([_starts("?u", unknown)] if unknown else [])]
    return [f"?u . FILTER({' || '.join(kinds)})"]


def _triple(known: str, predicate: str, other: str, direction: Direction) -> str:
    return f"{known} {predicate} {other}" if direction == "out" else f"{other} {predicate} {known}"


def _union(branches: Iterable[str]) -> str:
    return " UNION ".join(f"{{ {branch} }}" for branch in branches)


def _list(terms: Iterable[Term], separator: str = " ") -> str:
    return separator.join(term.n3() for term in terms)


def _forms(term: Term, dialect: Dialect) -> list[str]:
    """The term as it is written into a query.

    Where the engine tells a plain string from one of type xsd:string, as both.
    """
    plain = isinstance(term, Literal) and not (term.language or term.datatype)
    typed = [f"{term.n3()}^^{Iri(XSD_STRING).n3()}"] if plain and dialect.typed_strings else []
    return [term.n3(), *typed]
