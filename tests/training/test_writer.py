"""A writer of paths from questions to its folder: a tiny model with random weights is trained on the bundled sample."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from fedkg.config import resources
from fedkg.config.settings import Settings
from fedkg.errors import DatasetError, ModelNameError
from fedkg.llm import hf
from fedkg.reasoner import path_format
from fedkg.reasoner.path_format import Format
from fedkg.session import Session
from fedkg.training import fine_tuning, writer, writer_training
from fedkg.training.examples import TrainingExample
from fedkg.training.run_folder import RUN
from fedkg.training.scorer_data import DataChoice
from fedkg.training.writer import CARD, WriterCard, train_writer
from fedkg.training.writer_training import WriterSchedule
from tests.support.extras import needs

SETTINGS = Settings(endpoints=("sample",), embedder="bm25", cache=False)
QUICK = WriterSchedule(batch=2, device="cpu")
WIKIDATA = "http://www.wikidata.org/entity/"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Questions over the sample, about people of whom each was married to another."""
    file = tmp_path / "questions.jsonl"
    couples = {"Q7186": ("Marie Curie", "Q37463", "Pierre Curie"), "Q37463": ("Pierre Curie", "Q7186", "Marie Curie")}
    lines = [
        {
            "id": f"{number}",
            "question": f"{asked} {name} {'?' * number}",
            "topic_entities": [{"iri": WIKIDATA + topic, "label": name}],
            "answers": [{"iri": WIKIDATA + other, "label": partner}],
        }
        for topic, (name, other, partner) in couples.items()
        for number, asked in enumerate(("Who married", "Who is the spouse of", "To whom was married"))
    ]
    numbered = [line | {"id": str(number)} for number, line in enumerate(lines)]
    file.write_text("\n".join(map(json.dumps, numbered)) + "\n")
    return file


def trained(tiny: Path, questions: Path, out: Path, form: Format = "gcr", **options: Any) -> WriterCard:
    """A writer in that folder."""
    schedule = QUICK if "schedule" not in options else options.pop("schedule")
    choice = DataChoice((f"custom:{questions}",), 0, 10, 0, 0.2, 2, 50)
    return train_writer(SETTINGS, choice, form, schedule, tiny, out, **options)


@needs("train", "accelerate")
async def test_a_writer_is_trained_and_asked(tiny: Path, questions: Path, tmp_path: Path) -> None:
    """Its folder has a card and no leftovers, and writes paths beside `local`, which has no vendor."""
    card = await asyncio.to_thread(trained, tiny, questions, tmp_path / "writer")
    [data] = card.data
    assert (data.trained, data.held_out, data.failed, card.steps) == (3, 3, 0, 2)
    assert (card.base, card.format, card.weights != "") == ("tiny", "gcr", True)
    [figures] = card.figures.values()
    assert 0 <= figures.trained <= 1
    names = {path.name for path in (tmp_path / "writer").iterdir()}
    assert names >= {CARD, "README.md", "records", "model.safetensors", "tokenizer.json"}
    assert not {"checkpoints", RUN} & names
    assert hf.named(tmp_path / "writer") != hf.named(tiny)
    wired: dict[str, Any] = {"path_model": f"hf:{tmp_path / 'writer'}", "method": "gcr", "search.depth": 1}
    async with Session("sample", embedder="bm25", cache=False, model="local", **wired) as session:
        answer = await session.ask("Who married Marie Curie?")
    assert answer.measures["door"] == "token"
    assert [call.call for call in answer.ledger] == ["reasoning-paths"]


