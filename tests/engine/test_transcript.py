"""A session's transcript: a line for each call, without secrets, and never the end of a question."""

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fedkg.config.settings import Settings
from fedkg.core.answer import Status
from fedkg.engine.redaction import MASK
from fedkg.engine.transcript import (
    SCHEMA,
    TranscriptCall,
    TranscriptEntry,
    TranscriptFile,
    TranscriptHeader,
    dump,
    opened,
    read,
)
from fedkg.errors import DocumentError, SettingsError
from fedkg.llm.base import Capability, Completion, Message, Request, Token
from fedkg.session import Session
from fedkg.testing import ScriptedModel

QUESTION = "Who are the children of Marie Curie?"
PLAN = {
    "keywords": ["child"],
    "planning_steps": ["find the children"],
    "declarative_statement": "*placeholder* is a child of Marie Curie.",
    "kind": "entities",
    "mentions": ["Marie Curie"],
}


def play(messages: Sequence[Message], call: str) -> str:
    """Finds the children."""
    offers = messages[-1].content.splitlines()
    child = next((row.partition(".")[0] for row in offers if re.search(r"\bchild( →|:)", row)), "1")
    replies = {
        "plan": PLAN,
        "choose": {"picks": [{"offer": int(child), "ends": [0]}], "decides": True, "more": False},
        "answer": {"paths": [{"path": 1, "ends": []}]},
    }
    return json.dumps(replies[call])


class Entries(list[TranscriptEntry]):
    """A sink that keeps what it is given."""

    write = list.append

    @property
    def calls(self) -> list[TranscriptCall]:
        """The calls among it."""
        return [entry for entry in self if isinstance(entry, TranscriptCall)]


async def asked(chat: ScriptedModel, sink: object, **options: object) -> Status:
    """The status of the question's answer."""
    given: dict[str, Any] = {"show_all": 0, **options}
    async with Session("sample", chat=chat, transcript=sink, embedder="bm25", cache=False, **given) as session:  # type: ignore[arg-type]  # a sink of no type
        return (await session.ask(QUESTION)).status


def entries(file: Path) -> list[TranscriptEntry]:
    """What a file holds."""
    return list(read(str(file), file.read_bytes()))


async def test_each_call_has_a_line(tmp_path: Path) -> None:
    """A header with the settings, then the calls in their order, each with what went out and what came back."""
    file = tmp_path / "t.jsonl"
    chat = ScriptedModel(play)
    assert await asked(chat, file, contact="me@example.org") is Status.ANSWERED
    header, *calls = entries(file)
    assert isinstance(header, TranscriptHeader)
    assert (header.schema, header.settings["model"], header.note) == (SCHEMA, "scripted", "")
    assert "contact" not in header.settings
    assert [entry.call for entry in calls if isinstance(entry, TranscriptCall)] == [call for _, call in chat.asked]
    plan = calls[0]
    assert isinstance(plan, TranscriptCall)
    [attempt] = plan.attempts
    assert (plan.question, plan.model, plan.error) == (QUESTION, "scripted", "")
    assert plan.template.startswith("4-")
    assert plan.schema["type"] == "object"
    assert attempt.messages == chat.asked[0][0]
    assert attempt.reply == json.dumps(PLAN)
    assert plan.result["keywords"] == ["child"]
    assert attempt.tokens_in > 0 < attempt.tokens_out
    assert len(attempt.request_digest) == len(attempt.reply_digest) == 64


async def test_equal_requests_have_equal_digests() -> None:
    """Two sessions that ask the same; the digest of another request is another one."""
    first, second = Entries(), Entries()
    await asked(ScriptedModel(play), first)
    await asked(ScriptedModel(play), second)
    digests = [[call.attempts[0].request_digest for call in sink.calls] for sink in (first, second)]
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == len(digests[0])


async def test_a_repair_and_a_failure() -> None:
    """Each attempt with its reply and what was wrong with it, and the error that the call ended with."""
    sink = Entries()
    await asked(ScriptedModel(lambda *_: "no idea"), sink)
    plan = sink.calls[0]
    assert [attempt.reply for attempt in plan.attempts] == ["no idea", "no idea"]
    assert all(attempt.error.startswith("ModelReplyError: ") for attempt in plan.attempts)
    assert len(plan.attempts[1].messages) == len(plan.attempts[0].messages) + 2
    assert (plan.result, "two unusable replies" in plan.error) == (None, True)


async def test_a_replayed_reply_is_marked(tmp_path: Path) -> None:
    """With the tokens that it cost when it was given."""
    for _ in range(2):
        sink = Entries()
        async with Session(
            "sample", chat=ScriptedModel(play), transcript=sink, embedder="bm25", cache_dir=str(tmp_path), replies=True
        ) as session:
            await session.ask(QUESTION)
    assert all(attempt.replayed and attempt.tokens_in for call in sink.calls for attempt in call.attempts)


async def test_the_local_model_makes_no_calls(tmp_path: Path) -> None:
    """The header says so, and is all there is."""
    file = tmp_path / "t.jsonl"
    async with Session("sample", transcript=file, embedder="bm25", cache=False) as session:
        await session.ask(QUESTION)
    [header] = entries(file)
    assert isinstance(header, TranscriptHeader)
    assert "no calls" in header.note


class Leaking(ScriptedModel):
    """A model whose name, and whose every reply, has secrets in it."""

    name = "openai:m@https://me:url-password@127.0.0.1:1/v1?key=query-key"

    async def complete(self, request: Request) -> Completion:
        """The reply of a server that repeats what it was sent."""
        await super().complete(request)
        return Completion("Authorization: Bearer environment-key; url-password; query-key; me@example.org")


