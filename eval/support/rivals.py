"""What a user would write instead: walks of known relations with SPARQLWrapper, each started as a program of its own.

`python -m eval.support.rivals WAY URL FILE`: FILE has the tasks; prints the results. Nothing but SPARQLWrapper is
imported, so that start and memory are those of such a program. Each knows the right relations and looks at nothing
else, so these are the fewest requests of its kind.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from SPARQLWrapper import JSON, POST, SPARQLWrapper

__all__ = ["WAYS", "ended", "rows", "walked"]

NAME = "<http://www.w3.org/2000/01/rdf-schema#label>"

Hop = tuple[str, str]
"""A relation's IRI, and "out" or "in"."""
Select = Callable[[str], Sequence[dict[str, str]]]
Walk = Callable[[Select, str, Sequence[Hop]], dict[str, str]]
"""From a topic over hops to the ends, each with its name."""


def own_query(select: Select, topic: str, hops: Sequence[Hop]) -> dict[str, str]:
    """One query for the whole path, written by somebody who knows it: the least that there is."""
    nodes = [f"<{topic}>", *(f"?n{number}" for number in range(1, len(hops) + 1))]
    patterns = [
        f"{near} <{relation}> {far} ." if way == "out" else f"{far} <{relation}> {near} ."
        for (relation, way), near, far in zip(hops, nodes, nodes[1:], strict=False)
    ]
    name = f"OPTIONAL {{ {nodes[-1]} {NAME} ?name }}"
    ends = select(f"SELECT DISTINCT ({nodes[-1]} AS ?x) ?name WHERE {{ {' '.join(patterns)} {name} }}")
    return {row["x"]: row.get("name", "") for row in ends}


def one_by_one(select: Select, topic: str, hops: Sequence[Hop]) -> dict[str, str]:
    """The edges of each entity on the way, both directions in one request, one entity after the other; then names."""
    ends = [topic]
    for relation, way in hops:
        further: dict[str, None] = {}
        for node in ends:
            out, into = f"<{node}> ?p ?o", f"?s ?p <{node}>"
            edges = select(f"SELECT ?s ?p ?o WHERE {{ {{ {out} }} UNION {{ {into} }} }}")
            wanted = "o" if way == "out" else "s"
            further |= {row[wanted]: None for row in edges if row["p"] == relation and wanted in row}
        ends = list(further)
    return {end: _name(select, end) for end in ends}


def think_on_graph(select: Select, topic: str, hops: Sequence[Hop]) -> dict[str, str]:
    """Think-on-Graph (Sun et al., ICLR 2024, section 2.2): the relations of each entity, then the entities of each one.

    Relation search asks for the outgoing and for the incoming relations of an entity, entity search for the tails or
    heads of each relation that the model keeps, and each entity that is found for its name. Here the model keeps but
    the one relation that is right, where the paper's keeps three: these are the fewest requests of that method.
    """
    ends = {topic: ""}
    for relation, way in hops:
        further: dict[str, None] = {}
        for node in ends:
            outgoing = {row["p"] for row in select(f"SELECT DISTINCT ?p WHERE {{ <{node}> ?p ?x }}")}
            incoming = {row["p"] for row in select(f"SELECT DISTINCT ?p WHERE {{ ?x ?p <{node}> }}")}
            if relation in (outgoing if way == "out" else incoming):
                pattern = f"<{node}> <{relation}> ?x" if way == "out" else f"?x <{relation}> <{node}>"
                further |= {row["x"]: None for row in select(f"SELECT ?x WHERE {{ {pattern} }}")}
        ends = {end: _name(select, end) for end in further}
    return ends


WAYS: dict[str, Walk] = {"own": own_query, "one-by-one": one_by_one, "tog": think_on_graph}


def walked(walk: Walk, url: str, tasks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The ends of each task by such a walk, twice, with the seconds of both rounds."""
    asked: list[str] = []

    def select(query: str) -> Sequence[dict[str, str]]:
        asked.append(query)
        return list(rows(url, query))

    def ends(task: dict[str, Any]) -> list[str]:
        return sorted(walk(select, task["topic"], task["hops"]))

    results = [ends(tasks[0])]
    first = time.time()
    results += [ends(task) for task in tasks[1:]]
    between, requests = time.time(), len(asked)
    for task in tasks:
        ends(task)
    return ended(results, first, between, requests)


def ended(ends: Sequence[Sequence[str]], first: float, between: float, requests: int) -> dict[str, Any]:
    """What a program prints: the ends of each task, the instants of the first answer and of the first round's end.

    And the requests of that round, and the most memory that it had, as Linux counts it.
    """
    memory = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    megabytes = round(int(memory[1]) / 1024, 1) if memory else 0.0
    return {
        "ends": ends,
        "first": first,
        "between": between,
        "end": time.time(),
        "requests": requests,
        "memory": megabytes,
    }


def _name(select: Select, node: str) -> str:
    return next((row["name"] for row in select(f"SELECT ?name WHERE {{ <{node}> {NAME} ?name }}")), "")


def rows(url: str, query: str) -> Iterator[dict[str, str]]:
    """What SPARQLWrapper gives of a query, row by row."""
    wrapper = SPARQLWrapper(url)
    wrapper.setMethod(POST)
    wrapper.setReturnFormat(JSON)
    wrapper.setQuery(query)
    for row in wrapper.queryAndConvert()["results"]["bindings"]:
        yield {name: value["value"] for name, value in row.items()}


if __name__ == "__main__":
    way, endpoint, file = sys.argv[1:]
    json.dump(walked(WAYS[way], endpoint, json.loads(Path(file).read_text())), sys.stdout)
