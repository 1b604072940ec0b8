"""`fedkg cache`: what is kept on disk, and how to get rid of it."""

import contextlib
from pathlib import Path

import click
import msgspec

from fedkg.cli import options
from fedkg.records import encode
from fedkg.session import open_store
from fedkg.settings import Settings
from fedkg.store import DiskStore

__all__ = ["cache"]

INDEXES = "label indexes"


@click.group()
def cache() -> None:
    """Show or clear what is kept on disk."""


@cache.command()
@options.place
@options.as_json
def stats(file: str | None, as_json: bool, **flags: object) -> None:
    """Show how many replies, labels, embeddings and label indexes are kept, and how much space they take."""
    settings = options.settings(file, flags)
    with contextlib.closing(_kept(settings)) as store:
        entries, size = store.count(), store.size()
    if indexes := _indexes(settings):
        entries[INDEXES] = len(indexes)
        size += sum(index.stat().st_size for index in indexes)
    if as_json:
        click.echo(encode({"folder": str(settings.cache_path), "bytes": size, "entries": entries}))
        return
    click.echo(f"{settings.cache_path}: {size / 1e6:.1f} MB")
    for namespace, count in entries.items():
        click.echo(f"  {namespace:14} {count}")


@cache.command()
@options.place
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(file: str | None, yes: bool, **flags: object) -> None:
    """Delete all replies, labels, embeddings and label indexes that are kept."""
    settings = options.settings(file, flags)
    if not yes:
        click.confirm(f"Delete all that is kept in {settings.cache_path}?", abort=True, err=True)
    with contextlib.closing(_kept(settings)) as store:
        count = store.clear()
    for index in _indexes(settings):
        index.unlink()
        count += 1
    click.echo(f"{count} entries deleted.")


def _kept(settings: Settings) -> DiskStore:
    """What is on disk, also where the settings say that it is not used."""
    store = open_store(msgspec.structs.replace(settings, cache=True))
    assert isinstance(store, DiskStore), "a cache that is used lies on disk"
    return store


def _indexes(settings: Settings) -> list[Path]:
    """The files in which labels can be searched by meaning, also those that a crash has left half written."""
    return sorted((settings.cache_path / "labels").glob("*.labels*"))
