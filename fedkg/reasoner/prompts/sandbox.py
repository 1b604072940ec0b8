"""Where templates run: a stranger's may be among them, so what they compute is bounded as well as what they reach.

Jinja's own sandbox keeps templates from attributes, methods and modules that lead out of it. It bounds neither how long
a template runs nor how much it makes of little; here each turn of a loop and each call is counted, and so are the
characters that an expression or the whole template gives.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from fedkg.common.one_line import Line, line
from fedkg.reasoner.prompts.grouping import by_path

__all__ = ["MOST_CHARACTERS", "MOST_STEPS", "rendered", "sandbox"]

USUAL: dict[str, object] = {"left_out": 0, "waiting": 0, "last": False, "topics": (), "absent": (), "operator": None}
"""Values that need not be given: nothing is left out or waits to be shown, other calls may follow, of topics nothing is
known."""
MOST_STEPS = 1_000_000
"""Of one rendering: a turn of a loop is one, a call has fifty, ten characters or elements of what is made are one."""
CALL = 50
SIZED = 10
MOST_CHARACTERS = 4_000_000
"""What a template may give, and each text or list on the way: more than any model takes."""
FILTERS = (
    "abs capitalize count d default dictsort first float int items join last length list lower map max min "
    "reject rejectattr reverse round select selectattr sort string sum title tojson trim truncate unique upper"
)
"""Jinja's filters that cannot make much of little, apart from `join`, which counts beforehand."""
METHODS = frozenset(
    "capitalize count endswith find get index isalnum isalpha isdecimal isdigit islower isspace istitle isupper items "
    "keys lower lstrip removeprefix removesuffix rstrip split splitlines startswith strip title upper values".split()
)
"""Methods of texts and tables that cannot either."""

_steps: ContextVar[list[int] | None] = ContextVar("steps", default=None)


class Bounded(NodeTransformer):
    """Puts a counter around what loops go through, and a measure around texts that are put together."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802  # the name of the base class
        """The loop, counted."""
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "counted", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        """The text, measured."""
        self.generic_visit(node)
        return nodes.Filter(node, "measured", [], [], None, None, lineno=node.lineno)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with bounds on steps and sizes."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = Bounded().visit(super()._parse(source, name, filename))
        return tree

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:  # as the base class
        _step(CALL)
        return super().call(context, obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> None:  # a width in a format makes much of little
        return None

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str | bytes | Mapping) and callable(value):
            return attr in METHODS
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or (operator == "%" and not isinstance(left, int | float)):
            raise SecurityError(f"templates do not have the operator {operator}")
        if operator == "*" and not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise SecurityError("templates multiply nothing but numbers")
        made = super().call_binop(context, operator, left, right)
        return measured(made) if isinstance(made, str | Sequence) else made


def _step(number: int = 1) -> None:
    steps = _steps.get()
    if steps is None:
        return
    steps[0] += number
    if steps[0] > MOST_STEPS:
        raise SecurityError(f"the template takes more than {MOST_STEPS:,} steps")


def counted(values: Iterable[object]) -> Iterator[object]:
    """The values, each of them a step."""
    for value in values:
        _step()
        yield value


def measured(value: Any) -> Any:
    """The text or list, unless it is too long."""
    if len(value) > MOST_CHARACTERS:
        raise SecurityError(f"the template makes more than {MOST_CHARACTERS:,} characters")
    _step(len(value) // SIZED)
    return value


def ranged(*bounds: int) -> range:
    """As Python's range, counted whole: it may become a list."""
    numbers = range(*bounds)
    _step(len(numbers) // SIZED)
    return numbers


def _counting(apply: Callable[..., object]) -> Callable[..., object]:
    """The filter; what it is applied to counts by its size. Some get the environment or the context before that."""

    @wraps(apply)
    def applied(*values: Any, **options: Any) -> object:
        sizes = [len(value) for value in values[:2] if _sized(value)]
        _step(1 + sum(sizes) // SIZED)
        return apply(*values, **options)

    return applied


def _sized(value: object) -> bool:
    """Whether it has a length: Jinja's context calls itself a mapping, and has none."""
    return isinstance(value, str | Sequence | Mapping) and not isinstance(value, Context)


def joined(values: Iterable[object], separator: str = "", attribute: str | None = None) -> str:
    """The values as one text, as Jinja's `join`; counted before it is made."""
    texts = [str(value if attribute is None else getattr(value, attribute)) for value in counted(values)]
    if sum(map(len, texts)) + len(separator) * len(texts) > MOST_CHARACTERS:
        raise SecurityError(f"the template makes more than {MOST_CHARACTERS:,} characters")
    return separator.join(texts)


def _printed(value: object) -> object:
    """What an expression prints: numbers and lines as they are, everything else as a line."""
    return value if isinstance(value, Line | int | float) else line(value)


@lru_cache(maxsize=16)
def sandbox(shared: tuple[tuple[Path, str], ...]) -> ImmutableSandboxedEnvironment:
    """Where templates run that include these files, each under its name."""
    sources = {path.name: (text, str(path), None) for path, text in shared}
    environment = Sandbox(
        loader=jinja2.FunctionLoader(sources.get),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # prompts are no HTML; `line` neutralises what could break them
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # of what is included; the ends are stripped
    )
    allowed = {name: _counting(environment.filters[name]) for name in FILTERS.split()}
    others: dict[str, Callable[..., Any]] = {"line": line, "counted": counted, "measured": measured, "join": joined}
    environment.filters = {**allowed, "by_path": _counting(by_path), **others}
    environment.globals = {"dict": dict, "namespace": environment.globals["namespace"], "range": ranged}
    return environment


def rendered(template: jinja2.Template, values: Mapping[str, object]) -> str:
    """The text that the template makes of the values; `left_out` is 0 where it is not given.

    Raises what Jinja raises; a SecurityError, which is a TemplateError, for a template that takes or makes too much.
    """
    token = _steps.set([0])
    try:
        parts: list[str] = []
        size = 0
        for part in template.generate({**USUAL, **values}):
            size += len(part)
            if size > MOST_CHARACTERS:
                raise SecurityError(f"the template makes more than {MOST_CHARACTERS:,} characters")
            parts.append(part)
        return "".join(parts).strip()
    finally:
        _steps.reset(token)
