"""The bundled prompts: each says what its call needs, for every kind of question, in the form that vendors take."""

import json
import re
from typing import Any, get_args

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.conversation import KnownEntity
from fedkg.core.question import Kind, Match, Mention, Plan
from fedkg.core.terms import Iri
from fedkg.reasoner.prompts.library import FORMS, load, names
from fedkg.reasoner.prompts.template import SHARED

CALLS = names()
KINDS: tuple[Kind, ...] = get_args(Kind)
WORDINGS = [(call, kind) for call in CALLS for kind in (None, *KINDS)]
GRAPH_CALLS = [call for call in CALLS if call not in ("plan", "model-only", "follow-up")]
PLAN = Plan(("born in",), ("from A by born in",), "A was born in *placeholder*.", "entities", ("A",), ("B", "C"))
OFFERS = (
    PromptCandidate(1, "A → born in → B", ("born in",), ("B",)),
    PromptCandidate(2, "A ← parent ← C, D, (+12)", ("parent",), ("C", "D"), 12),
)
VALUES = {
    "question": "Where was A born?",
    "kind": None,
    "options": (),
    "plan": PLAN,
    "path": OFFERS[0],
    "paths": OFFERS,
    "offers": OFFERS,
    "kept": OFFERS[:1],
    "relations": OFFERS,
    "names": "B, C",
    "hypotheses": ("B", "C"),
    "conclusions": ("A was born in B.", "A was born in C, D (+12)."),
    "conclusion": "A was born in B.",
    "mentions": (Mention("A", (Match(Iri("http://x/a"), "A", 1.0, "a thing", type="city"),)),),
    "width": 2,
    "depth": 2,
    "most": 3,
    "style": "io",
    "words": ("Where", "was", "A", "born?"),
    "questions": ("Who is A?",),
    "entities": (KnownEntity(Iri("http://x/a"), "A", "topic", 1, "city"),),
}


@pytest.mark.parametrize(("call", "kind"), WORDINGS)
def test_the_bundled_calls_load_and_render(call: str, kind: Kind | None) -> None:
    """Each bundled template renders for each kind with the values of its call.

    Says version, paper section and what it returns.
    """
    template = load(call, kind=kind)
    system, user = template.render(**VALUES)
    assert not re.search(r"\{\{|\{%|\n\n\n", system + user)
    assert user.startswith("<question>Where was A born?</question>")
    assert template.call == call
    assert template.meta.paper
    assert template.meta.returns
    assert re.fullmatch(r"\d+-[0-9a-f]{12}", template.version)


@pytest.mark.parametrize("forms", [(form,) for form in FORMS] + [FORMS])
@pytest.mark.parametrize(("call", "kind"), WORDINGS)
def test_the_papers_forms_load_and_render(call: str, kind: Kind | None, forms: tuple[str, ...]) -> None:
    """Alone and together; calls that a form says nothing of are the bundled ones, under their digest."""
    template, bundled = load(call, kind=kind, forms=forms), load(call, kind=kind)
    system, user = template.render(**VALUES)
    assert not re.search(r"\{\{|\{%|\n\n\n", system + user)
    own = any("_paper" in path.parts for path in template.files)
    assert (template.version != bundled.version) == own
    assert set(template.schema["required"]) == set(bundled.schema["required"])


@pytest.mark.parametrize("call", ["plan", "beam", "deductive", "deducible", "adequacy", "answer"])
@pytest.mark.parametrize("kind", ["entities", "literal"])
def test_demonstrations_are_five(call: str, kind: Kind) -> None:
    """As the paper has them with each call of fidelis (FiDeLiS v4, Table 1)."""
    assert len(load(call, kind=kind, forms=("demonstrations",)).examples) == 5 > len(load(call, kind=kind).examples)


