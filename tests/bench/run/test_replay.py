"""Replays: nothing differs where the store has it all, and whatever differs is named."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.data import definitions
from fedkg.bench.data.questions import Gold
from fedkg.bench.run import executors, runner
from fedkg.bench.run.bundle import Bundle, bundled
from fedkg.bench.run.record import GivenAnswer, QuestionRecord, StageCount, WalkedEdge
from fedkg.bench.run.replay import TOLERANCE, differences, header, notes, replayed
from fedkg.bench.run.results import BenchmarkResult
from fedkg.cache.disk import DiskStore
from fedkg.cache.journal import RecordingStore
from fedkg.cache.store import Store
from fedkg.config.resources import folder
from fedkg.config.settings import Settings
from fedkg.core.usage import Usage

KING = (
    b'{"id": "king", "question": "Who is the spouse of the director of King Kong?", '
    b'"answers": [{"label": "Fran Walsh"}]}\n'
)
NOBODY = (
    b'{"id": "nobody", "question": "Who is the spouse of Zaphod Beeblebrox?", "answers": [{"label": "Fran Walsh"}]}\n'
)
EDGE = WalkedEdge("Ann", "has pet", "Rex", "out", ("<a>", "<r>", "<b>"), "sample", True)
RECORD = QuestionRecord(
    id="1",
    question="q",
    kind="entities",
    status="answered",
    gold=(Gold("A", "a"),),
    answers=(GivenAnswer("a", "A", True, 0.5, 1, True),),
    passed=(StageCount(1, "offered", 3, gold=True),),
    paths=((EDGE,),),
    edges=1,
    valid=1,
    usage=Usage(requests=3, seconds=2.0, model_calls=2, tokens_in=90, price=0.5),
    measures={"agreement": 0.5, "door": "token"},
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings over a copy of the sample."""
    (tmp_path / "graph.ttl").write_bytes((folder("sample") / "graph.ttl").read_bytes())
    (tmp_path / "q.jsonl").write_bytes(KING + NOBODY)
    endpoint = f"sample@{tmp_path / 'graph.ttl'}"
    return Settings(endpoints=(endpoint,), embedder="bm25", cache_dir=str(tmp_path / "cache"))


async def made(settings: Settings, tmp_path: Path, store: Store) -> Bundle:
    """The bundle of a run over it; the graph is gone then."""
    definition = definitions.find(f"custom:{tmp_path}/q.jsonl")
    job = runner.prepared(settings, definition, None)
    result = BenchmarkResult(job.header, await runner.run(job, executors.InProcess(2)))
    bundle = await bundled(result, definition, None, settings, store, named={"endpoints": settings.endpoints})
    (tmp_path / "graph.ttl").unlink()
    return bundle


async def test_the_cache_is_enough(settings: Settings, tmp_path: Path) -> None:
    """Without the graph: the same records, also of a question that names nobody.

    What was touched suffices elsewhere.
    """
    store = DiskStore(tmp_path / "cache")
    touched = RecordingStore(store, "offline")
    bundle = await made(settings, tmp_path, touched)
    again = [record async for record in replayed(bundle, touched, Settings(), 2)]
    assert {record.id: record.status for record in again} == {"king": "answered", "nobody": "error"}
    assert differences(bundle.records, again) == []
    elsewhere = DiskStore(tmp_path / "elsewhere")
    for namespace, keys in touched.touched.items():
        elsewhere.put_entries(namespace, store.entries(namespace, list(keys)))
    again = [record async for record in replayed(bundle, RecordingStore(elsewhere, "offline"), Settings())]
    assert differences(bundle.records, again) == []
    store.close()
    elsewhere.close()


async def test_what_is_not_kept_is_an_error_and_a_difference(settings: Settings, tmp_path: Path) -> None:
    """It is said by name, and the other questions are asked."""
    store = DiskStore(tmp_path / "cache")
    bundle = await made(settings, tmp_path, store)
    store.clear("neighbours")
    again = [record async for record in replayed(bundle, RecordingStore(store, "offline"), Settings())]
    changes = {
        (difference.id, difference.field): difference.replayed for difference in differences(bundle.records, again)
    }
    assert changes["king", "error"] == "OfflineError"
    assert changes["king", "status"] == "error"
    assert {name for name, _ in changes} == {"king"}
    store.close()


async def test_a_header_says_who_replayed(settings: Settings, tmp_path: Path) -> None:
    """The pack's digest; versions are those of here, and what is otherwise is noted; no edge was confirmed again."""
    store = DiskStore(tmp_path / "cache")
    bundle = await made(settings, tmp_path, store)
    here = header(bundle, Settings(), "abc")
    assert (here.pack, here.verified, here.data) == ("abc", False, bundle.header.data)
    assert notes(here, here) == []
    older = msgspec.structs.replace(here, fedkg="0.0.1", packages={**here.packages, "numpy": "1", "gone": "2"})
    texts = notes(older, here)
    assert f"fedkg: '0.0.1' in the pack, {here.fedkg!r} here" in texts
    assert "packages gone: '2' in the pack, None here" in texts
    assert len(texts) == 3
    store.close()


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("status", {"status": "none"}),
    ("answers", {"answers": ()}),
    ("answers", {"answers": (GivenAnswer("b", "A", True, 0.5, 1),)}),
    ("answers", {"answers": (GivenAnswer("a", "A", True, 0.5 + 2 * TOLERANCE, 1),)}),
    ("paths", {"paths": ((msgspec.structs.replace(EDGE, end="Max"),),)}),
    ("passed", {"passed": (StageCount(1, "offered", 2, gold=True),)}),
    ("usage", {"usage": msgspec.structs.replace(RECORD.usage, tokens_in=91)}),
    ("measures", {"measures": {"agreement": 0.5}}),
    ("measures", {"measures": {"agreement": 0.6, "door": "token"}}),
    ("warnings", {"warnings": ("cut",)}),
    ("error", {"error": "KeyError: 'x'"}),
    ("edges", {"edges": 2}),
]


@pytest.mark.parametrize(("field", "change"), CHANGES)
def test_a_changed_record_is_told_by_field(field: str, change: dict[str, Any]) -> None:
    """Exactly that field, with both values."""
    [difference] = differences([RECORD], [msgspec.structs.replace(RECORD, **change)])
    assert (difference.id, difference.field) == ("1", field)
    assert difference.packed != difference.replayed


def test_what_cannot_come_again_is_not_compared() -> None:
    """Time, requests, what the endpoint confirmed, the guesses in an error's message, the last digits of a score."""
    record = msgspec.structs.replace(RECORD, error="TopicError: did you mean Ann?")
    other = msgspec.structs.replace(
        record,
        answers=(GivenAnswer("a", "A", True, 0.5 + TOLERANCE / 2, 1),),
        paths=((msgspec.structs.replace(EDGE, confirmed=None),),),
        valid=None,
        usage=Usage(cache_hits=3, seconds=0.1, model_calls=2, tokens_in=90, price=0.5),
        error="TopicError: nobody",
    )
    assert differences([record], [other]) == []


@given(st.permutations(["1", "2", "3"]), st.sets(st.sampled_from(["1", "2", "3"])))
def test_differences_come_in_the_order_of_the_pack(order: list[str], wrong: set[str]) -> None:
    """Whatever finished first: those that differ, each once."""
    packed = [msgspec.structs.replace(RECORD, id=name) for name in order]
    again = [
        msgspec.structs.replace(record, status="none" if record.id in wrong else record.status) for record in packed
    ]
    changes = differences(packed, sorted(again, key=lambda record: record.id))
    assert [difference.id for difference in changes] == [name for name in order if name in wrong]
