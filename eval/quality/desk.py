"""Questions end to end over the OpenAI wire, with replies written by hand, and the pack from which they replay.

`eval/desk.toml` names the questions (`--list` another list, such as `eval/desk_conditions.toml`). Their graphs are
served on loopback at fixed ports, so that the pack needs no data set: what it holds is kept under these URLs. A run
that was interrupted goes on where it stopped, since replies are kept. At the end all is asked once more in offline
mode; what that touched is the pack.

What comes out says how good the prompts are, not how good any model is.
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from platformdirs import user_cache_path

from eval.support.engines import oxigraph
from eval.support.report import Report, options, require
from fedkg.cache.disk import DiskStore
from fedkg.cache.journal import Journal
from fedkg.cache.pack import export_pack, import_pack
from fedkg.config.settings import Budget, Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.question import Kind
from fedkg.errors import FedkgError
from fedkg.llm import capability
from fedkg.llm.base import ChatModel
from fedkg.llm.openai import OpenAIModel
from fedkg.session import Session
from fedkg.wiring.adapters import open_store

__all__ = ["Asked", "Desk", "Outcome", "ask", "operators", "outcome", "packed", "questions", "read", "replay"]

FOLDER = Path(__file__).resolve().parents[1]
URL = "http://127.0.0.1:8765/v1"
LABEL = "replies written by hand"
EMBEDDER = "bm25"
"""BM25 needs no model and no vectors: a pack with it is small and replays alike on every machine."""
WAIT = 3_600.0
"""Seconds that one reply may take to be written."""


class Graph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A graph's file in the data folder, its profile, and the port of loopback where it is served."""

    file: str
    profile: str
    port: int

    @property
    def endpoint(self) -> str:
        """What a session calls it."""
        return f"{self.profile}@http://127.0.0.1:{self.port}/query"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question of the list: from a set's file, in the data folder or beside our definitions, or with its answers."""

    set: str
    graph: str
    id: str
    file: str = ""
    question: str = ""
    gold: tuple[str, ...] = ()
    sparql: str = ""


class Desk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The list: the name of the model that is asked for, the graphs, the questions."""

    model: str
    graphs: dict[str, Graph]
    questions: tuple[Entry, ...]


class Asked(msgspec.Struct, frozen=True):
    """A question as it is asked, and its gold answers."""

    id: str
    set: str
    endpoint: str
    question: str
    gold: tuple[str, ...]
    kind: Kind | None = None
    options: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    operator: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """What became of a question; `verdict` is "right", "wrong", "abstained" or, with its message, "error".

    A question without gold answers has none in the graph: to leave it open is right.
    """

    asked: Asked
    verdict: str
    kind: str = ""
    status: str = ""
    answers: tuple[str, ...] = ()
    grounded: int = 0
    calls: int = 0
    tokens: int = 0
    requests: int = 0
    warnings: tuple[str, ...] = ()
    gaps: int = 0
    caveats: tuple[str, ...] = ()


class Where(NamedTuple):
    """Which model is asked, and where everything is kept."""

    model: str
    url: str
    cache: str

    @property
    def name(self) -> str:
        """The model's name as --model takes it."""
        return f"openai:{self.model}@{self.url}"

    def settings(self, *, offline: bool = False) -> Settings:
        """The settings of all questions; nobody hurries who writes by hand."""
        return Settings(
            model=self.name,
            embedder=EMBEDDER,
            cache_dir=self.cache,
            mode="offline" if offline else "live",
            replies=True,
            budget=Budget(),
        )

    def chat(self, at_once: int) -> ChatModel:
        """The model, which waits long for a reply."""
        able = capability.find(OpenAIModel.named(self.model, self.url))
        return OpenAIModel(self.model, base_url=self.url, timeout=WAIT, capability=able, concurrency=at_once)


def main() -> None:
    """Asks all questions, asks them again offline, writes the pack and the figures."""
    chosen = _arguments().parse_args()
    desk = read(chosen.list)
    require(
        chosen.data,
        *{question.file for question in desk.questions if question.file and not _ours(question.file).exists()},
        *(graph.file for graph in desk.graphs.values()),
    )
    where = Where(desk.model, chosen.url, str(chosen.keep))
    asked = [question for question in questions(desk, chosen.data) if not chosen.only or question.id in chosen.only]
    report = Report(chosen.list.stem, write=chosen.write)
    with serving(desk, {question.endpoint for question in asked}, chosen.data):
        outcomes = asyncio.run(ask(asked, where, at_once=chosen.at_once))
    again = asyncio.run(ask(asked, where, offline=True))
    report.add("label", LABEL)
    report.add("model", where.name)
    report.add("questions", [msgspec.to_builtins(outcome) for outcome in outcomes])
    report.add("accuracy", summary(outcomes))
    if any(outcome.asked.operator for outcome in outcomes):
        report.add("operators", operators(outcomes))
    report.add(
        "replayed alike", str([outcome.answers for outcome in outcomes] == [outcome.answers for outcome in again])
    )
    if chosen.pack:
        size = packed(where, len({question.endpoint for question in asked}), chosen.pack)
        report.add("pack", {"file": chosen.pack.name, "bytes": size})
    report.close()
    table(outcomes)


