"""Chains of relations as patterns of a query that people can read: prefixes, variables, labels as comments.

It is built from terms alone. Labels stand in comments behind the patterns, as one harmless line each. A step leads on
from the nodes on its way, or back to one of them, or both: a condition says which. Where a step was walked at another
endpoint than the first one, its pattern stands in a SERVICE clause.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fedkg.common.one_line import line
from fedkg.core.terms import DirectedRelation, Iri, Term, relation_name

__all__ = ["ANSWER", "ANSWERS", "COUNT", "QueryChain", "QueryStep", "QueryWriter", "Way", "block"]

PREFIXES = {
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "ns": "http://rdf.freebase.com/ns/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "obo": "http://purl.obolibrary.org/obo/",
}
INDENT = "  "
ANSWER = "?answer"
ANSWERS = f"SELECT DISTINCT {ANSWER} WHERE"
COUNT = f"SELECT (COUNT(DISTINCT {ANSWER}) AS ?count) WHERE"
LONGEST_COMMENT = 160


class Way(NamedTuple):
    """One way to take a step: a relation at an endpoint, after a link to a copy where the walk crossed one."""

    relation: DirectedRelation
    endpoint: str
    link: DirectedRelation | None = None
    link_endpoint: str = ""


class QueryStep(NamedTuple):
    """A step by any of its ways: `ahead` to what does not lie on the way to it, `back` to what does."""

    ways: tuple[Way, ...]
    back: bool = False
    ahead: bool = True


class QueryChain(NamedTuple):
    """The steps from a topic to the ends."""

    topic: Iri
    steps: tuple[QueryStep, ...]


class QueryWriter:
    """Writes patterns with variables of their own; `urls` are those of endpoints by name, `home` is who is asked."""

    def __init__(self, names: Mapping[Term, str], home: str = "", urls: Mapping[str, str] | None = None) -> None:
        self._names, self._home, self._urls = names, home, urls or {}
        self._variables = 0
        self.used: set[str] = set()

    def variable(self) -> str:
        """A variable that nothing else has."""
        self._variables += 1
        return f"?x{self._variables}"

    def term(self, term: Term) -> str:
        """The term as it stands in the query, by a prefix where it has one. Raises TermError for an unwritable one."""
        text = term.n3()
        if isinstance(term, Iri):
            for prefix, start in PREFIXES.items():
                rest = term.value.removeprefix(start)
                if rest != term.value and rest.replace("_", "a").isalnum() and rest.isascii():
                    self.used.add(prefix)
                    return f"{prefix}:{rest}"
        return text

    def comment(self, text: str) -> str:
        """The text as a comment: one line, of bounded length, behind two blanks."""
        return f"  {_comment(text)}" if text else ""

    def chain(self, chain: QueryChain, end: str = ANSWER) -> list[str]:
        """The patterns from the topic to that variable."""
        nodes, lines = [self.term(chain.topic)], []
        for place, step in enumerate(chain.steps, 1):
            node = end if place == len(chain.steps) else self.variable()
            start = self._names.get(chain.topic, "") if place == 1 else ""
            lines += self.step(step, nodes[-1], node, start)
            lines += self._side(step, node, nodes)
            nodes.append(node)
        return lines

    def _side(self, step: QueryStep, node: str, way: Sequence[str]) -> Iterator[str]:
        """The condition that the step leads on from those nodes, or back to one; none where it does both.

        A first step needs one only over a mediator, which leads back to the topic: who is married has a spouse.
        """
        first = len(way) == 1 and not any(one.relation.via for one in step.ways)
        if step.back != step.ahead and not (first and step.ahead):
            yield f"FILTER({node} {'NOT IN' if step.ahead else 'IN'} ({', '.join(way)}))"

    def step(self, step: QueryStep, start: str, end: str, name: str = "") -> list[str]:
        """The patterns of one step between two variables or terms; a union where it has several ways."""
        ways = [list(self._way(way, start, end, name)) for way in step.ways]
        return ways[0] if len(ways) == 1 else self.union(ways)

    def union(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """The groups of patterns as alternatives."""
        if len(groups) == 1:
            return list(groups[0])
        lines: list[str] = []
        for group in groups:
            lines += block("UNION" if lines else "", group)
        return lines

    def is_one(self, variable: str, terms: Sequence[Term]) -> str:
        """That the variable is one of these terms."""
        return f"VALUES {variable} {{ {' '.join(map(self.term, terms))} }}"

    def relation(self, relation: DirectedRelation) -> str:
        """The name of the relation, with an arrow of its direction."""
        arrow = "→" if relation.direction == "out" else "←"
        return f"{arrow} {relation_name(relation, self._names)}"

    def _way(self, way: Way, start: str, end: str, name: str) -> Iterator[str]:
        node = start
        if way.link:
            node = self.variable()
            link = " ".join(self._patterns(way.link, start, node))
            yield self._placed(link, way.link_endpoint) + self.comment(f"{name} {self.relation(way.link)}".strip())
        patterns = " ".join(self._patterns(way.relation, node, end))
        yield self._placed(patterns, way.endpoint) + self.comment(f"{name} {self.relation(way.relation)}".strip())

    def _patterns(self, relation: DirectedRelation, start: str, end: str) -> Iterator[str]:
        subject, target = (start, end) if relation.direction == "out" else (end, start)
        if relation.via is None:
            yield f"{subject} {self.term(relation.relation)} {target} ."
            return
        mediator = self.variable()
        yield f"{subject} {self.term(relation.relation)} {mediator} ."
        yield f"{mediator} {self.term(relation.via)} {target} ."

    def _placed(self, patterns: str, endpoint: str) -> str:
        """The patterns in a SERVICE clause, where another endpoint is asked for them. Raises KeyError without a URL."""
        if not endpoint or endpoint == self._home:
            return patterns
        return f"SERVICE {Iri(self._urls[endpoint]).n3()} {{ {patterns} }}"

    def whole(self, head: str, body: Sequence[str], about: Sequence[str] = ()) -> str:
        """The query with its prefixes, and with comments before it."""
        comments = [_comment(text) for text in about if text]
        prefixes = [f"PREFIX {name}: {Iri(PREFIXES[name]).n3()}" for name in PREFIXES if name in self.used]
        return "\n".join([*comments, *prefixes, f"{head} {{", *(INDENT + one for one in body), "}", ""])


def _comment(text: str) -> str:
    """A line without backslashes: engines may read the code of a line end in a comment, too (SPARQL 1.1, 19.2)."""
    return "# " + line(text.replace("\\", "/"))[:LONGEST_COMMENT]


def block(head: str, lines: Sequence[str], ending: str = "") -> list[str]:
    """The lines in braces behind a head."""
    return [f"{head} {{".lstrip(), *(INDENT + one for one in lines), f"}}{ending}"]
