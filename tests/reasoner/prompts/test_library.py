"""Templates load from their folders, the user's own before the bundled ones, and render what they are given."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fedkg.common.tokens import estimate
from fedkg.config.resources import folder
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import PromptError
from fedkg.reasoner.prompts.library import PromptLibrary, load, names, variants, vendors
from fedkg.reasoner.prompts.template import SHARED, PromptTemplate, values

KEYS = ("offer", "follows", "deducible")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"picks": {}}, "required": ["picks"]}


def write(place: Path, call: str = "beam", **files: str) -> Path:
    """A prompt folder with a complete call and no examples, some files replaced; `user_j2` stands for user.j2, `user__claim_j2` for user.claim.j2."""
    content = {"system_j2": "S", "user_j2": "{{ question }}", "schema_json": json.dumps(SCHEMA), "examples_toml": ""}
    content |= {"meta_toml": 'version = "7"\nreturns = "r"'} | files
    (place / call).mkdir(parents=True, exist_ok=True)
    for name, text in content.items():
        stem, _, ending = name.rpartition("_")
        (place / call / f"{stem.replace('__', '.')}.{ending}").write_text(text, encoding="utf-8")
    return place


def test_an_own_file_takes_the_place_of_the_bundled_one(tmp_path: Path) -> None:
    """Whoever edits one file needs no copy of the others; the other calls stay."""
    own = str(tmp_path)
    (tmp_path / "beam").mkdir()
    (tmp_path / "beam" / "user.j2").write_text("Mine: {{ question }}")
    bundled, mine = load("beam"), load("beam", own)
    assert mine.render(question="Where was A born?")[1] == "Mine: Where was A born?"
    assert "Mine: In which city" in mine.system
    assert (mine.instructions, mine.schema, mine.meta) == (bundled.instructions, bundled.schema, bundled.meta)
    assert mine.digest != bundled.digest
    assert {path.parent for path in mine.files} == {
        tmp_path / "beam",
        folder("prompts") / "beam",
        folder("prompts") / SHARED,
    }
    assert load("choose", own).version == load("choose").version


def test_an_own_file_is_used_under_its_name_only(tmp_path: Path) -> None:
    """The plain file of the user's does not replace the bundled wording for one kind, and the other way round."""
    call, kind = next((call, kinds[0]) for call in names() if (kinds := variants(call)))
    [special] = [path.name for path in load(call, kind=kind).files if path.name.startswith("system.")]
    (tmp_path / call).mkdir()
    (tmp_path / call / "system.j2").write_text("plain")
    assert load(call, str(tmp_path)).instructions == "plain"
    assert load(call, str(tmp_path), kind=kind).instructions == load(call, kind=kind).instructions
    (tmp_path / call / special).write_text("special")
    assert load(call, str(tmp_path), kind=kind).instructions == "special"


def test_an_own_shared_part_is_used_by_the_bundled_calls(tmp_path: Path) -> None:
    """What several templates include can be replaced for all of them at once, and changes their digests."""
    (tmp_path / SHARED).mkdir()
    (tmp_path / SHARED / "paths.j2").write_text("Read carefully.")
    mine = load("beam", str(tmp_path))
    assert "Read carefully." in mine.system
    assert "A → r → B" in load("beam").system
    assert "A → r → B" not in mine.system
    assert mine.digest != load("beam").digest
    assert load("plan", str(tmp_path)).digest == load("plan").digest


def test_kind_and_vendor_may_have_their_own_wording(tmp_path: Path) -> None:
    """The file that fits both is used first, then that for the kind, then that for the vendor, then the plain one."""
    own = str(
        write(
            tmp_path,
            system__claim_j2="K",
            system__openai_j2="V",
            system__claim__openai_j2="KV",
            user__anthropic_j2="special",
            schema__claim_json=json.dumps({**SCHEMA, "title": "claim"}),
        )
    )
    assert load("beam", own).instructions == "S"
    assert load("beam", own, "openai").instructions == "V"
    assert load("beam", own, "openai", "count").instructions == "V"
    assert load("beam", own, "anthropic", "claim").render() == ("K", "special")
    assert load("beam", own, "openai", "claim").instructions == "KV"
    assert load("beam", own, "other", "claim").schema == {**SCHEMA, "title": "claim"}
    assert load("beam", own, "other", "count").schema == SCHEMA
    made = [load("beam", own, vendor, kind) for vendor in ("openai", "anthropic", "other") for kind in ("claim", None)]
    assert len({one.digest for one in made}) == 6
    assert variants("beam", own) == ["claim"]
    assert vendors("beam", own) == ["anthropic", "openai"]