@pytest.mark.parametrize("call", ["deductive", "deducible"])
def test_a_filled_statement_stands_below_its_path(call: str) -> None:
    """The statement with its placeholder is shown only where it has no place for an end."""
    template = load(call, kind="entities", forms=("filled",))
    _, user = template.render(**VALUES)
    assert "\nConclusion: A was born in B.\n" in user.replace("   Conclusion", "Conclusion")
    assert "*placeholder*" not in user + template.instructions
    assert "Statement: " in template.render(**VALUES | {"conclusions": ("", ""), "conclusion": ""})[1]


def test_the_bundled_calls_are_named() -> None:
    """The calls of the protocol are there, sorted, and what they share is none."""
    assert sorted(CALLS) == CALLS
    assert {"plan", "link", "choose", "answer", "model-only"} < set(CALLS)
    assert SHARED not in CALLS


@pytest.mark.parametrize(("call", "kind"), WORDINGS)
def test_the_system_text_never_changes(call: str, kind: Kind | None) -> None:
    """Nothing of the question is in the system text, so that vendors can cache it for all questions.

    All of it is in the user text.
    """
    template = load(call, kind=kind)
    other = {
        **VALUES,
        "question": "Other?",
        "width": 9,
        "plan": Plan(("k",)),
        "offers": OFFERS[:1],
        "paths": OFFERS[:1],
        "style": "cot",
    }
    first, another = template.render(**VALUES), template.render(**other)
    assert first[0] == another[0] == template.system
    assert first[1] != another[1]


@pytest.mark.parametrize(("call", "kind"), WORDINGS)
def test_what_is_left_out_is_said_and_costs_nothing_where_nothing_is(call: str, kind: Kind | None) -> None:
    """A prompt that shows a list says how many of its items are not shown; the line is not there where all are."""
    template = load(call, kind=kind)
    note = "\n12 more, ranked lower, are not shown.\n</graph>"
    assert (note in template.render(**VALUES, left_out=12)[1]) == (call in GRAPH_CALLS)
    assert "not shown" not in template.render(**VALUES)[1]


@pytest.mark.parametrize("call", GRAPH_CALLS)
def test_the_notation_is_explained_and_data_is_called_data(call: str) -> None:
    """Each prompt that shows the graph says that this is data, and each with paths explains directions and groups."""
    system = load(call).system
    assert "<graph>" in system
    assert "is data" in system
    assert "one JSON object" in system
    directions = ('"r: B"', '"← r: B"') if call in {"choose", "choose-sets"} else ("A → r → B", "A ← r ← B")
    for notation in (*directions, "(+12)") if call != "link" else ():
        assert notation in system


@pytest.mark.parametrize("call", ["choose", "answer", "inductive", "weighted-answer"])
@pytest.mark.parametrize("kind", ["yesno", "claim", "choice"])
def test_each_rule_of_a_verdict_is_told_once(call: str, kind: Kind) -> None:
    """What "could" asks, what a complete list lacks, what nothing speaks of, and what needs no bridge."""
    instructions = load(call, kind=kind).instructions
    for rule in ('"Could" asks', "without (+12) lacks", "no path speaks of is open", '"bridge":', "comparing dates"):
        assert instructions.count(rule) == 1 + (rule == '"bridge":' and call != "choose")


@pytest.mark.parametrize("kind", ["entities", "count"])
def test_how_several_picks_combine_is_told_once(kind: Kind) -> None:
    """Picks of one entity together, those of several by what they share."""
    told = "of picks from one entity all ends, from several those that they share"
    assert load("choose", kind=kind).instructions.count(told) == 1


@pytest.mark.parametrize(("call", "kind"), WORDINGS)
def test_the_examples_fit_the_schema(call: str, kind: Kind | None) -> None:
    """Every example reply in a system text is JSON with just the keys that the schema requires."""
    template = load(call, kind=kind)
    for example in template.examples:
        assert f"\n{example.reply}" in template.system
        fits(json.loads(example.reply), template.schema)


@pytest.mark.parametrize("call", CALLS)
def test_every_call_has_an_example_for_every_kind(call: str) -> None:
    """Wherever a call shows examples at all it shows one for each kind of question."""
    assert len({bool(load(call, kind=kind).examples) for kind in KINDS}) == 1


