"""Templates of a stranger: what they reach, how long they run, and how much they make."""

from pathlib import Path

import jinja2
import pytest

from fedkg.errors import PromptError
from fedkg.reasoner.prompts import sandbox as module
from fedkg.reasoner.prompts.sandbox import rendered, sandbox
from fedkg.reasoner.prompts.template import compiled

GROWING = "{% set n = namespace(x='aaaaaaaaaa', l=[]) %}"
BOMBS = [
    "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
    "{% for i in range(9999) %}{% for j in range(9999) %}{% set x = i %}{% endfor %}{% endfor %}",
    "{% for i in range(9999) %}{% set x = range(99999) | list %}{% endfor %}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    f"{GROWING}{{% for i in range(40) %}}{{% set n.x = n.x ~ n.x %}}{{% endfor %}}",
    f"{GROWING}{{% for i in range(40) %}}{{% set n.x = n.x + n.x %}}{{% endfor %}}",
    f"{GROWING}{{% for i in range(9999) %}}{{% set n.l = n.l + [n.x ~ i] %}}{{% endfor %}}",
    "{{ range(99999) | join('a' ~ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') }}",
    "{{ 'a' * 3000000000 }}",
    "{{ [1] * 3000000000 }}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ '%999999999s' % 1 }}",
    "{{ '{:>999999999}'.format(1) }}",
    "{{ 'a'.center(3000000000) }}",
    "{{ 'a' | center(3000000000) }}",
    "{{ 'a' | indent(3000000000) }}",
    "{{ lipsum(n=1000000) }}",
    "{{ range(10000000000) | list }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ question.encode().decode.__self__ }}",
]


@pytest.mark.parametrize("source", BOMBS)
def test_a_template_takes_and_makes_no_more_than_is_bounded(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """It ends with an error soon, whatever it tries, and before it holds much."""
    monkeypatch.setattr(module, "MOST_STEPS", 50_000)
    monkeypatch.setattr(module, "MOST_CHARACTERS", 200_000)
    with pytest.raises((jinja2.TemplateError, PromptError, RecursionError)):
        rendered(compiled(sandbox(()), Path("a") / "user.j2", source), {"question": "Who?"})


def test_what_templates_are_for_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops with their places, filters, methods of texts, macros and sums."""
    source = (
        "{% macro m(x) %}<{{ x | upper }}>{% endmacro %}"
        "{% for word in question.split() %}{{ loop.index }}/{{ loop.length }} {{ m(word) }}"
        "{% if not loop.last %}, {% endif %}{% endfor %}; {{ [1, 2] | sum + 2 * 3 }}; {{ ['a', 'b'] | join('-') }}"
        "; {{ 'a' ~ 1 }}; {{ table.items() | list | length }}"
        "; {{ [{'n': 1}, {'n': 2}] | selectattr('n', 'eq', 2) | map(attribute='n') | first }}"
    )
    text = rendered(compiled(sandbox(()), Path("a") / "user.j2", source), {"question": "Who is", "table": {"a": 1}})
    assert text == "1/2 ‹WHO›, 2/2 ‹IS›; 9; a-b; a1; 1; 2"


def test_steps_are_counted_anew_for_each_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question may have many calls."""
    monkeypatch.setattr(module, "MOST_STEPS", 100)
    template = compiled(sandbox(()), Path("a") / "user.j2", "{% for i in [1, 2, 3] %}x{% endfor %}")
    assert [rendered(template, {}) for _ in range(100)] == ["xxx"] * 100
