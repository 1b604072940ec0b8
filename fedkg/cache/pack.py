"""Packs: what runs touched in the cache as one file; the same questions are answered from it without a network.

A pack is a ZIP archive, not compressed: `manifest.json`, and one member per value, named by the SHA-256 of its bytes.
The same entries give the same bytes. Documents may come along that are no part of the cache: results and questions of a
benchmark. A pack comes from anywhere, so it is checked from end to end before anything of it is kept.
"""

import hashlib
import re
import struct
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple

import msgspec

from fedkg.cache.entries import SKEW, Entry
from fedkg.cache.journal import Keys
from fedkg.cache.store import Store
from fedkg.core.encoding import decode, encode
from fedkg.errors import PackError

__all__ = ["NAMESPACES", "SIZE_LIMIT", "Content", "Document", "Manifest", "documents", "export_pack", "import_pack"]

FORMAT = 1
NAMESPACES = frozenset({"neighbours", "hidden", "labels", "twins", "searches", "known", "embeddings", "replies"})
"""What a pack may hold: replies of endpoints, embedders and models, and nothing of how they came."""
LASTING = frozenset({"embeddings"})
"""What never gets stale. Nothing else in a pack may claim that: even a run with `refresh` would believe it."""
SIZE_LIMIT = 1 << 30
MANIFEST = "manifest.json"
MANIFEST_LIMIT = 256 << 20
MEMBER = re.compile("[0-9a-f]{64}")
ENCRYPTED = 0x1
AT_ONCE = 500
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first instant that a ZIP archive can name."""

Instant = Annotated[float, msgspec.Meta(ge=0)]


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the cache: where its value belongs, the value's SHA-256 and bytes, and when it was stored.

    `stored` and `fresh` are seconds since 1970; `fresh` is None for what never gets stale.
    """

    namespace: str
    key: str
    sha256: Annotated[str, msgspec.Meta(pattern=f"^{MEMBER.pattern}$")]
    size: Annotated[int, msgspec.Meta(ge=0)]
    stored: Instant
    fresh: Instant | None

    @property
    def place(self) -> tuple[str, str]:
        """Where the value belongs."""
        return self.namespace, self.key

    def __str__(self) -> str:
        """The entry in a message."""
        return f"value of {self.namespace} {self.key[:200]!r}"


class Content(NamedTuple):
    """What a document says, and under which licence."""

    value: bytes
    licence: str = ""


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document of a pack: its name, which is no path, its SHA-256 and bytes, and the licence of its contents."""

    name: Annotated[str, msgspec.Meta(pattern=r"^\w[\w.-]{0,199}\Z")]
    sha256: Annotated[str, msgspec.Meta(pattern=f"^{MEMBER.pattern}$")]
    size: Annotated[int, msgspec.Meta(ge=0)]
    licence: str = ""

    def __str__(self) -> str:
        """The document in a message."""
        return f"document {self.name!r}"


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a pack holds: the version of its format, the fedkg that wrote it, its entries, its documents."""

    pack: int
    fedkg: str
    entries: tuple[Item, ...]
    documents: tuple[Document, ...] = ()

    @property
    def held(self) -> tuple[Item | Document, ...]:
        """All that the members hold."""
        return *self.entries, *self.documents

    @property
    def keys(self) -> dict[str, list[str]]:
        """The entries' keys by namespace."""
        keys: dict[str, list[str]] = {}
        for item in self.entries:
            keys.setdefault(item.namespace, []).append(item.key)
        return keys


def export_pack(
    path: Path, store: Store, keys: Keys, attached: Mapping[str, Content] = MappingProxyType({})
) -> Manifest:
    """Writes entries of the store as a pack, with the documents by name; namespaces that no pack holds are left out.

    A file of that name is replaced once the pack is whole. Raises PackError where one of them is not in the store any
    more, where they are too many, or the file cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with zipfile.ZipFile(part, "w") as archive:
            members = _Members(archive)
            entries = tuple(_written(members, store, keys))
            documents = tuple(_attached(members, attached))
            manifest = Manifest(FORMAT, version("fedkg"), entries, documents)
            encoded = encode(manifest)
            if len(encoded) > MANIFEST_LIMIT:
                raise PackError(f"{len(manifest.entries):,} entries are too many for a pack", hint="export fewer runs")
            archive.writestr(_member(MANIFEST), encoded)
        part.replace(path)
    except OSError as error:
        raise PackError(
            f"{path}: {error.strerror or error}", hint="name a file in a folder that you may write to"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def import_pack(path: Path, store: Store, size_limit: int = SIZE_LIMIT) -> Manifest:
    """Puts the entries of a pack into the store, in the place of what was kept there.

    `size_limit` is for all values together, in bytes. Raises PackError where anything of the pack is not as it should
    be; the store is untouched then.
    """
    with _checked(path, size_limit) as (archive, manifest):
        items = {item.place: item for item in manifest.entries}
        for namespace, some in _portions(manifest.keys):
            store.put_entries(namespace, {key: _entry(archive, items[namespace, key]) for key in some})
    return manifest


def documents(path: Path, size_limit: int = SIZE_LIMIT) -> dict[str, bytes]:
    """The documents of a pack by name. Raises PackError as `import_pack` does."""
    with _checked(path, size_limit) as (archive, manifest):
        return {document.name: _value(archive, document) for document in manifest.documents}


class _Members:
    """Writes values into an archive, each once."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._written: set[str] = set()

    def add(self, value: bytes) -> str:
        """The value's SHA-256, which is the member's name."""
        digest = hashlib.sha256(value).hexdigest()
        if digest not in self._written:
            self._archive.writestr(_member(digest), value)
            self._written.add(digest)
        return digest