@needs("train", "accelerate")
def test_a_run_that_was_interrupted_is_gone_on_with(
    tiny: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its last state, to the same weights as a run in one go; with other options it is refused."""
    monkeypatch.setattr(writer_training, "KEPT_EVERY", 1)
    monkeypatch.setattr(fine_tuning, "STEPS_REPORTED", 1)
    whole = trained(tiny, questions, tmp_path / "whole", "eperm")

    def stop(what: str, done: int, _number: int) -> None:
        if (what, done) == ("steps", 2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(tiny, questions, tmp_path / "part", "eperm", on_progress=stop)
    with pytest.raises(DatasetError, match="other options"):
        trained(tiny, questions, tmp_path / "part", "gcr")
    steps: list[tuple[str, int]] = []
    resumed = trained(
        tiny, questions, tmp_path / "part", "eperm", on_progress=lambda what, done, _: steps.append((what, done))
    )
    assert {what for what, _ in steps} == {"steps"}
    assert resumed.weights == whole.weights
    assert resumed.seconds > 0
    with pytest.raises(DatasetError, match="has a trained writer already"):
        trained(tiny, questions, tmp_path / "part", "eperm")


@needs("train", "accelerate")
def test_the_time_ends_a_training(tiny: Path, questions: Path, tmp_path: Path) -> None:
    """What was learned until then is kept."""
    card = trained(tiny, questions, tmp_path / "out", schedule=WriterSchedule(batch=1, minutes=1e-9, device="cpu"))
    assert card.steps == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "BENCH_OR_FILE"),
        (["metaqa-1hop"], "--base"),
        (["no-such-set", "--base", "{base}"], "holds no model"),
        (["metaqa-1hop", "--base", "{base}", "--format", "rog"], "--format"),
        (["metaqa-1hop", "--base", "{base}", "--minutes", "0"], "--minutes"),
        (["metaqa-1hop", "--base", "{base}", "--seed", "-1"], "--seed"),
        (["metaqa-1hop", "--base", "{base}", "--seed", str(1 << 32)], "--seed"),
    ],
)
def test_bad_input_is_told(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is trained, and there is no traceback."""
    monkeypatch.setattr(writer, "PACKAGES", ())
    monkeypatch.setattr(hf, "PACKAGES", ())
    given = [argument.format(base=tmp_path) for argument in arguments]
    result = CliRunner().invoke(main, ["train", "paths", *given, "--out", str(tmp_path / "out")])
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert message in result.output


def test_words_of_ones_own_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked or written; a folder that has other prompts alone is no hindrance."""
    monkeypatch.setattr(writer, "PACKAGES", ())
    monkeypatch.setattr(hf, "check", lambda _folder: None)
    (folder := tmp_path / "prompts" / "reasoning-paths").mkdir(parents=True)
    monkeypatch.setenv("FEDKG_PROMPTS_DIR", str(folder.parent))
    monkeypatch.chdir(tmp_path)
    command = ["train", "paths", "no-such-set", "--base", str(tmp_path), "--out", "out"]
    assert "no-such-set" in CliRunner().invoke(main, command).output
    shutil.rmtree(tmp_path / "out")
    form = (resources.folder("prompts") / "reasoning-paths" / "form.toml").read_text()
    (folder / "form.toml").write_text(form.replace("Write a path", "Draw a line"))
    result = CliRunner().invoke(main, command)
    assert (result.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert "trained in the bundled words" in result.output


def test_a_missing_extra_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it, before anything is asked or written."""
    monkeypatch.setattr(writer, "PACKAGES", ("no_such_package",))
    command = ["train", "paths", "metaqa-1hop", "--base", str(tmp_path), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "pip install 'fedkg[train]'" in result.output
    assert not (tmp_path / "out").exists()


def copied(tiny: Path, folder: Path, **config: object) -> Path:
    """The tiny model with these entries in its configuration."""
    shutil.copytree(tiny, folder)
    changed = json.loads((folder / "config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps(changed))
    return folder


@needs("train", "accelerate")
def test_a_base_with_too_short_a_context_is_refused(tiny: Path, questions: Path, tmp_path: Path) -> None:
    """Before it is trained: an example that it cannot read would fail in the middle of PyTorch."""
    short = copied(tiny, tmp_path / "short", max_position_embeddings=20)
    with pytest.raises(ModelNameError, match="takes 20 tokens, and an example has") as caught:
        trained(short, questions, tmp_path / "out")
    assert "--base" in caught.value.hint


@needs("train", "accelerate")
def test_a_base_names_its_last_token(tiny: Path, questions: Path, tmp_path: Path) -> None:
    """By its tokenizer, or else by the model, of which the smallest ends an example; where none does it is refused."""
    base = copied(tiny, tmp_path / "model")
    (base / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    assert hf.Network(base).end == 0
    (base / "generation_config.json").write_text("{}")
    mute = copied(base, tmp_path / "mute", eos_token_id=None)
    with pytest.raises(ModelNameError, match="no token that ends a reply"):
        trained(mute, questions, tmp_path / "out")


@needs("train", "accelerate")
def test_a_base_that_is_the_working_folder_has_its_name(
    tiny: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card names what was trained, however the folder was named."""
    monkeypatch.chdir(tiny)
    assert trained(Path(), questions, tmp_path / "out").base == tiny.name


@needs("train", "accelerate")
async def test_relations_count_and_names_little(tiny: Path) -> None:
    """Of a completion each mark and relation counts 1, each name a tenth, the prompt nothing; the end is learned."""
    from fedkg.training.writer_loss import NAME_WEIGHT, encoded  # noqa: PLC0415  # imports PyTorch

    network = hf.Network(tiny)
    text = path_format.path("Momo → author → Michael Ende ← spouse ← Ingeborg", "Ingeborg")
    row = encoded(network.tokenizer, [7, 8], TrainingExample("?", text), 0)
    assert (row.tokens[:2], row.weights[:2], row.tokens[-1], row.weights[-1]) == ([7, 8], [0.0, 0.0], 0, 1.0)
    little = [token for token, weight in zip(row.tokens, row.weights, strict=True) if weight == NAME_WEIGHT]
    assert network.text(little) == " Momo Michael Ende IngeborgIngeborg"
