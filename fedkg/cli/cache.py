"""`fedkg cache`: what is kept on disk, and how to get rid of it."""

import contextlib

import click
import msgspec

from fedkg.cli import options
from fedkg.records import encode
from fedkg.session import open_store
from fedkg.settings import Settings
from fedkg.store import DiskStore

__all__ = ["cache"]


@click.group()
def cache() -> None:
    """Show or clear what is kept on disk."""


@cache.command()
@options.place
@options.as_json
def stats(file: str | None, as_json: bool, **flags: object) -> None:
    """Show how many replies, labels and embeddings are kept, and how much space they take."""
    settings = options.settings(file, flags)
    with contextlib.closing(_kept(settings)) as store:
        entries, size = store.count(), store.size()
    if as_json:
        click.echo(encode({"folder": str(settings.cache_path), "bytes": size, "entries": entries}))
        return
    click.echo(f"{settings.cache_path}: {size / 1e6:.1f} MB")
    for namespace, count in entries.items():
        click.echo(f"  {namespace:12} {count}")


@cache.command()
@options.place
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(file: str | None, yes: bool, **flags: object) -> None:
    """Delete everything that is kept."""
    settings = options.settings(file, flags)
    if not yes:
        click.confirm(f"Delete everything in {settings.cache_path}?", abort=True, err=True)
    with contextlib.closing(_kept(settings)) as store:
        count = store.clear()
    click.echo(f"{count} entries deleted.")


def _kept(settings: Settings) -> DiskStore:
    """What is on disk, also where the settings say that it is not used."""
    store = open_store(msgspec.structs.replace(settings, cache=True))
    assert isinstance(store, DiskStore), "a cache that is used lies on disk"
    return store
