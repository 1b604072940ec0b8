import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fedkg.common.tokens import estimate
from fedkg.config.resources import folder
from fedkg.reasoner.prompts import library
from fedkg.reasoner.prompts.template import values

Cli = Callable[..., Result]


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """A folder of one's own that holds one file of one call."""
    place = tmp_path / "own"
    (place / "beam").mkdir(parents=True)
    (place / "beam" / "system.j2").write_text("Walk in rhymes.\n")
    return place


def test_list_names_every_call(cli: Cli) -> None:
    """Each call has a line with the version of its wording, and one with its paper; the same in JSON."""
    lines = [line for line in cli("prompts", "list").stdout.splitlines() if "own wording for" not in line]
    assert [line.split()[:2] for line in lines[::2]] == [[call, library.load(call).version] for call in library.names()]
    assert [line.strip()[:20] for line in lines[1::2]] == [
        library.load(call).meta.paper[:20] for call in library.names()
    ]
    shown = json.loads(cli("prompts", "list", "--json").stdout)
    assert [row["call"] for row in shown] == library.names()
    assert all(row["paper"] and row["returns"] for row in shown)
    assert {row["call"]: row["kinds"] for row in shown} == {call: library.variants(call) for call in library.names()}


def test_list_says_which_kinds_and_vendors_have_a_wording_of_their_own(cli: Cli, prompts: Path) -> None:
    """A kind that is written wrongly in the name of a file shows as a vendor, not as a kind."""
    for name in ("user.claim.j2", "user.clam.j2"):
        (prompts / "beam" / name).write_text("{{ question }}")
    listed = cli("prompts", "list", "--prompts", prompts).stdout
    assert "  own wording for the kind claim\n" in listed
    assert "  own wording for the vendor clam\n" in listed
    shown = json.loads(cli("prompts", "list", "--prompts", prompts, "--json").stdout)
    assert [(row["kinds"], row["vendors"]) for row in shown if row["call"] == "beam"] == [(["claim"], ["clam"])]


def test_list_keeps_its_columns(cli: Cli, prompts: Path) -> None:
    """Also where a version of one's own is long, each column begins at the same place in all lines."""
    (prompts / "beam" / "meta.toml").write_text(f'version = "{"v" * 40}"\nreturns = "picks"\n')
    lines = cli("prompts", "list", "--prompts", prompts).stdout.splitlines()
    place = next(line.index("picks") for line in lines if line.startswith("beam "))
    assert all(line[place - 2 : place] == "  " and line[place] != " " for line in lines if line[place:])


def test_show_prints_the_files(cli: Cli) -> None:
    """Every file of a prompt is printed as it is, its examples and the shared parts that it includes with it."""
    shown = cli("prompts", "show", "beam").stdout
    files = [path for path in (folder("prompts") / "beam").iterdir() if path.name.count(".") == 1]
    for file in (*files, folder("prompts") / "shared" / "paths.j2"):
        assert f"## {file}\n{file.read_text().rstrip()}\n" in shown
    assert "recall.j2" not in shown


def test_show_takes_the_wording_of_a_kind(cli: Cli) -> None:
    """With a kind the files for it are shown in place of the plain ones."""
    call, kind = next((call, kinds[0]) for call in library.names() if (kinds := library.variants(call)))
    shown = cli("prompts", "show", call, "--kind", kind).stdout
    assert f"/system.{kind}.j2\n" in shown
    assert "/system.j2\n" not in shown
    assert library.load(call, kind=kind).version in shown


def test_own_prompts(cli: Cli, prompts: Path) -> None:
    """A file of one's own replaces the bundled one and changes the version; the others are still used."""
    shown = cli("prompts", "show", "beam", "--prompts", prompts).stdout
    assert "Walk in rhymes." in shown
    assert f"{folder('prompts') / 'beam' / 'user.j2'}" in shown
    assert library.load("beam").version not in cli("prompts", "list", "--prompts", prompts).stdout


def test_a_broken_file_is_named(cli: Cli, prompts: Path) -> None:
    """A file that cannot be used is named by `list`, also where it is for one kind of question only."""
    (prompts / "beam" / "user.claim.j2").write_text("{% if %}")
    result = cli("prompts", "list", "--prompts", prompts)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error: {prompts / 'beam' / 'user.claim.j2'}:1: " in result.stderr


def test_render_prints_the_messages_as_they_are_sent(cli: Cli) -> None:
    """Without values the first example is rendered, with an estimate of the tokens."""
    template = library.load("beam")
    system, user = template.render(**values(template.examples[0].shown))
    shown = cli("prompts", "render", "beam").stdout
    assert f"version {template.version}: about {template.tokens + estimate(user):,} tokens" in shown
    assert f"## system, about {estimate(system):,} tokens\n{system}\n" in shown
    assert shown.endswith(f"## user, about {estimate(user):,} tokens\n{user}\n")


def test_render_takes_a_kind_that_has_examples(cli: Cli) -> None:
    """A wording that speaks of its example shows one: that of the first kind; a kind that is given stays."""
    shown = cli("prompts", "render", "answer").stdout
    assert shown == cli("prompts", "render", "answer", "--kind", "entities").stdout
    assert ", for entities: about " in shown
    assert "\nExamples\n" in shown
    assert ", for yesno: about " in cli("prompts", "render", "answer", "--kind", "yesno").stdout
    assert ", for " not in cli("prompts", "render", "beam").stdout.splitlines()[0]