def _attached(members: _Members, attached: Mapping[str, Content]) -> Iterator[Document]:
    """The documents as the manifest has them, sorted by name; what they say is written on the way."""
    for name, content in sorted(attached.items()):
        yield Document(name, members.add(content.value), len(content.value), content.licence)


def _written(members: _Members, store: Store, keys: Keys) -> Iterator[Item]:
    """The entries as the manifest has them; their values are written on the way."""
    for namespace, some in _portions(keys):
        kept = store.entries(namespace, some)
        for key in some:
            if key not in kept:
                raise PackError(
                    f"the cache no longer holds all that the run touched: {namespace} {key[:200]!r} is gone",
                    hint="run it once more, then export that run",
                )
            entry = kept[key]
            fresh = None if entry.fresh == float("inf") else entry.fresh
            yield Item(namespace, key, members.add(entry.value), len(entry.value), entry.stored, fresh)


def _portions(keys: Keys) -> Iterator[tuple[str, Sequence[str]]]:
    """The keys that a pack may hold, in their order, some at a time."""
    for namespace in sorted(NAMESPACES.intersection(keys)):
        ordered = sorted(keys[namespace])
        for start in range(0, len(ordered), AT_ONCE):
            yield namespace, ordered[start : start + AT_ONCE]


def _member(name: str) -> zipfile.ZipInfo:
    """A member without anything of this machine or moment."""
    member = zipfile.ZipInfo(name, EPOCH)
    member.create_system = 3
    member.external_attr = 0o644 << 16
    return member


@contextmanager
def _checked(path: Path, size_limit: int) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """The archive with its manifest, once all of it is as it should be."""
    with _opened(path) as archive:
        manifest = _manifest(archive)
        _check(archive, manifest, size_limit)
        for item in manifest.held:
            _value(archive, item)
        yield archive, manifest


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; whatever is wrong with it as an archive is a PackError."""
    if path.exists() and not path.is_file():
        raise PackError(f"{path}: this is no regular file")  # of a device or a pipe there may be no end
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except PackError as error:
        error.add_note(f"read from: {path}")
        raise
    except OSError as error:
        raise PackError(f"{path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, struct.error) as error:
        raise PackError(f"{path}: this is no whole pack: {error}") from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    names = archive.namelist()
    if names.count(MANIFEST) != 1:
        raise PackError(f"this is no pack: it has no {MANIFEST}")
    data = _read(archive, MANIFEST, MANIFEST_LIMIT)
    if len(data) > MANIFEST_LIMIT:
        raise PackError(f"{MANIFEST} has more than {MANIFEST_LIMIT:,} bytes")
    try:
        manifest = decode(data, Manifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PackError(f"{MANIFEST}: {error}") from error
    if manifest.pack != FORMAT:
        raise PackError(f"{MANIFEST}: a pack of version {manifest.pack} is not known (this is {FORMAT})")
    return manifest


def _check(archive: zipfile.ZipFile, manifest: Manifest, size_limit: int) -> None:
    """Raises PackError unless the archive's members are those of the manifest, and no more than it may be."""
    names, listed = Counter(archive.namelist()), {item.sha256 for item in manifest.held}
    for name, number in names.items():
        if name != MANIFEST and name not in listed:
            raise PackError(f"the manifest does not list the member {name[:200]!r}")
        if number > 1:
            raise PackError(f"the member {name!r} is there twice")
    if missing := min(listed.difference(names), default=""):
        raise PackError(f"the member {missing} is missing")
    _check_entries(manifest.entries)
    if len({document.name for document in manifest.documents}) != len(manifest.documents):
        raise PackError("the manifest lists a document twice")
    if (size := sum(item.size for item in manifest.held)) > size_limit:
        raise PackError(
            f"the pack's values have {size:,} bytes together; at most {size_limit:,} are taken",
            hint="--max-size takes larger ones",
        )


def _check_entries(entries: Sequence[Item]) -> None:
    """Raises PackError for entries that no cache can have."""
    if len({item.place for item in entries}) != len(entries):
        raise PackError("the manifest lists an entry twice")
    if unknown := {item.namespace for item in entries} - NAMESPACES:
        raise PackError(f"a pack holds no {min(unknown)[:100]!r}")
    for item in entries:
        if item.stored > time.time() + SKEW or (item.fresh is None and item.namespace not in LASTING):
            raise PackError(f"the times of {item.namespace} {item.key[:200]!r} cannot be right")


def _value(archive: zipfile.ZipFile, item: Item | Document) -> bytes:
    """What the manifest lists there. Raises PackError where it is not the one that the manifest names."""
    value = _read(archive, item.sha256, item.size)
    if len(value) != item.size or hashlib.sha256(value).hexdigest() != item.sha256:
        raise PackError(f"the {item} is not the one that was packed")
    return value


def _entry(archive: zipfile.ZipFile, item: Item) -> Entry:
    return Entry(_value(archive, item), item.stored, float("inf") if item.fresh is None else item.fresh)


def _read(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """At most `size` + 1 bytes of a member: what says that it is small and is not, is found out without reading it."""
    info = archive.getinfo(name)
    if info.flag_bits & ENCRYPTED or info.compress_type != zipfile.ZIP_STORED:
        raise PackError(f"the member {name} is encrypted or compressed; packs are neither")
    with archive.open(info) as file:
        return file.read(size + 1)