def _arguments() -> argparse.ArgumentParser:
    parser = options(__doc__ or "")
    parser.add_argument("--list", type=Path, default=FOLDER / "desk.toml", help="the list of the questions")
    parser.add_argument("--url", default=URL, help="base URL of the OpenAI wire where the replies are written")
    keep = user_cache_path("fedkg") / "desk"
    parser.add_argument("--keep", type=Path, default=keep, help="folder where replies and facts are kept")
    parser.add_argument("--pack", type=Path, help="the pack to write")
    parser.add_argument("--only", nargs="*", default=(), metavar="ID", help="ask only these")
    parser.add_argument("--at-once", type=int, default=4, help="questions under way at the same time")
    return parser


# ---- the questions ----


def read(file: Path) -> Desk:
    """The list of that file."""
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Desk)


def questions(desk: Desk, data: Path) -> list[Asked]:
    """The list's questions with their texts and gold answers."""
    named = {question.file for question in desk.questions if question.file}
    files = {file: _rows(ours if (ours := _ours(file)).exists() else data / file) for file in named}
    return [
        _asked(question, desk.graphs[question.graph].endpoint, files.get(question.file, {}).get(question.id))
        for question in desk.questions
    ]


def _ours(file: str) -> Path:
    """Where a question set of our own lies."""
    return FOLDER / "benchmarks" / file


def _asked(entry: Entry, endpoint: str, row: Mapping[str, Any] | None) -> Asked:
    if row is None:
        return Asked(entry.id, entry.set, endpoint, entry.question, entry.gold)
    if "options" in row:
        return Asked(
            entry.id,
            entry.set,
            endpoint,
            row["question"],
            (row["options"][row["answer"]],),
            "choice",
            tuple(row["options"].values()),
        )
    if "shape" in row:
        gold = tuple(map(_gold, row["answers"]))
        return Asked(entry.id, entry.set, endpoint, row["question"], gold, operator=row["shape"])
    if "topic_entities" in row:
        topics = tuple(topic["iri"] for topic in row["topic_entities"])
        gold = tuple(answer["label"] for answer in row["answers"])
        return Asked(entry.id, entry.set, endpoint, row["question"], gold, "entities", topics=topics)
    kind: Kind = "claim" if "claims" in entry.file else "yesno"
    return Asked(entry.id, entry.set, endpoint, row["query"], ("yes" if row["answer"] else "no",), kind)