def test_render_in_json(cli: Cli) -> None:
    """The messages, the schema and the tokens as one document."""
    shown = json.loads(cli("prompts", "render", "beam", "--json").stdout)
    template = library.load("beam")
    assert [message["role"] for message in shown["messages"]] == ["system", "user"]
    assert shown["messages"][0]["content"] == template.system
    assert shown["schema"] == template.schema
    assert (shown["template"], shown["kind"]) == (template.version, None)
    assert shown["tokens"] == template.tokens + estimate(shown["messages"][1]["content"])


def test_render_with_values_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    """Values are a JSON object like an example's; what looks like a delimiter is neutralised as in a question."""
    shown: dict[str, object] = {
        "question": "Why <b>?",
        "plan": {},
        "path": None,
        "offers": ["A → r → B"],
        "width": 1,
        "left_out": 4,
    }
    (tmp_path / "values.json").write_text(json.dumps(shown))
    printed = cli("prompts", "render", "beam", "--values", "values.json").stdout
    assert "<question>Why ‹b›?</question>\nAt most 1 pick.\n" in printed
    assert "\n1. A → r → B\n4 more, ranked lower, are not shown.\n</graph>" in printed


@pytest.mark.parametrize("call", [call for call in library.names() if library.load(call, kind="entities").examples])
@pytest.mark.parametrize("kind", ["entities", "claim", "choice"])
def test_every_call_with_examples_renders(cli: Cli, call: str, kind: str) -> None:
    """Each call has an example that can be looked at, for each kind of question."""
    result = cli("prompts", "render", call, "--kind", kind)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "<question>" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"), [("{", "values.json"), ("[]", "JSON object"), ('{"plan": 1}', "values"), ("{}", "undefined")]
)
def test_values_that_do_not_fit(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    """A file that is no JSON object, or lacks a value, is an error and no traceback."""
    (tmp_path / "values.json").write_text(text)
    result = cli("prompts", "render", "beam", "--values", "values.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_value_that_is_missing(cli: Cli, tmp_path: Path) -> None:
    """The error says which values the call gives, also where a template of one's own asks for another."""
    (tmp_path / "values.json").write_text('{"question": "Q?"}')
    message = cli("prompts", "render", "beam", "--values", "values.json").stderr
    assert "'plan' is undefined\nhint: the values of `beam` are question, plan, width, path, offers\n" in message
    (tmp_path / "mine" / "deductive").mkdir(parents=True)
    (tmp_path / "mine" / "deductive" / "user.j2").write_text("{{ qestion }}")
    (tmp_path / "mine" / "deductive" / "examples.toml").write_text("")
    result = cli("prompts", "render", "deductive", "--values", "values.json", "--prompts", "mine")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'qestion' is undefined\nhint: the values of `deductive` are question, " in result.stderr


def test_values_and_an_example_exclude_each_other(cli: Cli, tmp_path: Path) -> None:
    """One of them would silently not be used."""
    (tmp_path / "values.json").write_text("{}")
    result = cli("prompts", "render", "beam", "--values", "values.json", "--example", "1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--values and --example exclude each other" in result.stderr


def test_an_example_that_is_not_there(cli: Cli, prompts: Path) -> None:
    """The error says how many there are."""
    result = cli("prompts", "render", "beam", "--example", "99")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no example 99: it has 1 for this kind" in result.stderr
    assert "--values" in result.stderr
    (prompts / "beam" / "examples.toml").write_text("")
    assert "no example 1: it has none\n" in cli("prompts", "render", "beam", "--prompts", prompts).stderr


def test_diff_of_a_folder_of_ones_own(cli: Cli, prompts: Path) -> None:
    """Only the file that differs is shown, against the bundled one; the exit code is that of diff."""
    result = cli("prompts", "diff", "beam", "--prompts", prompts)
    bundled = folder("prompts") / "beam" / "system.j2"
    assert result.exit_code == 1
    assert result.stdout.startswith(f"--- {bundled}\n+++ {prompts / 'beam' / 'system.j2'}\n")
    assert "\n+Walk in rhymes.\n" in result.stdout
    assert "user.j2" not in result.stdout
    same = cli("prompts", "diff", "plan", "--prompts", prompts)
    assert (same.exit_code, same.stdout) == (0, "")


def test_diff_of_a_kind_and_of_a_vendor(cli: Cli, prompts: Path) -> None:
    """Without a folder of one's own the wording for a kind is compared with the plain one; with one, like with like."""
    call, kind = next((call, kinds[0]) for call in library.names() if (kinds := library.variants(call)))
    result = cli("prompts", "diff", call, "--kind", kind)
    assert result.exit_code == 1
    assert f"/{call}/system.j2\n+++ " in result.stdout
    assert f"/{call}/system.{kind}.j2\n" in result.stdout
    assert cli("prompts", "diff", call).exit_code == 0
    (prompts / "beam" / "system.j2").unlink()
    (prompts / "beam" / "user.openai.j2").write_text("short")
    assert cli("prompts", "diff", "beam", "--prompts", prompts).exit_code == 0
    assert "\n+short\n" in cli("prompts", "diff", "beam", "--prompts", prompts, "--vendor", "openai").stdout


def test_diff_shows_a_file_that_only_one_side_has(cli: Cli, prompts: Path) -> None:
    """A shared part that is included no more is shown as gone."""
    (prompts / "beam" / "examples.toml").write_text("")
    result = cli("prompts", "diff", "beam", "--prompts", prompts).stdout
    assert f"--- {folder('prompts') / 'shared' / 'paths.j2'}\n+++ /dev/null\n" in result
    assert "\n-[[examples]]\n" in result


@pytest.mark.parametrize("command", ["show", "render", "diff"])
def test_an_unknown_call(cli: Cli, command: str) -> None:
    """The known ones are named."""
    result = cli("prompts", command, "guess")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "choose" in result.stderr