EXAMPLES = """
[[examples]]
reply = '{"n": 1}'
[examples.shown]
question = "First?"
[[examples]]
kinds = ["count"]
reply = '{"n": 2}'
[examples.shown]
question = "How many <b>?"
offers = ["A → r → B", { text = "A → s → C", tails = ["C"], more = 3 }]
plan = { steps = ["go"], kind = "count" }
"""
SHOWING = """<question>{{ question }}</question>
{% for offer in offers | default([]) %}
{{ offer.number }}. {{ offer.text }} {{ offer.more }}
{% endfor %}
{% if plan is defined %}
{{ plan.steps[0] }} {{ plan.kind }}
{% endif %}"""


def test_examples_look_like_the_task(tmp_path: Path) -> None:
    """An example is what user.j2 makes of its values, with its reply; those of other kinds are not shown."""
    own = str(write(tmp_path, user_j2=SHOWING, examples_toml=EXAMPLES))
    first = '<question>First?</question>\n{"n": 1}'
    second = '<question>How many ‹b›?</question>\n1. A → r → B 0\n2. A → s → C 3\ngo count\n{"n": 2}'
    assert load("beam", own, kind="count").system == f"S\n\nExamples\n\n{first}\n\n{second}"
    for kind in (None, "claim"):
        template = load("beam", own, kind=kind)
        assert template.system == f"S\n\nExamples\n\n{first}"
        assert [one.reply for one in template.examples] == ['{"n": 1}']
    assert replace(load("beam", own), examples=()).system == "S"


def test_a_template_without_examples_says_nothing_of_any(tmp_path: Path) -> None:
    """Where there are none, for this kind or at all, the system text is the instructions."""
    assert load("beam", str(write(tmp_path))).system == "S"
    only = EXAMPLES.replace("[[examples]]\nreply", '[[examples]]\nkinds = ["yesno"]\nreply')
    assert load("beam", str(write(tmp_path, examples_toml=only)), kind="claim").system == "S"


def test_values_are_made_as_a_call_makes_them() -> None:
    """Texts become numbered offers, a table becomes the plan; everything else stays as it is."""
    shown = {"offers": ["a", {"text": "b", "tails": ["c"]}], "kept": [], "plan": {"options": ["x"]}, "width": 2}
    assert values({"path": "a"}) == values({"path": {"number": 1, "text": "a"}}) == {"path": PromptCandidate(1, "a")}
    assert values({"path": None}) == {"path": None}
    assert values(shown) == {
        "offers": [PromptCandidate(1, "a"), PromptCandidate(2, "b", (), ("c",))],
        "kept": [],
        "plan": Plan((), options=("x",)),
        "width": 2,
    }


@pytest.mark.parametrize(
    "shown",
    [
        {"plan": 3},
        {"plan": {"kind": "riddle"}},
        {"plan": {"statment": "A is *placeholder*."}},
        {"offers": 1},
        {"paths": [{"tails": 1}]},
        {"paths": [{"text": "A", "tail": ["B"]}]},
        {"path": 3},
    ],
)
def test_values_that_do_not_fit_are_an_error(shown: dict[str, Any]) -> None:
    """A plan that is none, offers that are none, and what neither has raise PromptError."""
    with pytest.raises(PromptError, match="no values of a prompt"):
        values(shown)


def test_what_is_the_same_in_every_call_is_counted_once() -> None:
    """The tokens of a template are those of its system text and its schema."""
    template = load("beam")
    assert template.tokens == estimate(template.system) + estimate(json.dumps(template.schema))


