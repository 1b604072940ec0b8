"""Who asks for upper bounds: the sessions of an executor, one after the other."""

import gc
import json
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.gold import GoldExecutor, GoldSession
from fedkg.bench.scoring.scores import score
from fedkg.config.settings import Settings
from fedkg.session import Session

X = "http://x/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FAMILY = "".join(
    [
        *(f'<{X}{name}> {LABEL} "{name}"@en .\n' for name in ("ann", "joe", "miner", "father", "job")),
        f"<{X}ann> <{X}father> <{X}joe> .\n<{X}joe> <{X}job> <{X}miner> .\n",
    ]
)
CHAIN = [[f"{X}ann", f"{X}father", f"{X}joe"], [f"{X}joe", f"{X}job", f"{X}miner"]]
QUESTION = BenchmarkQuestion(
    "1", "What was the job of the father of ann?", (Gold("ann", f"{X}ann"),), (Gold("miner", f"{X}miner"),)
)


@contextmanager
def no_collection() -> Iterator[None]:
    """Nothing is collected inside: what is gone there was held by no cycle."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("model", ["local", "guide:gold"])
async def test_no_session_of_an_executor_outlives_its_records(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph would stay beside that of the next run: session and graph are gone at once, with all that they hold."""
    (tmp_path / "family.nt").write_text(FAMILY, encoding="utf-8")
    row: dict[str, Any] = {"id": "1", "question": QUESTION.question, "gold_path": CHAIN}
    row |= {"topic_entities": [{"iri": f"{X}ann"}], "answers": [{"iri": f"{X}miner", "label": "miner"}]}
    (tmp_path / "family.jsonl").write_text(json.dumps(row), encoding="utf-8")
    definition = Definition("Family", "family.jsonl", 2, "family.nt", loader="jsonl")
    settings = Settings(model=model, method="vanilla" if model != "local" else "fidelis", cache=False, embedder="bm25")
    work = AskingTask(runner.with_graph(settings, definition, tmp_path), definition, verify=False)
    watched: list[tuple[type, weakref.ref[Any]]] = []
    connected = Session.graph

    async def noted(session: Session) -> Any:
        graph = await connected(session)
        watched.extend((type(thing), weakref.ref(thing)) for thing in (session, graph))
        return graph

    monkeypatch.setattr(Session, "graph", noted)
    with no_collection(), GoldExecutor(tmp_path) as executor:
        [record] = [record async for record in executor.records(work, [QUESTION])]
        assert [kind for kind, ref in watched if ref()] == []
    assert (GoldSession if model != "local" else Session) in [kind for kind, _ in watched]
    if model != "local":
        assert (score(record).hits_at_1, record.usage.model_calls > 0) == (1.0, True)