def _gold(answer: bool | Mapping[str, str]) -> str:
    """A gold answer of our own questions as it is compared: a verdict, a name, or a value."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return answer.get("label") or answer.get("value") or answer["iri"]


def _rows(file: Path) -> dict[str, Mapping[str, Any]]:
    """The rows of a question set by their ids: a JSON array, or JSON Lines, compressed or not."""
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    rows = json.loads(content) if file.suffix == ".json" else map(json.loads, content.splitlines())
    return {row["id"]: row for row in rows}


# ---- asking ----


@contextlib.contextmanager
def serving(desk: Desk, endpoints: Iterable[str], data: Path) -> Iterator[None]:
    """Serves the graphs of these endpoints at their ports."""
    with contextlib.ExitStack() as running:
        for graph in desk.graphs.values():
            if graph.endpoint in endpoints:
                running.enter_context(oxigraph([data / graph.file], port=graph.port))
        yield


async def ask(asked: Sequence[Asked], where: Where, *, offline: bool = False, at_once: int = 1) -> list[Outcome]:
    """What becomes of the questions, in their order; one session for each endpoint.

    Offline neither an endpoint nor a model is asked: all comes from the folder `where.cache`.
    """
    outcomes: dict[str, Outcome] = {}
    chat = None if offline else where.chat(at_once)
    for endpoint in dict.fromkeys(question.endpoint for question in asked):
        group = [question for question in asked if question.endpoint == endpoint]
        slots = asyncio.Semaphore(at_once)
        async with Session(endpoint, settings=where.settings(offline=offline), chat=chat) as session:
            done = await asyncio.gather(*(_one(session, question, slots) for question in group))
        outcomes |= {outcome.asked.id: outcome for outcome in done}
    if chat:
        await chat.close()
    return [outcomes[question.id] for question in asked]


async def _one(session: Session, asked: Asked, slots: asyncio.Semaphore) -> Outcome:
    async with slots:
        try:
            answer = await session.ask(asked.question, asked.topics, kind=asked.kind, options=asked.options)
        except FedkgError as error:
            return Outcome(asked, f"error: {type(error).__name__}: {error}")
    return outcome(asked, answer)


def outcome(asked: Asked, answer: Answer) -> Outcome:
    """Judges an answer: right is what names all gold answers and no other."""
    values = tuple(sorted({value.value for value in answer.answers}))
    right = {_plain(value) for value in values} == {_plain(gold) for gold in asked.gold}
    left_open = not values and (bool(asked.gold) or answer.status is Status.FAILED)
    return Outcome(
        asked,
        "abstained" if left_open else "right" if right else "wrong",
        answer.kind,
        answer.status,
        values,
        sum(value.grounded for value in answer.answers),
        answer.usage.model_calls,
        answer.usage.tokens_in + answer.usage.tokens_out,
        answer.usage.requests,
        answer.warnings,
        len(answer.gaps),
        tuple(f"{caveat.kind.value}: {caveat.about}" for caveat in answer.caveats),
    )


def _plain(value: str) -> str:
    """A value as it is compared: case does not count, nor the time of a day."""
    return value.removesuffix("T00:00:00Z").strip().casefold()


# ---- the pack ----


def packed(where: Where, runs: int, pack: Path) -> int:
    """Writes what the latest runs touched as a pack; its bytes. Raises PackError."""
    pack.parent.mkdir(parents=True, exist_ok=True)
    with _store(where) as store:
        kept = Journal(store)
        touched: dict[str, set[str]] = {}
        for run in kept.all()[-runs:]:
            for namespace, keys in kept.keys(run.id).items():
                touched.setdefault(namespace, set()).update(keys)
        export_pack(pack, store, touched)
    return pack.stat().st_size


async def replay(pack: Path, asked: Sequence[Asked], where: Where) -> list[Outcome]:
    """What becomes of the questions from the pack alone, put into the folder `where.cache`, which is empty."""
    with _store(where) as store:
        import_pack(pack, store)
    return await ask(asked, where, offline=True)


@contextlib.contextmanager
def _store(where: Where) -> Iterator[DiskStore]:
    store = open_store(where.settings())
    assert isinstance(store, DiskStore), "the cache lies in a folder"
    with contextlib.closing(store):
        yield store


# ---- the figures ----


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Verdicts, calls and tokens by set."""
    return {
        name: {
            "questions": len(group),
            **{verdict: sum(outcome.verdict.startswith(verdict) for outcome in group) for verdict in VERDICTS},
            "calls, mean": round(sum(outcome.calls for outcome in group) / len(group), 2),
            "tokens, mean": round(sum(outcome.tokens for outcome in group) / len(group)),
        }
        for name in dict.fromkeys(outcome.asked.set for outcome in outcomes)
        for group in [[outcome for outcome in outcomes if outcome.asked.set == name]]
    }


def operators(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Calls and tokens by operator, of questions that have an answer, of those that have none, and of all.

    Means are those of answers, `asked`: where an error refuses a name that the graph does not have, what it cost is
    not known. `marked` answers have a caveat.
    """
    groups: dict[str, list[Outcome]] = {"all": list(outcomes)}
    for outcome in sorted(outcomes, key=lambda each: (not each.asked.gold, each.asked.operator)):
        groups.setdefault(outcome.asked.operator if outcome.asked.gold else "unanswerable", []).append(outcome)
    return {name: _cost(group) for name, group in groups.items()}


def _cost(group: Sequence[Outcome]) -> dict[str, Any]:
    asked = [outcome for outcome in group if not outcome.verdict.startswith("error")]
    return {
        "questions": len(group),
        "asked": len(asked),
        "right": sum(outcome.verdict == "right" for outcome in asked),
        "marked": sum(bool(outcome.caveats) for outcome in asked),
        "calls": round(sum(outcome.calls for outcome in asked) / len(asked), 2),
        "tokens": round(sum(outcome.tokens for outcome in asked) / len(asked)),
    }


VERDICTS = ("right", "wrong", "abstained", "error")


def table(outcomes: Sequence[Outcome]) -> None:
    """Prints a line for each question."""
    print("id | kind | gold | answer | verdict | calls | tokens | question")
    for outcome in outcomes:
        gold, answers = "; ".join(outcome.asked.gold), "; ".join(outcome.answers) or "-"
        cells = (
            outcome.asked.id,
            outcome.kind,
            gold,
            answers,
            outcome.verdict,
            outcome.calls,
            outcome.tokens,
            outcome.asked.question[:80],
        )
        print(" | ".join(map(str, cells)))


if __name__ == "__main__":
    main()
