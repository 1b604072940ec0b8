"""`fedkg transcript`: what a model was asked, what it replied, and what its replies were taken for."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from fedkg.cli import options, show
from fedkg.common.plain_text import block, plain
from fedkg.core.rendering import counted
from fedkg.engine.transcript import TranscriptAttempt, TranscriptCall, TranscriptEntry, TranscriptHeader, dump, read
from fedkg.errors import DocumentError

__all__ = ["transcript"]

LONG = 500
SHOWN_SETTINGS = ("endpoints", "model", "path_model", "method")
INDENT = "    "


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--call", "wanted", type=options.COUNT, metavar="N", help="Only call N, with all of its messages.")
@options.as_json
def transcript(file: str, wanted: int | None, as_json: bool) -> None:
    """Show the transcript FILE (- is stdin), which `fedkg ask --transcript FILE` writes.

    Of each call the last message of its first request is shown, every reply, and what it was taken for; with --call N
    the system prompt and the schema too. A line that is no transcript's ends the output, with exit code 2 and its
    number.
    """
    entries = _numbered(read("standard input" if file == "-" else file, _data(file)))
    if wanted:
        entries = iter([_call(file, entries, wanted)])
    if as_json:
        click.echo(dump([entry for _, entry in entries]))
        return
    out, question = show.console(), ""
    for number, entry in entries:
        if isinstance(entry, TranscriptHeader):
            _header(out, entry)
            question = ""
            continue
        if entry.question != question:
            question = entry.question
            out.print(Text(f"\nQuestion: {plain(question, LONG)}", "bold"))
        _shown(out, number, entry, whole=wanted is not None)


def _data(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise DocumentError(f"{file}: {error.strerror}", hint="name a file that --transcript has written") from error


def _numbered(entries: Iterable[TranscriptEntry]) -> Iterator[tuple[int, TranscriptEntry]]:
    """The entries, each with the number of its call, from 1; 0 for a header."""
    number = 0
    for entry in entries:
        number += isinstance(entry, TranscriptCall)
        yield (number if isinstance(entry, TranscriptCall) else 0), entry


def _call(file: str, entries: Iterator[tuple[int, TranscriptEntry]], wanted: int) -> tuple[int, TranscriptEntry]:
    last = 0
    for number, entry in entries:
        if number == wanted:
            return number, entry
        last = number or last
    raise DocumentError(f"{plain(file)} has no call {wanted}", hint=f"it has {counted(last, 'call')}")


def _header(out: Console, header: TranscriptHeader) -> None:
    out.print(Text(f"fedkg {plain(header.version)}, {plain(header.started)}", "bold"))
    for name in SHOWN_SETTINGS:
        if value := header.settings.get(name):
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            out.print(Text(f"{name}: {plain(text, LONG)}", "dim"))
    if header.note:
        out.print(Text(plain(header.note, LONG)))


def _shown(out: Console, number: int, call: TranscriptCall, *, whole: bool) -> None:
    """One call: how it was asked, its messages and replies, and what it came to."""
    template = f" ({plain(call.template)})" if call.template else ""
    out.print(Text(f"\n{number}. {plain(call.call)}{template}, {plain(call.model)}", "bold cyan"))
    if call.constraint:
        out.print(Text(f"{INDENT}constrained to {counted(call.constraint, 'path')}", "dim"))
    if whole and call.schema:
        _block(out, "schema", json.dumps(call.schema, indent=2, ensure_ascii=False))
    seen = 0
    for attempt in call.attempts:
        _attempt(out, attempt, seen, whole=whole)
        seen = len(attempt.messages)
    if call.error:
        out.print(Text(f"{INDENT}failed: {plain(call.error, LONG)}", "yellow"))
    else:
        out.print(Text(f"{INDENT}taken for: {plain(_text(call.result), 1_000)}", "green"))


def _attempt(out: Console, attempt: TranscriptAttempt, seen: int, *, whole: bool) -> None:
    """One request, without the messages that the one before had, and its reply."""
    messages = attempt.messages[seen:]
    for message in messages if whole else messages[-1:]:
        _block(out, message.role, message.content)
    if attempt.reply is not None:
        _block(out, f"reply, {_cost(attempt)}", attempt.reply)
    if attempt.error:
        out.print(
            Text(
                f"{INDENT}{'unusable' if attempt.reply is not None else 'no reply'}: {plain(attempt.error, LONG)}",
                "yellow",
            )
        )


def _block(out: Console, title: str, text: str) -> None:
    out.print(Text(f"  {plain(title)}:", "dim"))
    out.print(Text("\n".join(f"{INDENT}{line}" for line in block(text).split("\n"))))


def _cost(attempt: TranscriptAttempt) -> str:
    source = "replayed" if attempt.replayed else f"{attempt.seconds:.1f} s"
    return f"{attempt.tokens_in} + {attempt.tokens_out} tokens, {source}"


def _text(result: Any) -> str:
    return json.dumps(result, ensure_ascii=False)
