"""A small graph with questions about it, and made-up results, of which a report is made without any run."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.bench.data import definitions
from fedkg.bench.data.questions import Gold
from fedkg.bench.run import runner
from fedkg.bench.run.record import GivenAnswer, Header, QuestionRecord, StageCount, WalkedEdge
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.config.settings import load
from fedkg.core.usage import Usage

MakeJob = Callable[..., Job]
MakeResult = Callable[..., BenchmarkResult]
KINGDOM = """\
@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ruritania rdfs:label "Ruritania"@en ; ex:capital ex:strelsau ; ex:king ex:rudolf, ex:michael .
ex:capital rdfs:label "capital"@en .
ex:king rdfs:label "king"@en .
ex:strelsau rdfs:label "Strelsau"@en .
ex:rudolf rdfs:label "Rudolf V"@en ; ex:spouse ex:flavia .
ex:michael rdfs:label "Michael"@en .
ex:spouse rdfs:label "spouse"@en .
ex:flavia rdfs:label "Flavia"@en .
"""
STEP = WalkedEdge("T", "likes", "A", "out", ("<http://x/t>", "<http://x/likes>", "<http://x/a>"), "x", confirmed=True)
SEARCH = {"beam": 4, "alpha": 0.3, "keywords": True}


def question(name: str, answers: str, **more: Any) -> QuestionRecord:
    """A question whose right answer is `a`; one letter of `answers` is one answer."""
    given = tuple(GivenAnswer(f"http://x/{answer}", answer.upper(), True, 1.0, 1, True) for answer in answers)
    made = QuestionRecord(
        id=name,
        question="who?",
        kind="entities",
        status="answered" if answers else "not_found",
        gold=(Gold("A", "http://x/a"),),
        answers=given,
        topics=("http://x/t",),
        hops=1,
        gold_steps=1,
        passed=(StageCount(1, "offered", 3, gold="a" in answers),),
        edges=len(answers),
        valid=len(answers),
        paths=((STEP,),) if answers else (),
        usage=Usage(requests=2, seconds=0.5, price=0.0),
    )
    return msgspec.structs.replace(made, **more)


@pytest.fixture
def made() -> MakeResult:
    """A result of questions by their answers, as `made("a", "x", beam=2)`; other names are those of the header."""

    def make(*answers: str, **more: Any) -> BenchmarkResult:
        search = SEARCH | {name: more.pop(name) for name in list(more) if name in SEARCH}
        settings = {"embedder": more.pop("embedder", "bm25"), "search": search}
        fields = {"benchmark": "b", "method": "fidelis", "model": "local"} | more
        records = tuple(question(str(number), letters) for number, letters in enumerate(answers))
        header = Header(settings=settings, questions=len(answers), limit=None, seed=0, fedkg="0.1.0", **fields)
        return BenchmarkResult(header, records)

    return make


@pytest.fixture
def kingdom(tmp_path: Path) -> MakeJob:
    """A run of so many questions about a kingdom in a file, and of further rows; names are settings."""

    def make(count: int = 1, more: Sequence[dict[str, Any]] = (), **flags: Any) -> Job:
        graph, questions = tmp_path / "kingdom.ttl", tmp_path / "questions.jsonl"
        graph.write_text(KINGDOM)
        asked = {
            "question": "what capital?",
            "topics": ["http://ex.org/ruritania"],
            "answers": ["http://ex.org/strelsau"],
        }
        rows = [*({"id": f"q{number}"} | asked for number in range(count)), *more]
        questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        options = {"endpoints": [str(graph)], "embedder": "bm25", "cache_dir": str(tmp_path / "cache")} | flags
        return runner.prepared(load(flags=options), definitions.find(f"custom:{questions}"), None)

    return make