async def test_no_secret_enters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither from the environment, nor from URLs and the model's name, nor the contact.

    Whoever wrote it into a reply.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "environment-key")
    file = tmp_path / "t.jsonl"
    settings = Settings(
        endpoints=("sample",),
        model="openai:m@https://me:url-password@127.0.0.1:1/v1?key=query-key",
        contact="me@example.org",
        cache=False,
        embedder="bm25",
    )
    async with Session(settings=settings, chat=Leaking(play), transcript=file) as session:
        await session.ask(QUESTION)
    text = file.read_text()
    for secret in ("environment-key", "url-password", "query-key", "me@example.org"):
        assert secret not in text
    assert MASK in text


def test_only_what_the_session_was_given_is_masked(tmp_path: Path) -> None:
    """The masks of a session come from its own settings, before any question."""
    sink = Entries()
    opened(sink, Settings(endpoints=("https://me:password@example.org/sparql?key=value",), model="hf:/home/me/model"))
    [header] = sink
    assert isinstance(header, TranscriptHeader)
    assert header.settings["endpoints"] == ["https://example.org/sparql?…"]
    assert header.settings["model"] == "hf:model"


async def test_a_file_is_gone_on_with(tmp_path: Path) -> None:
    """A second session adds a header and its calls; a line that a crash has torn is cut off before."""
    file = tmp_path / "t.jsonl"
    await asked(ScriptedModel(play), file)
    once = len(entries(file))
    with file.open("ab") as torn:
        torn.write(b'{"line":"call","quest')
    await asked(ScriptedModel(play), file)
    both = entries(file)
    assert len(both) == 2 * once
    assert [number for number, entry in enumerate(both) if isinstance(entry, TranscriptHeader)] == [0, once]


@pytest.mark.parametrize(
    "content", [b"something else\n", b"{}\n", b'{"line":"call","question":"","call":"","model":""}\n']
)
async def test_a_foreign_file_is_not_written_to(tmp_path: Path, content: bytes) -> None:
    """It stays as it was, and nothing is asked."""
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    chat = ScriptedModel(play)
    with pytest.raises(SettingsError, match="exists, and is no transcript"):
        await asked(chat, file)
    assert (file.read_bytes(), chat.asked) == (content, [])


@pytest.mark.parametrize("place", ["missing/t.jsonl", ".", "/dev/full"])
async def test_a_file_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    """A folder that is not there, one in its place, a full disk: said before anything is asked."""
    chat = ScriptedModel(play)
    with pytest.raises(SettingsError, match="cannot be written"):
        await asked(chat, tmp_path / place)
    assert chat.asked == []


async def test_a_disk_that_fills_later(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One warning, and the question goes on to its answer."""

    class Filling(TranscriptFile):
        def write(self, entry: TranscriptEntry) -> None:
            if isinstance(entry, TranscriptCall):
                raise OSError(28, "No space left on device")
            super().write(entry)

    with caplog.at_level(logging.WARNING):
        assert await asked(ScriptedModel(play), Filling(tmp_path / "t.jsonl")) is Status.ANSWERED
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["the transcript ends here"]


async def test_text_that_is_no_unicode(tmp_path: Path) -> None:
    """Half a pair of surrogates in a reply comes back as it was."""
    file = tmp_path / "t.jsonl"
    await asked(ScriptedModel(lambda *_: "\ud83d half"), file)
    call = entries(file)[1]
    assert isinstance(call, TranscriptCall)
    assert call.attempts[0].reply == "\ud83d half"


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b"{", 3),
        (b"[1]", 3),
        (b'{"line":"other"}', 3),
        (b'{"line":"call","question":1,"call":"","model":""}', 3),
        (b"[" * 100_000, 3),
        (b"\xff", 3),
        (b"", 3),
    ],
)
def test_a_damaged_line_is_named(line: bytes, number: int) -> None:
    """What stands before it is read."""
    header = dump(TranscriptHeader(SCHEMA, "1", "now", {}))
    call = dump(TranscriptCall("Q?", "plan", "m"))
    lines = read("t.jsonl", b"\n".join([header, call, line, call]) + b"\n")
    assert [type(next(lines)), type(next(lines))] == [TranscriptHeader, TranscriptCall]
    with pytest.raises(DocumentError, match=f"t.jsonl, line {number}, "):
        next(lines)


@pytest.mark.parametrize("data", [b"", b"\n", b"hello", dump(TranscriptCall("Q?", "plan", "m"))])
def test_a_foreign_file_has_no_header(data: bytes) -> None:
    """Its first line is at fault."""
    with pytest.raises(DocumentError, match="line 1, "):
        next(read("t.jsonl", data))


def test_another_schema() -> None:
    """One that a later version wrote is not guessed at."""
    with pytest.raises(DocumentError, match="schema 99 is not known"):
        next(read("t.jsonl", dump(TranscriptHeader(99, "9", "then", {}))))


async def test_a_result_of_any_kind_is_written() -> None:
    """A single number, as the verifier `log-probability` has it."""

    class Sure(ScriptedModel):
        async def complete(self, request: Request) -> Completion:
            reply = await super().complete(request)
            tokens = (Token("yes", {"yes": -0.1, "no": -3.0}),) if request.alternatives else ()
            return Completion(reply.text, spelled=tokens)

    def say(messages: Sequence[Message], call: str) -> str:
        return (
            '{"deducible": "yes"}'
            if call == "deducible"
            else '{"picks": [1]}'
            if call == "beam"
            else play(messages, call)
        )

    sink = Entries()
    chat = Sure(say, Capability(context=200_000, logprobs=True))
    await asked(chat, sink, **{"search.verifier": "log-probability", "search.call_plan": "paper", "search.depth": 1})
    call = next(call for call in sink.calls if call.call == "deducible")
    assert call.alternatives > 0
    assert isinstance(call.result, float | None)
