"""docs/prompts.md: a prompt is edited as told, and its tables are those of the code."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from fedkg.common import toml
from fedkg.config.settings import SearchSettings
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Kind, Mention, Plan
from fedkg.errors import ModelReplyError, PromptError
from fedkg.methods.registry import METHODS
from fedkg.reasoner.calls import call_kinds
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.choose_sets import ChooseSetsCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.follow_up import FollowUpCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.operate import OperateCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.path_format import PathForm
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts import library, template
from fedkg.reasoner.prompts.template import PromptTemplate
from fedkg.retrieval import registry as retrievers
from fedkg.testing import ScriptedModel
from tests.support.documents import MODEL_URL, blocks, follow, read, rows, sections, transcripts

PROMPTS = read("prompts")


@pytest.mark.parametrize("heading", [name for name, text in sections(PROMPTS).items() if transcripts(text)])
def test_a_prompt_is_edited_as_told(model: str, heading: str) -> None:
    """By section: a sentence is changed, compared, rendered and used; labels are neutralised; mistakes are named."""
    follow(sections(PROMPTS)[heading], lambda text: text.replace(MODEL_URL, model))


def test_every_call_is_told() -> None:
    """With what `meta.toml` says of it, and the values that its template asks for."""
    documented, given = (rows(sections(PROMPTS)[name]) for name in ("The calls", "What a template is given"))
    assert set(documented) == set(given) == set(library.names())
    for call, (_, returns, paper) in documented.items():
        meta = library.load(call).meta
        assert (returns, paper) == (meta.returns, meta.paper)
        assert call in call_kinds()


def test_who_asks_a_call_is_told() -> None:
    """Each method that walks a graph is named with the calls that it makes."""
    documented = rows(sections(PROMPTS)["The calls"])
    searches = [
        SearchSettings(),
        SearchSettings(call_plan="paper"),
        SearchSettings(verifier="adequacy"),
        SearchSettings(retriever="tog"),
    ]
    for method in (method for method in METHODS.values() if method.graph):
        most = [method.most_calls(search, 1, retrievers.find(search.retriever)) for search in searches]
        made = {call for calls in most for call in calls} - {"answer"}
        assert all(method.title.partition(":")[0] in documented[call][0] for call in made), method.title


async def test_every_value_of_a_template_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What each call gives its template is what the table says, and nothing else."""
    seen: dict[str, set[str]] = {}

    def render(self: PromptTemplate, **values: object) -> tuple[str, str]:
        seen[self.call] = set(values) - {"left_out"}
        return "", ""

    monkeypatch.setattr(PromptTemplate, "render", render)
    offers, plan = [PromptCandidate(1, "A → r → B")], Plan(())
    model = PromptedModel(ScriptedModel(lambda *_: ""))
    for call in (
        model.ask(PlanCall("q")),
        model.ask(LinkCall("q", [Mention("A", ())])),
        model.ask(ChooseCall("q", plan, offers, 1)),
        model.ask(ChooseSetsCall("q", plan, offers, 1)),
        model.ask(BeamCall("q", plan, None, offers, 1)),
        model.ask(DeductiveCall("q", plan, offers)),
        model.ask(DeducibleCall("q", plan, offers[0])),
        model.ask(AnswerCall("q", plan, offers)),
        model.ask(WeightedAnswerCall("q", plan, offers)),
        model.ask(AdequacyCall("q", plan, offers)),
        model.ask(OperateCall("q", plan, offers)),
        model.ask(ScoreRelationsCall("q", plan, None, offers)),
        model.ask(ScoreEntitiesCall("q", plan, offers)),
        model.ask(RelationPathsCall("q", plan, offers, 1, 1)),
        model.ask(ReasoningPathsCall("q", plan, offers, 1)),
        model.ask(InductiveCall("q", plan, offers, [""])),
        model.ask(ModelOnlyCall("q", "entities")),
        model.ask(FollowUpCall("q", ("Who?",), ())),
    ):
        with pytest.raises(ModelReplyError):
            await call
    documented = rows(sections(PROMPTS)["What a template is given"])
    assert {call: set(re.findall(r"`(\w+)`", values)) for call, [values] in documented.items()} == seen


def test_every_kind_and_file_is_told() -> None:
    """The kinds of question; and only names of files that a prompt folder takes, with all that it needs."""
    documented = rows(sections(PROMPTS)["What a folder holds"])
    assert set(get_args(Kind)) == {name for name in documented if "." not in name}
    files = {name for row in documented if "." in row for name in row.split("`, `")}
    assert set(library.NEEDED) <= files
    assert all(library.FILE.fullmatch(name.replace("KIND", "yesno").replace("VENDOR", "openai")) for name in files)


def test_the_example_of_an_example_fits(tmp_path: Path) -> None:
    """It is shown with the system text of the call."""
    example = next(block for block in blocks(PROMPTS, "toml") if "[[examples]]" in block)
    (tmp_path / "choose").mkdir()
    (tmp_path / "choose" / "examples.toml").write_text(example, encoding="utf-8")
    system, _ = library.load("choose", str(tmp_path), kind="literal").render(
        **template.values(tomllib.loads(example)["examples"][0]["shown"])
    )
    assert "2. Momo → author → Michael Ende\n" in system


def test_the_form_that_is_shown_can_be_used() -> None:
    """The words of GCR's Figure 8, with a path as its Figure 7 has it."""
    [shown] = re.findall(r"```toml\n(prompt = .*?)```", PROMPTS, re.DOTALL)
    form = toml.parse(shown, "docs/prompts.md", PathForm, PromptError)
    candidate = PromptCandidate(1, "A → r → B", typed=("people.person.parents",))
    assert form.marked(form.written(candidate)) == "# Reasoning Path:\n<PATH>A -> people.person.parents -> B</PATH>"
    assert form.asked("Who?", ["A"]).startswith(
        "Reasoning path is a sequence of triples in the KG that connects the topic"
    )
