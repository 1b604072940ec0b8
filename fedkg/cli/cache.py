"""`fedkg cache`: what is kept, on disk or on a server, how to get rid of it, and how to take it elsewhere."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from fedkg.cache.disk import DiskStore
from fedkg.cache.folders import is_plain
from fedkg.cache.journal import Journal
from fedkg.cache.pack import SIZE_LIMIT, export_pack, import_pack
from fedkg.cli import options
from fedkg.cli.show import plain
from fedkg.config.settings import Settings
from fedkg.core.encoding import encode
from fedkg.errors import PackError
from fedkg.wiring.adapters import lasting_store

__all__ = ["cache"]

LABEL_FILES = {"label indexes": "*.labels*", "shown labels": "*.shown*"}
"""Files beside the entries, by name: labels that can be searched by meaning, and those that wait for it."""


@click.group()
def cache() -> None:
    """Show or clear what is kept on disk, or on the server `cache_url`; export runs as packs; import packs.

    A pack holds all that a question's answer came from. Where it is imported, the same question gives the same
    document with --mode offline: nothing is sent.
    """


@cache.command()
@options.place
@options.as_json
def stats(file: str | None, as_json: bool, **flags: object) -> None:
    """Show how many replies, labels, embeddings and files of labels are kept, and how much space they take.

    Beyond the limit (setting `cache_size`, in MB) the oldest entries go; how many have gone so far is shown too. How
    full a shared cache gets is its server's own policy.
    """
    settings = options.settings(file, flags)
    with contextlib.closing(lasting_store(settings)) as store:
        entries, size, place = store.count(), store.size(), store.name
        limit, evicted = (store.size_limit, store.evicted()) if isinstance(store, DiskStore) else (None, {})
    for name, files in _label_files(settings).items():
        entries[name] = _graphs(files)
        size += sum(path.stat().st_size for path in files)
    if as_json:
        kind = "server" if settings.cache_url else "folder"
        click.echo(encode({kind: place, "bytes": size, "limit": limit, "evicted": evicted, "entries": entries}))
        return
    click.echo(f"{place}: {size / (1 << 20):.1f} MB" + (f" of {limit >> 20:,} MB" if limit else ""))
    _list(entries)
    if evicted:
        went = ", ".join(f"{count:,} {plain(namespace)}" for namespace, count in evicted.items())
        click.echo(f"gone for want of room: {went}")


@cache.command()
@options.place
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(file: str | None, yes: bool, **flags: object) -> None:
    """Delete all replies, labels, embeddings and files of labels that are kept.

    Where the cache is shared that is what fedkg keeps on its server, for all machines; the local folder stays as it is.
    """
    settings = options.settings(file, flags)
    with contextlib.closing(lasting_store(settings)) as store:
        if not yes:
            shared = ", the shared cache, for all machines" if settings.cache_url else ""
            click.confirm(f"Delete all that is kept in {store.name}{shared}?", abort=True, err=True)
        count = store.clear()
    for files in _label_files(settings).values():
        count += _graphs(files)
        for path in files:
            path.unlink(missing_ok=True)
    click.echo(f"{count} entries deleted.")


@cache.command("runs")
@options.place
@options.as_json
def every(file: str | None, as_json: bool, **flags: object) -> None:
    """List the latest runs, the newest last: each command or session that touched the cache, and what it was asked.

    A run of more than 500,000 entries is not noted entry by entry, and cannot be exported.
    """
    with contextlib.closing(lasting_store(options.settings(file, flags))) as store:
        runs = Journal(store).all()
    if as_json:
        click.echo(encode(runs))
        return
    for run in runs:
        touched = "too many" if run.entries is None else f"{run.entries:,}"
        click.echo(f"{plain(run.id)}  {plain(run.at)}  {touched:>8} entries  {plain('; '.join(run.asked))}")


@cache.command("export")
@click.argument("pack", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--run", "names", multiple=True, metavar="ID", help="A run that `cache runs` lists; several times.")
@options.place
def exported(pack: Path, names: tuple[str, ...], file: str | None, **flags: object) -> None:
    """Write what the latest run touched, or the runs named with --run, as the file PACK.

    It holds what endpoints returned, the vectors of texts, and the model's replies where it was asked with --replies;
    neither folders of this machine, nor keys, nor who asked. The same run gives the same bytes.
    """
    with contextlib.closing(lasting_store(options.settings(file, flags))) as store:
        manifest = export_pack(pack, store, _touched(Journal(store), names))
    _list({namespace: len(keys) for namespace, keys in manifest.keys.items()})
    click.echo(f"{len(manifest.entries)} entries written to {pack}.")


@cache.command("import")
@click.argument("pack", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--max-size", default=SIZE_LIMIT >> 20, type=options.MEGABYTES, show_default=True, metavar="MB")
@options.place
def imported(pack: Path, max_size: int, file: str | None, **flags: object) -> None:
    """Keep all that the file PACK holds, in the place of what is kept now; a damaged pack changes nothing.

    A pack stands for what endpoints returned: import it only from somebody whom you trust.
    """
    with contextlib.closing(lasting_store(options.settings(file, flags))) as store:
        manifest = import_pack(pack, store, max_size << 20)
        Journal(store).add([f"import {pack.name}"], manifest.keys)
    click.echo(f"{len(manifest.entries)} entries imported from {pack}.")


def _touched(runs: Journal, names: Sequence[str]) -> dict[str, set[str]]:
    """What the named runs, or else the latest one, touched. Raises PackError where there is none."""
    if not names and not (latest := runs.all()[-1:]):
        raise PackError("there is no run to export", hint="ask something first; with --no-cache nothing is noted")
    touched: dict[str, set[str]] = {}
    for name in names or [latest[0].id]:
        for namespace, keys in runs.keys(name).items():
            touched.setdefault(namespace, set()).update(keys)
    return touched


def _list(entries: Mapping[str, int]) -> None:
    for namespace, count in entries.items():
        click.echo(f"  {plain(namespace):14} {count}")


def _graphs(files: Sequence[Path]) -> int:
    """Of how many graphs these are; an index has a file, a log and a lock."""
    return len({path.name.split(".")[0] for path in files})


def _label_files(settings: Settings) -> dict[str, list[Path]]:
    """The files of labels by name, also those that a crash has left half written; a name without files is left out.

    None beside a shared cache: they are those of the folder.
    """
    if settings.cache_url:
        return {}
    folder = settings.cache_path / "labels"
    if folder.is_symlink():
        return {}  # what lies behind a link is not the cache's
    files = {name: sorted(filter(is_plain, folder.glob(pattern))) for name, pattern in LABEL_FILES.items()}
    return {name: paths for name, paths in files.items() if paths}