PYTHON = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "number": float}


def fits(value: Any, schema: dict[str, Any]) -> None:
    """Asserts that a value has the shape of a schema of the few kinds that we use."""
    assert type(value).__name__ == PYTHON[schema["type"]].__name__
    assert "enum" not in schema or value in schema["enum"]
    if schema["type"] == "object":
        assert set(value) == set(schema["required"])
        for key, part in value.items():
            fits(part, schema["properties"][key])
    for item in value if schema["type"] == "array" else ():
        fits(item, schema["items"])


@pytest.mark.parametrize(("call", "kind"), WORDINGS)
def test_schemas_keep_to_what_both_vendors_take(call: str, kind: Kind | None) -> None:
    """Strict structured output wants every property required, no further ones.

    None of the bounds that vendors refuse.
    """

    def check(schema: dict[str, Any]) -> None:
        assert set(schema) <= {"type", "properties", "required", "additionalProperties", "items", "enum"}
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
        for part in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
            check(part)

    check(load(call, kind=kind).schema)


def test_offers_show_numbers_ends_and_how_many_more_there_are() -> None:
    """The answer call lists each path's ends with numbers, and how many more there are."""
    user = load("answer", kind="entities").render(**VALUES)[1]
    assert re.search(r"\n2\. A ← parent ← C, D, \(\+12\)\n.*1\) C\b.*2\) D\b.*12 more", user, re.DOTALL)


def test_offers_beyond_the_same_path_stand_below_it() -> None:
    """The path is written once, or named by its number where it is shown; a number stays that of its offer."""

    def offer(number: int, stem: str, step: str, beyond: int = 0) -> PromptCandidate:
        return PromptCandidate(number, f"{stem} {step}", stem=stem, step=step, beyond=beyond)

    kept = (PromptCandidate(2, "A → r → 1) B 2) C"),)
    offers = (
        offer(4, "A → r → B, C", "→ s → D", 2),
        offer(5, "E", "→ t → F"),
        offer(6, "A → r → B, C", "← u ← G", 2),
        offer(7, "H", "→ v → I"),
        offer(8, "E", "→ w → K"),
    )
    user = load("choose").render(**VALUES | {"kept": kept, "offers": offers})[1]
    shown = user.partition("<graph>\n")[2].partition("\n</graph>")[0]
    assert shown.splitlines() == [
        "Kept paths:",
        "2. A → r → 1) B 2) C",
        "Offers 4 to 8 of 8:",
        "From path 2:",
        "4. → s → D",
        "6. ← u ← G",
        "From E:",
        "5. → t → F",
        "8. → w → K",
        "7. H → v → I",
    ]


def test_the_offers_of_a_page_are_counted() -> None:
    """Which of how many they are, with those that wait and those that there is no room for; all where these are all."""
    template = load("choose", kind="entities")
    assert "\nOffers 1 to 2 of 44:\n1. A →" in template.render(**VALUES, waiting=40, left_out=2)[1]
    assert "\nOffers 1 to 2 of 2:\n1. A →" in template.render(**VALUES)[1]


@pytest.mark.parametrize("call", ["choose", "answer"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_known_of_the_topics_is_shown_as_data(call: str, kind: Kind) -> None:
    """Each topic has its line within the graph, before what is offered; what is absent is named; each is one line."""
    known = {"topics": ("A, a town (exact label)", "B\n</graph> (given)"), "absent": ("C", "D\nE")}
    user = load(call, kind=kind).render(**VALUES, **known)[1]
    head = user[user.index("<graph>") : user.index("1. A →")]
    shown = "Topic: A, a town (exact label)\nTopic: B ‹/graph› (given)\nNot in this graph: C; D E\n"
    assert head.startswith(f"<graph>\n{shown}")
    assert "Topic:" not in load(call, kind=kind).render(**VALUES)[1]
