"""Files to fine-tune with: what stands in them, and that a run goes on where another ended."""

import gzip
import json
import re
from pathlib import Path

import msgspec
import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.data import definitions
from fedkg.config.settings import Settings, load
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.core.terms import Iri, Literal
from fedkg.errors import DatasetError
from fedkg.reasoner.calls.answer import WeightedAnswerCall
from fedkg.training.examples import Built, ExamplesRecord, Recipe, build, precision
from fedkg.training.record_file import RecordFile

GCR = Recipe("metaqa-2hop", "gcr", 2, 50, 0.5)
EPERM = msgspec.structs.replace(GCR, format="eperm")
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FACTS = (
    "momo directed_by schaaf",
    "momo starring bost",
    "jim starring bost",
    "jim directed_by schaaf",
    "tom starring bost",
    "tom directed_by rodl",
)
QUESTIONS = {
    "1": ("who directed the films with Bost", "bost", ["schaaf"]),
    "2": ("in what was Bost", "bost", ["momo", "jim", "tom"]),
    "3": ("who is like Rodl", "rodl", ["nobody"]),
    "4": ("who is it", "", ["bost"]),
}


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Three films with their directors and an actor, and questions about them."""
    definition, folder = definitions.find("metaqa-2hop"), tmp_path / "data"
    folder.mkdir()
    names = {name for fact in FACTS for name in fact.split()}
    triples = [" ".join(f"<http://x/{name}>" for name in fact.split()) for fact in FACTS]
    triples += [f'<http://x/{name}> {LABEL} "{name.replace("_", " ").title()}"' for name in sorted(names)]
    (folder / definition.graph).write_bytes(gzip.compress("".join(f"{triple} .\n" for triple in triples).encode()))
    rows = [
        {
            "id": key,
            "question": question,
            "topic_entities": [{"iri": f"http://x/{topic}" if topic else "", "label": topic}],
            "answers": [{"iri": f"http://x/{answer}"} for answer in answers],
        }
        for key, (question, topic, answers) in QUESTIONS.items()
    ]
    (folder / definition.questions).write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return folder


def settings() -> Settings:
    """Settings that need no weights and keep nothing."""
    return load(flags={"embedder": "bm25", "cache": False})


async def built(films: Path, recipe: Recipe = GCR, out: str = "out.jsonl") -> Built:
    """A run over all questions."""
    return await build(settings(), recipe, films, films / out)


def lines(films: Path) -> list[ExamplesRecord]:
    """The records of the file."""
    return [msgspec.json.decode(line, type=ExamplesRecord) for line in (films / "out.jsonl").read_bytes().splitlines()]


async def test_each_shortest_path_is_an_example(films: Path) -> None:
    """Question and topics, then the path between its marks and the answer that it leads to."""
    run = await built(films)
    assert (len(run.records), run.kept, run.usage.requests > 0) == (4, 0, True)
    assert lines(films) == list(run.records)
    first, second, third, _ = run.records
    task = "Write a path of the knowledge graph that leads from a topic entity to an answer of the question."
    prompt = f"{task}\n\n# Question:\nwho directed the films with Bost\n# Topic entities:\nBost\n"
    assert {example.prompt for example in first.examples} == {prompt}
    assert sorted(example.completion for example in first.examples) == [
        f"# Reasoning path:\n<PATH> Bost ← Starring ← {film} → Directed By → Schaaf </PATH>\n# Answer:\nSchaaf"
        for film in ("Jim", "Momo")
    ]
    assert {route.relations for route in first.routes} == {"^<http://x/starring>/<http://x/directed_by>"}
    assert sorted(route.answer for route in second.routes) == ["Jim", "Momo", "Tom"]
    assert (third.examples, third.cut, third.error) == ((), (), "")


async def test_a_plan_is_kept_by_what_it_leads_to(films: Path) -> None:
    """Of the two directors that the plan leads to one is an answer; the other plan leads to answers only."""
    for threshold, kept in ((0.5, 1), (0.51, 0)):
        recipe = msgspec.structs.replace(EPERM, threshold=threshold)
        run = await built(films, recipe, f"{threshold}.jsonl")
        first, second, *_ = run.records
        (plan,) = first.routes
        assert (plan.precision, plan.complete, plan.answer, len(first.examples)) == (0.5, True, "", kept)
        assert [route.precision for route in second.routes] == [1.0]
        (example,) = second.examples
        assert example.completion == "# Plan:\n<PATH> ← Starring ← </PATH>"
        assert "# Topic entities:\nBost\n" in example.prompt


async def test_the_answer_is_an_example_of_its_call_over_weighted_paths(films: Path) -> None:
    """All plans with what they lead to, the best first, and the reply that names the ends that answer (Eq. 7)."""
    recipe = msgspec.structs.replace(EPERM, format="eperm-answer")
    first, second, third, _ = (await built(films, recipe)).records
    (example,) = first.examples
    assert "1. Bost ← Starring ← " in example.prompt
    assert "(score 0.50)" in example.prompt
    assert "Each path ends with its score" in example.prompt
    reply = json.loads(example.completion)
    plan = PromptCandidate(1, "", tails=("a", "b"))
    conclusion = WeightedAnswerCall(first.question, Plan(()), [plan]).parse(reply, 1)
    (ends,) = conclusion.tails.values()
    [listed] = re.findall(r"Ends: 1\) (\w+) 2\) (\w+)", example.prompt.rpartition("Question")[2])
    assert [listed[number - 1] for number in ends] == ["Schaaf"]
    assert json.loads(second.examples[0].completion)["paths"] == [{"path": 1, "ends": [], "check": False}]
    assert third.examples == ()


async def test_a_run_goes_on_where_another_ended(films: Path) -> None:
    """What is there is not asked again, but for what failed; a line that was not written to its end is dropped."""
    await built(films)
    whole = (films / "out.jsonl").read_bytes()
    first, second, third, fourth = whole.splitlines(keepends=True)
    (films / "out.jsonl").write_bytes(first + fourth + second[:-9])
    run = await built(films)
    assert [record.id for record in run.records] == ["2", "3", "4"]
    assert (run.kept, (films / "out.jsonl").read_bytes()) == (1, first + fourth + second + third + fourth)
    assert [record.id for record in (await built(films)).records] == ["4"]


async def test_a_question_that_fails_is_a_record_with_an_error(films: Path) -> None:
    """It has no examples, and the others have theirs."""
    *_, last = (await built(films)).records
    assert (last.examples, last.error) == ((), "InputError: no topic entity of the question has an IRI")


@pytest.mark.parametrize("recipe", [GCR, EPERM])
async def test_an_endpoint_that_fails_leaves_no_examples(films: Path, recipe: Recipe) -> None:
    """Nothing is written as all paths where some could not be asked for."""
    dead = load(flags={"embedder": "bm25", "cache": False, "endpoints": ["http://127.0.0.1:1/sparql"]})
    with stamina.set_testing(True):
        run = await build(dead, recipe, films, films / "out.jsonl", limit=2)
    assert all(record.error and not record.examples for record in run.records)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": "1"}\n', "line 1: Object missing required field"),
        (b"no JSON\n{}\n", "line 1"),
        (b"\xff\n", "line 1"),
        (msgspec.json.encode(ExamplesRecord("1", "?", EPERM)) + b"\n", "line 1: made with Recipe"),
    ],
)
async def test_a_file_of_another_kind_is_left_alone(films: Path, content: bytes, message: str) -> None:
    """Whether it is no such file at all, or one of other options: nothing is added and nothing lost."""
    (films / "out.jsonl").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        await built(films)
    assert (films / "out.jsonl").read_bytes() == content


async def test_what_cannot_be_read_or_written_is_said_first(films: Path, tmp_path: Path) -> None:
    """Before any endpoint is asked: no folder for the file, no such benchmark, no questions."""
    with pytest.raises(DatasetError, match="No such file"):
        await built(films, out="gone/out.jsonl")
    with pytest.raises(DatasetError, match="no benchmark is called"):
        await built(films, msgspec.structs.replace(GCR, benchmark="metaqa-9hop"))
    with pytest.raises(DatasetError, match=r"metaqa-2hop-test\.jsonl"):
        await build(settings(), GCR, tmp_path, films / "out.jsonl")
    assert not (films / "out.jsonl").exists()


@given(st.lists(st.binary(max_size=20).map(lambda data: data.replace(b"\n", b""))), st.binary(max_size=30))
def test_only_an_unfinished_end_is_ever_dropped(
    tmp_path_factory: pytest.TempPathFactory, ids: list[bytes], end: bytes
) -> None:
    """Whole records stay as they are, byte for byte, whatever a crash has left behind them."""
    file = tmp_path_factory.mktemp("log") / "out.jsonl"
    whole = b"".join(msgspec.json.encode(ExamplesRecord(name.hex(), "?", GCR)) + b"\n" for name in ids)
    file.write_bytes(whole + end.replace(b"\n", b""))
    assert set(RecordFile(file, ExamplesRecord, GCR).open().done) == {name.hex() for name in ids}
    assert file.read_bytes() == whole


NODES = st.lists(st.integers(0, 9).map(lambda number: Iri(f"http://x/{number}")))


@given(NODES, NODES)
def test_precision_is_a_share(candidates: list[Iri], answers: list[Iri]) -> None:
    """Eq. 5: 1 where a plan leads to answers only, 0 where it leads to none; nothing counts twice."""
    share = precision(candidates, answers)
    assert 0 <= share <= 1
    assert (share == 1) == (bool(candidates) and set(candidates) <= set(answers))
    assert (share == 0) == (not set(candidates) & set(answers))
    assert precision(candidates * 2, answers) == share


def test_values_are_compared_as_they_are_read() -> None:
    """A data set's year has no datatype, the graph's has."""
    years = [Literal("1973", "http://www.w3.org/2001/XMLSchema#gYear"), Iri("http://x/1")]
    assert precision(years, [Literal("1973")]) == 0.5


async def test_the_gold_paths_of_a_benchmark_are_among_them(data: Path, tmp_path: Path) -> None:
    """On real questions of two hops nearly every gold chain of relations is one of the shortest."""
    recipe = Recipe("pathquestion-2h", "gcr", 2, 500, 0.5)
    run = await build(settings(), recipe, data, tmp_path / "out.jsonl", limit=30)
    rows = map(json.loads, (data / "pathquestion-2h.jsonl").read_text().splitlines())
    gold = {row["id"]: "/".join(f"<{relation}>" for _, relation, _ in row["gold_path"]) for row in rows}
    covered = [gold[record.id] in {route.relations for route in record.routes} for record in run.records]
    assert sum(covered) >= 28
    assert not any(record.error or record.cut for record in run.records)