def test_bundled_wordings_are_read_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question needs four calls of twelve, and the bundled files are known to be sound."""
    read: list[str] = []

    def reading(call: str, *given: Any) -> PromptTemplate:
        read.append(call)
        return load(call, *given)

    monkeypatch.setattr("fedkg.reasoner.prompts.library.load", reading)
    wordings = PromptLibrary(vendor="openai")
    assert read == []
    assert wordings.get("plan").version == wordings.get("plan").version == load("plan").version
    assert read == ["plan"]


def test_wordings_are_read_once_and_all_checked_at_first(tmp_path: Path) -> None:
    """A file that cannot be used is said before anything is asked, also where it is for one kind of question only."""
    own = write(tmp_path, examples_toml=EXAMPLES, user_j2=SHOWING)
    wordings = PromptLibrary(str(own), "openai")
    assert wordings.get("beam", "count") is wordings.get("beam", "count")
    assert wordings.get("beam", "count") != wordings.get("beam")
    (own / "beam" / "user.claim.j2").write_text("{% if %}")
    assert wordings.get("beam", "yesno").system == wordings.get("beam").system
    with pytest.raises(PromptError, match=r"user\.claim\.j2:1"):
        PromptLibrary(str(own))


@pytest.mark.parametrize("file", ["system_j2", "user_j2", "schema_json", "meta_toml", "examples_toml"])
def test_the_digest_covers_every_file(tmp_path: Path, file: str) -> None:
    """A change in any file of the folder changes the digest; the same files give the same digest."""
    before = load("beam", str(write(tmp_path / "a"))).digest
    assert load("beam", str(write(tmp_path / "b"))).digest == before
    changed = {
        "schema_json": json.dumps({**SCHEMA, "title": "new"}),
        "meta_toml": 'version = "7"\nreturns = "s"',
        "examples_toml": "# none yet",
    }
    assert load("beam", str(write(tmp_path / "c", **{file: changed.get(file, "new")}))).digest != before


def test_the_digest_covers_what_is_included(tmp_path: Path) -> None:
    """A change in a shared part, also in one that another part includes, changes the digest; other parts do not count."""

    def digest(place: str, **shared: str) -> PromptTemplate:
        own = write(tmp_path / place, system_j2='{% include "a.j2" %}')
        (own / SHARED).mkdir()
        for name, text in {"a": '{% include "b.j2" %}', "b": "B", "paths": "C", **shared}.items():
            (own / SHARED / f"{name}.j2").write_text(text)
        return load("beam", str(own))

    usual = digest("1")
    assert usual.system == "B"
    assert digest("2").digest == usual.digest == digest("3", paths="D").digest
    assert digest("4", b="E").system == "E"
    assert len({usual.digest, digest("5", b="E").digest, digest("6", a="{# no b.j2 #}A").digest}) == 3


def test_expressions_print_one_line_even_without_the_filter(tmp_path: Path) -> None:
    """A template that forgets `line` still cannot print a newline or a delimiter; numbers are printed as they are."""
    template = load("beam", str(write(tmp_path, user_j2="{{ question }}|{{ n }}|{{ question | line(5) }}")))
    assert template.render(question="a\n<b> c d", n=12)[1] == "a ‹b› c d|12|a ‹b…"


def test_a_missing_value_names_the_file(tmp_path: Path) -> None:
    """A template that asks for a value it is not given raises PromptError with file, line and variable."""
    template = load("beam", str(write(tmp_path, user_j2="one\n{{ question }}")))
    with pytest.raises(PromptError, match=r"beam/user\.j2:2: 'question' is undefined"):
        template.render(other=1)


def test_a_mistake_in_a_shared_part_is_named_there(tmp_path: Path) -> None:
    """Not the template that includes it, but the part itself and its line; so also where an example shows it."""
    own = write(tmp_path, user_j2="{% include 'a.j2' %}")
    (own / SHARED).mkdir()
    (own / SHARED / "a.j2").write_text("one\n\n{{ qestion }}")
    with pytest.raises(PromptError, match=r"shared/a\.j2:3: 'qestion' is undefined$"):
        load("beam", str(own)).render(question="Q?")
    write(own, user_j2="{% include 'a.j2' %}", examples_toml=EXAMPLES)
    with pytest.raises(PromptError, match=r"a\.j2:3: 'qestion' is undefined, given .* in .*beam/examples\.toml with"):
        load("beam", str(own))


def test_a_system_text_cannot_ask_for_values(tmp_path: Path) -> None:
    """What changes with the question has no place in the stable part."""
    with pytest.raises(PromptError, match=r"system\.j2:1: 'question' is undefined") as caught:
        load("beam", str(write(tmp_path, system_j2="Answer {{ question }}")))
    assert "user.j2" in caught.value.hint


@pytest.mark.parametrize(
    "source",
    [
        "{{ question.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ plan.append(1) }}",
        "{{ 1 / 0 }}",
        "{{ question | int + 'a' }}",
        "{{ range(1000000000) | list }}",
        "{{ question() }}",
    ],
)
def test_templates_run_in_a_sandbox(tmp_path: Path, source: str) -> None:
    """A template that reaches for Python's inside, changes its values or fails raises PromptError that names the file."""
    template = load("beam", str(write(tmp_path, user_j2=source)))
    with pytest.raises(PromptError, match=r"user\.j2"):
        template.render(question="Q", plan=[1])


