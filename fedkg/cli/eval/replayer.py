"""The questions of packed results asked again, of what a store holds, and what comes out otherwise."""

import asyncio
from collections.abc import Callable, Sequence

import click
import msgspec

from fedkg.bench.run import replay as bench
from fedkg.bench.run.bundle import Bundle
from fedkg.bench.run.record import Header, QuestionRecord
from fedkg.bench.run.replay import ReplayDifference
from fedkg.cache.store import Store
from fedkg.cli import options
from fedkg.cli.bar import bar
from fedkg.cli.show import counted, plain
from fedkg.config.settings import Settings
from fedkg.core.encoding import encode

__all__ = ["Replayed", "Replayer", "concurrency_option", "exit_code", "print_replayed"]

DIFFERS = 1
"""Exit code where anything came out otherwise."""
MOST_SHOWN = 20
LENGTH = 300

concurrency_option = click.option(
    "--concurrency", type=options.PARALLEL, default=1, show_default=True, help="Questions asked at a time."
)


class Replayed(msgspec.Struct, frozen=True):
    """A result that was asked again: where it came from, what is otherwise here, and what came out otherwise."""

    name: str
    header: Header
    questions: int
    notes: tuple[str, ...]
    differences: tuple[ReplayDifference, ...]


class Replayer:
    """Asks the questions of bundles again, of one store; `digest` is that of the pack that filled it."""

    def __init__(self, store: Store, settings: Settings, concurrency: int, digest: str = "") -> None:
        self._store = store
        self._settings = settings
        self._concurrency = concurrency
        self._digest = digest

    def ask(self, name: str, bundle: Bundle) -> tuple[Replayed, tuple[QuestionRecord, ...]]:
        """What comes out, and the records in the order of the bundle."""
        here = bench.header(bundle, self._settings, self._digest)
        with bar(name, len(bundle.questions)) as shown:
            again = asyncio.run(self._records(bundle, shown))
        records = tuple(again[record.id] for record in bundle.records)
        notes, differences = bench.notes(bundle.header, here), bench.differences(bundle.records, records)
        return Replayed(name, here, len(records), tuple(notes), tuple(differences)), records

    async def _records(self, bundle: Bundle, shown: Callable[[int, str], None]) -> dict[str, QuestionRecord]:
        records: dict[str, QuestionRecord] = {}
        async for record in bench.replayed(bundle, self._store, self._settings, self._concurrency):
            records[record.id] = record
            shown(len(records), "")
        return records


def print_replayed(replayed: Replayed) -> None:
    """Prints how many questions came out otherwise, which, and what is otherwise here."""
    changed = len({difference.id for difference in replayed.differences})
    outcome = f"{counted(changed, 'question')} came out otherwise" if changed else "no difference"
    click.echo(f"{plain(replayed.name)}: {counted(replayed.questions, 'question')} asked again, {outcome}")
    for difference in replayed.differences[:MOST_SHOWN]:
        before, now = (plain(encode(value).decode(), LENGTH) for value in (difference.packed, difference.replayed))
        click.echo(f"  {plain(difference.id)}: {difference.field}: {before} in the result, {now} now")
    if len(replayed.differences) > MOST_SHOWN:
        click.echo(f"  … and {len(replayed.differences) - MOST_SHOWN:,} more")
    for note in replayed.notes:
        click.echo(f"  note: {plain(note, LENGTH)}", err=True)


def exit_code(replayed: Sequence[Replayed]) -> int:
    """1 where anything came out otherwise."""
    return DIFFERS if any(result.differences for result in replayed) else 0
