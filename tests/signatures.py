"""The signatures that docs/python.md shows, written from the source: `python tests/signatures.py` writes them anew."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "python.md"
BLOCK = re.compile(r"(<!-- signatures: ([\w. ]+) -->\n```py\n)(.*?)(```\n)", re.DOTALL)
WIDE = 100


def regenerated(text: str) -> str:
    """The document with the blocks of signatures as the source has them."""
    return BLOCK.sub(lambda block: block[1] + "\n".join(map(_shown, block[2].split())) + block[4], text)


def _shown(name: str) -> str:
    import fedkg  # noqa: PLC0415  # where this runs as a script, the path is set first

    shown = getattr(fedkg, name.removeprefix("fedkg."))
    [node] = ast.parse(textwrap.dedent(inspect.getsource(shown))).body
    inherited = [base for base in getattr(shown, "__bases__", ()) if base.__module__.startswith("fedkg.common")]
    for base in inherited:
        assert isinstance(node, ast.ClassDef), "only a class has bases"
        [above] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(above, ast.ClassDef), "a base is a class"
        node.body += [part for part in above.body if getattr(part, "name", "_")[0] != "_"]
    return "\n".join(_lines(node)) + "\n"


def _lines(node: ast.stmt) -> Iterator[str]:
    """A class with its public fields, methods and properties, or a function."""
    if isinstance(node, ast.ClassDef):
        yield f"class {node.name}:"
        for member in node.body:
            yield from textwrap.indent("\n".join(_lines(member)), "    ").splitlines()
    elif isinstance(node, ast.AnnAssign) and _is_public(ast.unparse(node.target)):
        yield _source(node)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_public(node.name):
        yield from _function(node)


def _is_public(name: str) -> bool:
    return name == "__init__" or not name.startswith("_")


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
        yield f"# {_summary(node)}"
        yield f"{node.name}: {_type(node.returns)}"
        return
    if summary := _summary(node):
        yield f"# {summary}"
    parameters, returns = list(_parameters(node.args)), f" -> {_type(node.returns)}"
    line = f"{start} {node.name}({', '.join(parameters)}){returns}"
    if len(line) <= WIDE:
        yield line
        return
    yield f"{start} {node.name}("
    yield from (f"    {parameter}," for parameter in parameters)
    yield f"){returns}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """Each parameter with its type and default, in the order of the source."""
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    yield from map(_parameter, plain, [*missing, *arguments.defaults])
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg, None)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {_type(argument.annotation)}" if argument.annotation else ""
    value = f" = {_source(default)}" if default and kind else f"={_source(default)}" if default else ""
    return f"{argument.arg}{kind}{value}"


def _type(annotation: ast.expr | None) -> str:
    """The type as it reads, without the quotes that keep its import late."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return _source(annotation) if annotation else "None"


def _source(node: ast.AST) -> str:
    """The code with double quotes, as the formatter has it."""
    return ast.unparse(node).replace("'", '"')


def _summary(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]


if __name__ == "__main__":
    sys.path.insert(0, str(DOCUMENT.parents[1]))
    DOCUMENT.write_text(regenerated(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