@pytest.mark.parametrize(
    "source",
    [
        "{% include 'user.j2' %}",
        "{% include question %}",
        "{% include '../beam/meta.toml' %}",
        "{% import '/etc/hostname' as x %}",
        "{% extends ['nowhere.j2', 'left_out.j2'] %}",
        "{% include 'nowhere.j2' ignore missing %}",
    ],
)
def test_templates_include_shared_parts_only(tmp_path: Path, source: str) -> None:
    """What is not in the shared folder, or is named by a value, cannot be included; it is said when the template is read."""
    with pytest.raises(PromptError, match=r"user\.j2: it can only include, by name, what lies in 'shared'"):
        load("beam", str(write(tmp_path, user_j2=source)))


def test_a_broken_shared_part_is_named(tmp_path: Path) -> None:
    """Only those who include it are hindered by it."""
    own = write(tmp_path, user_j2="{% include 'a.j2' %}")
    (own / SHARED).mkdir()
    (own / SHARED / "a.j2").write_text("\n{{ x | nosuchfilter }}")
    with pytest.raises(PromptError, match=r"shared/a\.j2:2: No filter"):
        load("beam", str(own))
    assert load("plan", str(own)).version == load("plan").version


def test_parts_that_include_each_other_are_an_error(tmp_path: Path) -> None:
    """A circle of includes ends in PromptError."""
    own = write(tmp_path, system_j2="{% include 'a.j2' %}")
    (own / SHARED).mkdir()
    (own / SHARED / "a.j2").write_text("{% include 'a.j2' %}")
    with pytest.raises(PromptError, match=r"shared/a\.j2:1: "):
        load("beam", str(own))


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("user_j2", "a\n{% if %}", r"user\.j2:2"),
        ("system_j2", "{{ x | nosuchfilter }}", r"system\.j2:1"),
        ("schema_json", "{", r"schema\.json"),
        ("schema_json", "[" * 100_000, r"schema\.json"),
        ("schema_json", '{"type": "array"}', r"schema\.json: .* object"),
        ("schema_json", "[]", r"schema\.json"),
        ("system_j2", "", r"system\.j2: it is empty"),
        ("user_j2", " \n", r"user\.j2: it is empty"),
        ("meta_toml", "version = ", r"meta\.toml"),
        ("meta_toml", 'version = ""\nreturns = "r"', r"meta\.toml: .*one word"),
        ("meta_toml", 'version = "1\\n2"\nreturns = "r"', r"meta\.toml: .*one word"),
        ("meta_toml", 'version = "1\\u001b[0m"\nreturns = "r"', r"meta\.toml: .*one word"),
        ("meta_toml", 'version = "1"', r"meta\.toml: .*returns"),
        ("meta_toml", 'version = 1\nreturns = "r"', r"meta\.toml: .*version"),
        ("meta_toml", 'version = "1"\nreturns = "r"\nauthor = "x"', r"meta\.toml: .*author"),
        ("examples_toml", "[[examples]", r"examples\.toml"),
        ("examples_toml", "[[examples]]\nreply = '{}'", r"examples\.toml: .*shown"),
        ("examples_toml", EXAMPLES.replace('{"n": 2}', "[2]"), r"examples\.toml: the reply is no JSON object: \[2\]"),
        ("examples_toml", EXAMPLES.replace('{"n": 2}', "{n: 2}"), r"examples\.toml: the reply is no JSON object: \{n"),
        ("examples_toml", EXAMPLES.replace('{"n": 2}', "[" * 100_000), r"examples\.toml: the reply is no JSON"),
        ("examples_toml", EXAMPLES.replace("count", "riddle"), r"examples\.toml: .*riddle"),
        (
            "examples_toml",
            EXAMPLES.replace("question", "query"),
            r"user\.j2:1: 'question' is undefined, .*examples\.toml .*1\}",
        ),
        ("examples_toml", EXAMPLES.replace('"First?"', '""\nplan = 3'), r"examples\.toml .*: .*no values of a prompt"),
        (
            "examples_toml",
            EXAMPLES.replace('"First?"', '""\nplan = {step = ""}'),
            r"examples\.toml .*'step' is none of",
        ),
        ("sytem_j2", "typed badly", r"sytem\.j2: no file of a prompt"),
        ("schema__openai_json", "{}", r"schema\.openai\.json: no file of a prompt"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    """PromptError says which file does not fit and why."""
    with pytest.raises(PromptError, match=said):
        load("beam", str(write(tmp_path, **{file: text})))


@pytest.mark.parametrize(
    ("call", "schema", "lost"),
    [
        ("beam", {}, "picks"),
        ("beam", {"required": ["picks"]}, "picks"),
        ("beam", {"properties": {"picks": {}}}, "picks"),
        ("beam", {"properties": 1, "required": [[1], "picks"]}, "picks"),
        (
            "choose",
            {"properties": {"picks": {"required": ["follows"]}}, "required": ["picks"]},
            "deducible, follows, offer",
        ),
    ],
)
def test_a_schema_keeps_the_keys_that_are_read(tmp_path: Path, call: str, schema: dict[str, Any], lost: str) -> None:
    """One that does not describe and require all that the bundled one requires, at any depth, is refused."""
    (tmp_path / call).mkdir()
    (tmp_path / call / "schema.json").write_text(json.dumps({"type": "object", **schema}))
    with pytest.raises(PromptError, match=rf"schema\.json: it must describe and require {lost}$"):
        load(call, str(tmp_path))


def test_a_schema_may_say_more(tmp_path: Path) -> None:
    """The keys may stand in definitions, have descriptions, and come with further ones."""
    item = {"properties": {key: {"description": "d"} for key in KEYS}, "required": [*KEYS]}
    picks = {"type": "array", "items": {"$ref": "#/$defs/pick"}}
    schema = {"type": "object", "properties": {"picks": picks}, "required": ["picks"], "$defs": {"pick": item}}
    (tmp_path / "choose").mkdir()
    (tmp_path / "choose" / "schema.json").write_text(json.dumps(schema))
    assert load("choose", str(tmp_path)).schema == schema


@pytest.mark.parametrize(
    ("path", "said", "known"),
    [
        ("plann/user.j2", "plann: no prompt is called so", "choose, "),
        ("picking.j2", "picking.j2: it must lie in the folder of a call", ""),
        ("meta.toml", "meta.toml: it must lie in the folder of a call", ""),
        ("shared/pickin.j2", "pickin.j2: no template includes it", " picking.j2, "),
        ("shared/picking.jinja", "picking.jinja: no template includes it", " picking.j2, "),
        ("beam/system.jinja", "system.jinja: no file of a prompt is called so", "system.j2, "),
    ],
)
def test_what_would_not_be_used_is_refused(tmp_path: Path, path: str, said: str, known: str) -> None:
    """A mistaken name of a folder or file is said at once, with the names that there are."""
    write(tmp_path)
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("{{ question }}")
    with pytest.raises(PromptError, match=f"/{said}") as caught:
        PromptLibrary(str(tmp_path))
    assert known in caught.value.hint


def test_files_that_are_no_prompts_are_passed_over(tmp_path: Path) -> None:
    """Notes, an editor's copies and what a tool keeps do not disturb."""
    own = write(tmp_path)
    before = load("beam", str(own)).digest
    (own / "beam" / "system.j2~").write_text("old")
    (own / "beam" / "README.md").write_text("notes")
    (own / "notes.md").write_text("notes")
    (own / ".git").mkdir()
    assert load("beam", str(own)).digest == before


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 raise PromptError with the file."""
    own = str(write(tmp_path))
    (tmp_path / "beam" / "user.j2").write_bytes(b"\xff")
    with pytest.raises(PromptError, match=r"user\.j2: not UTF-8"):
        load("beam", own)


@pytest.mark.parametrize(
    ("call", "vendor"), [("../plan", ""), ("", ""), ("plan", "../x"), ("Plan", ""), ("a/b", ""), ("shared", "")]
)
def test_names_cannot_leave_the_folder(call: str, vendor: str) -> None:
    """Call and vendor are plain names."""
    with pytest.raises(PromptError, match="not the name"):
        load(call, vendor=vendor)


def test_unknown_calls_and_folders_are_errors(tmp_path: Path) -> None:
    """An unknown call names the known ones; a folder that is not there is named."""
    with pytest.raises(PromptError) as caught:
        load("guess")
    assert "choose" in caught.value.hint
    with pytest.raises(PromptError, match="no such folder"):
        load("plan", str(tmp_path / "nowhere"))
    with pytest.raises(PromptError, match="no such folder"):
        PromptLibrary(str(tmp_path / "nowhere"))
