"""The fault run: 1,000 questions of an endpoint that fails 30 % of the requests in every known way.

Each question is compared with the answer of the same endpoint when it behaves. It has to be the same, or be marked:
with a gap, a status or a warning of missing edges that the good answer does not have. Each session starts with an empty
cache; what it has kept as complete is compared afterwards. Retries do not wait and the memory of pauses is dropped
after each question, so that the run takes minutes; bans are left out for the same reason (tests/fetch plays them).
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import stamina

from eval.support.engines import oxigraph
from eval.support.misbehaviour import HARMLESS, WAYS, Misbehaving
from eval.support.report import Report, options, require
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.core.answer import Answer, Status
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import BOTH, Iri, Term
from fedkg.errors import EndpointError, FedkgError
from fedkg.graph.base import chunks
from fedkg.session import Session

SETS = ("metaqa-1hop", "metaqa-2hop", "pathquestion-2h", "pathquestion-3h")
RATE, EACH, PER_SESSION, DEPTH, SEED = 0.3, 250, 25, 3, 0
CAP, SIZE = 200, 1_000_000
WRONG = ("wrong", "crashed")
VERDICTS = ("equal", "equal, marked", "other, marked", *WRONG)
MISSING = ("there may be more",)
PROFILE = f"""\
title = "an endpoint that misbehaves"
urls = ["URL"]
like = "generic"
[limits]
concurrency = 4
timeout = 1.0
patience = 20.0
retries = 3
errors = 1000000
rows = {CAP - 2}
known_cap = {CAP}
max_bytes = {SIZE}
"""


class Outcome(msgspec.Struct, frozen=True):
    """What became of one question: `content` is status and values, `marks` what it says is missing."""

    content: tuple[str, tuple[str, ...]]
    marks: frozenset[str] = frozenset()
    error: str = ""


def main() -> None:
    """Runs both sides and compares them."""
    parser = options(__doc__ or "")
    parser.add_argument("--each", type=int, default=EACH, help="questions of each set")
    chosen = parser.parse_args()
    known = [definitions.find(name) for name in SETS]
    require(chosen.data, *(part for definition in known for part in (definition.questions, definition.graph)))
    asked = [
        question
        for definition in known
        for question in loaders.questions(chosen.data / definition.questions, chosen.each)
    ]
    report = Report("faults", write=chosen.write)
    graphs = list(dict.fromkeys(chosen.data / definition.graph for definition in known))
    with (
        oxigraph(graphs) as url,
        tempfile.TemporaryDirectory() as folder,
        stamina.set_testing(True, attempts=99, cap=True),
    ):
        asyncio.run(compare(url, asked, Path(folder), report))
    report.close()


async def compare(engine: str, asked: Sequence[BenchmarkQuestion], folder: Path, report: Report) -> None:
    """Asks everything twice, and reports what differs and how."""
    server = Misbehaving(engine, rate=0.0, seed=SEED, cap=CAP, size=SIZE)
    bad: list[Outcome] = []
    kept = Kept()
    async with server.running() as url:
        (folder / "faulty.toml").write_text(PROFILE.replace("URL", url))
        good = await ask(folder, "good", asked)
        calm, server.requests = server.requests, 0
        server.played.clear()
        for number, part in enumerate(chunks(asked, PER_SESSION)):
            server.rate, server.asked = RATE, set()
            bad += await ask(folder, f"bad{number}", part)
            server.rate, before = 0.0, server.requests
            kept += await kept_wrongly(folder, f"bad{number}", [Iri(iri) for iri in sorted(server.asked)])
            server.requests = before
    verdicts = [judge(faultless, faulty) for faultless, faulty in zip(good, bad, strict=True)]
    report.add("limits", {"rate": RATE, "seed": SEED, "sets": SETS, "rows": CAP - 2, "known_cap": CAP})
    counts = Counter(verdicts)
    report.add("questions", {"asked": len(asked), **{verdict: counts[verdict] for verdict in VERDICTS}})
    report.add("requests", {"calm": calm, "with failures": server.requests, **_played(server)})
    report.add("cache", msgspec.to_builtins(kept))
    report.add("wrong", [_shown(*row) for row in zip(asked, good, bad, verdicts, strict=True) if row[3] in WRONG])


# ---- questions ----


async def ask(folder: Path, cache: str, asked: Sequence[BenchmarkQuestion]) -> list[Outcome]:
    """What a session with a cache of its own says of the questions."""
    async with open_session(folder, cache) as session:
        return [await outcome(session, question) for question in asked]


def open_session(folder: Path, cache: str) -> Session:
    """A session over the endpoint, with the cache of that name."""
    options: dict[str, Any] = {"profiles_dir": str(folder), "cache_dir": str(folder / cache), "search.depth": DEPTH}
    return Session("faulty", embedder="bm25", **options)


async def outcome(session: Session, question: BenchmarkQuestion) -> Outcome:
    """What became of the question; what is remembered of the host is dropped, so that the next one is asked at once."""
    try:
        answer = await session.ask(question.question, [topic.iri for topic in question.topic_entities])
        return Outcome(_content(answer), _marks(answer))
    except EndpointError as error:
        return Outcome((Status.FAILED, ()), frozenset({str(error)}))
    except FedkgError as error:
        return Outcome((type(error).__name__, ()))
    except Exception as error:  # noqa: BLE001  # whatever gets out here is what the run looks for
        return Outcome(("crashed", ()), error=f"{type(error).__name__}: {error}")
    finally:
        await session.forget()


def judge(good: Outcome, bad: Outcome) -> str:
    """Whether the answer is the same, or says itself that something is missing that was not missing before."""
    if bad.error:
        return "crashed"
    if bad.content == good.content:
        return "equal, marked" if bad.marks - good.marks else "equal"
    return "other, marked" if bad.marks - good.marks else "wrong"


def _content(answer: Answer) -> tuple[str, tuple[str, ...]]:
    return answer.status, tuple(sorted(value.iri or value.value for value in answer.answers))


def _marks(answer: Answer) -> frozenset[str]:
    """What the answer lists as missing: gaps, edges not fetched, a status that is neither an answer nor "none"."""
    gaps = {gap.reason for gap in answer.gaps}
    missing = {warning for warning in answer.warnings if warning.startswith(MISSING)}
    return frozenset(gaps | missing | ({answer.status} - {Status.ANSWERED, Status.NONE}))


def _shown(question: BenchmarkQuestion, good: Outcome, bad: Outcome, verdict: str) -> dict[str, Any]:
    return {"id": question.id, "verdict": verdict, "good": msgspec.to_builtins(good), "bad": msgspec.to_builtins(bad)}


def _played(server: Misbehaving) -> dict[str, Any]:
    failed = sum(number for name, number in server.played.items() if name not in HARMLESS)
    return {"failed": failed, "ways": {name: server.played[name] for name in [*WAYS, *sorted(HARMLESS - set(WAYS))]}}


# ---- the cache ----


class Kept(msgspec.Struct, frozen=True):
    """What caches held after the run: entries in all, those compared, and those that are not what the endpoint says."""

    entries: int = 0
    neighbourhoods: int = 0
    labels: int = 0
    wrong: tuple[str, ...] = ()

    def __add__(self, other: "Kept") -> "Kept":
        return Kept(
            self.entries + other.entries,
            self.neighbourhoods + other.neighbourhoods,
            self.labels + other.labels,
            self.wrong + other.wrong,
        )


async def kept_wrongly(folder: Path, cache: str, entities: Sequence[Iri]) -> Kept:
    """Compares what the cache says of all these entities with what the endpoint says now that it behaves."""
    async with open_session(folder, cache) as session, open_session(folder, "good") as true:
        graph, right = await session.graph(), await true.graph()
        entries = sum(session.store.count().values())
        wrong, count = [], 0
        for way in BOTH:
            pairs = zip(await graph.neighbours(entities, way), await right.neighbours(entities, way), strict=True)
            for near, whole in pairs:
                count += 1
                if near.complete and _edges(near) != _edges(whole):
                    wrong.append(f"{near.entity.value} ({way})")
        names, labels = await graph.labels(entities), await right.labels(entities)
        wrong += [f"{term} is called {names[term]!r}" for term in labels if names[term] != labels[term]]
    return Kept(entries, count, len(labels), tuple(wrong))


def _edges(near: Neighbourhood) -> set[tuple[Term, Iri, Term]]:
    return {(edge.subject, edge.relation, edge.object) for edge in near.edges}


if __name__ == "__main__":
    main()
