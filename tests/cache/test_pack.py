"""Packs: what goes in comes out, the same bytes each time; what is damaged or planted changes nothing."""

import hashlib
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.cache.disk import DiskStore
from fedkg.cache.entries import Entry, table_key
from fedkg.cache.memory import MemoryStore
from fedkg.cache.pack import NAMESPACES, Content, documents, export_pack, import_pack
from fedkg.errors import CacheError, PackError

EVER = float("inf")
KEPT = {"k1": Entry(b"one", 5.0, 10.5), "k2": Entry(b"", 6.0, 1e12), "k3": Entry(b"one", 7.0, 0.0)}
DIGEST = hashlib.sha256(b"one").hexdigest()
KEYS = st.text(st.characters(), max_size=8).map(table_key)
TIMES = st.floats(0, 1e9)
ENTRIES = st.dictionaries(KEYS, st.builds(Entry, st.binary(max_size=40), TIMES, TIMES), max_size=5)
LASTING = st.dictionaries(KEYS, st.builds(Entry, st.binary(max_size=40), TIMES, st.just(EVER)), max_size=5)


@pytest.fixture
def store() -> MemoryStore:
    """A store with three labels, two of them the same text."""
    store = MemoryStore()
    store.put_entries("labels", KEPT)
    return store


@pytest.fixture
def pack(store: MemoryStore, tmp_path: Path) -> Path:
    """The pack of these labels."""
    path = tmp_path / "run.pack"
    export_pack(path, store, {"labels": KEPT})
    return path


def members(path: Path) -> dict[str, bytes]:
    """A pack's members by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None], compression: int = zipfile.ZIP_STORED) -> None:
    """Writes the pack anew with other members."""
    contents = members(path)
    change(contents)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, value in contents.items():
            archive.writestr(name, value)


def edited(path: Path, fields: dict[str, Any]) -> None:
    """Changes fields of the manifest's first entry."""

    def change(contents: dict[str, bytes]) -> None:
        manifest = json.loads(contents["manifest.json"])
        manifest["entries"][0] |= fields
        contents["manifest.json"] = json.dumps(manifest).encode()

    rewritten(path, change)


def refused(path: Path, match: str) -> None:
    """The pack is refused with that message, and the store that it was for stays as it was."""
    target = MemoryStore()
    target.put_many("labels", {"k1": b"mine"})
    with pytest.raises(PackError, match=match) as caught:
        import_pack(path, target)
    assert str(path) in " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert (target.count(), target.get_many("labels", ["k1"])) == ({"labels": 1}, {"k1": b"mine"})


@given(contents=st.dictionaries(st.sampled_from(sorted(NAMESPACES)), ENTRIES), lasting=LASTING)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_goes_in_comes_out(
    tmp_path: Path, contents: dict[str, dict[str, Entry]], lasting: dict[str, Entry]
) -> None:
    """Export, import and export again: the same entries with their times, and the same bytes."""
    here, there, contents = MemoryStore(), MemoryStore(), contents | {"embeddings": lasting}
    for namespace, entries in contents.items():
        here.put_entries(namespace, entries)
    export_pack(tmp_path / "a", here, contents)
    manifest = import_pack(tmp_path / "a", there)
    assert all(there.entries(namespace, list(entries)) == entries for namespace, entries in contents.items())
    assert there.count() == here.count()
    export_pack(tmp_path / "b", there, manifest.keys)
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_the_order_of_keys_is_no_matter(store: MemoryStore, pack: Path, tmp_path: Path) -> None:
    """The same entries are the same pack, however they are listed."""
    export_pack(tmp_path / "other", store, {"labels": reversed(KEPT)})
    assert (tmp_path / "other").read_bytes() == pack.read_bytes()


def test_a_pack_is_an_archive_that_others_can_read(pack: Path) -> None:
    """Values lie in it by their SHA-256, equal ones once; the manifest says what they are."""
    contents = members(pack)
    manifest = json.loads(contents.pop("manifest.json"))
    assert contents == {hashlib.sha256(value).hexdigest(): value for value in (b"one", b"")}
    first = {"namespace": "labels", "key": "k1", "sha256": DIGEST, "size": 3, "stored": 5.0, "fresh": 10.5}
    assert (manifest["pack"], manifest["entries"][0]) == (1, first)
    with zipfile.ZipFile(pack) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_only_what_was_said_goes_in(store: MemoryStore, tmp_path: Path) -> None:
    """Runs and what was learned of an endpoint's patience stay here."""
    store.put_many("runs", {"index": b"[]"})
    store.put_many("batch", {"k": b"25"})
    manifest = export_pack(tmp_path / "p", store, {"labels": ["k1"], "runs": ["index"], "batch": ["k"]})
    assert manifest.keys == {"labels": ["k1"]}


def test_an_entry_that_is_gone_cannot_be_packed(store: MemoryStore, pack: Path) -> None:
    """A pack that would not answer is not written; the old file stays."""
    before = pack.read_bytes()
    store.drop("labels", ["k2"])
    with pytest.raises(PackError, match="labels 'k2' is gone"):
        export_pack(pack, store, {"labels": KEPT})
    assert pack.read_bytes() == before
    assert [path.name for path in pack.parent.iterdir()] == [pack.name]


def test_more_than_an_import_takes_is_not_written(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack that nobody could import is no pack."""
    monkeypatch.setattr("fedkg.cache.pack.MANIFEST_LIMIT", 100)
    with pytest.raises(PackError, match="3 entries are too many"):
        export_pack(tmp_path / "p", store, {"labels": KEPT})
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(store: MemoryStore, tmp_path: Path) -> None:
    """A folder that is not there is bad input."""
    with pytest.raises(PackError, match="No such file"):
        export_pack(tmp_path / "none" / "p", store, {})


def test_import_replaces_what_was_there(pack: Path, tmp_path: Path) -> None:
    """The pack's values count, in a store on disk too; what it does not name stays."""
    store = DiskStore(tmp_path)
    store.put_many("labels", {"k1": b"mine", "mine": b"stays"})
    import_pack(pack, store)
    assert store.entries("labels", list(KEPT)) == KEPT
    assert store.get_many("labels", ["mine"]) == {"mine": b"stays"}
    store.close()


def test_a_store_that_cannot_be_written(pack: Path, tmp_path: Path) -> None:
    """An import that fails for the cache's sake says so, instead of keeping nothing silently."""
    store = DiskStore(tmp_path)
    with sqlite3.connect(tmp_path / "store" / "cache.db") as file:
        file.execute("DROP TABLE Cache")
    file.close()
    with pytest.raises(CacheError, match="cannot be kept"):
        import_pack(pack, store)
    store.close()


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"sha256": hashlib.sha256(b"other").hexdigest()}, "is missing|does not list"),
        ({"sha256": "../../etc/passwd"}, "sha256"),
        ({"size": 2}, "not the one that was packed"),
        ({"size": 4}, "not the one that was packed"),
        ({"size": -1}, "size"),
        ({"size": 10**12}, "bytes together; at most"),
        ({"key": "k2"}, "lists an entry twice"),
        ({"namespace": "runs"}, "holds no 'runs'"),
        ({"namespace": "manners"}, "holds no 'manners'"),
        ({"namespace": "labels\nx"}, "holds no"),
        ({"stored": -1.0}, "stored"),
        ({"stored": "now"}, "stored"),
        ({"path": "/etc"}, "unknown field"),
        ({"fresh": None}, "times of labels 'k1'"),
        ({"stored": 1e11}, "times of labels 'k1'"),
        ({"namespace": "replies", "fresh": None}, "times of replies 'k1'"),
        ({"fresh": 10**400}, "fresh|range|number"),
    ],
)
def test_a_manifest_that_lies_is_refused(pack: Path, fields: dict[str, Any], match: str) -> None:
    """Whatever it says that is not so, or not its to say."""
    edited(pack, fields)
    refused(pack, match)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "..\\evil", "a/b", "manifest.json/../x", "extra", "0" * 64, "ns/"]
)
def test_members_that_are_not_listed_are_refused(pack: Path, name: str) -> None:
    """A name that leads out of the folder, or any other that the manifest does not list."""
    rewritten(pack, lambda contents: contents.update({name: b"x"}))
    refused(pack, "does not list the member")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda contents: contents.pop(DIGEST), "is missing"),
        (lambda contents: contents.update({DIGEST: b"two"}), "labels 'k1' is not the one"),
        (lambda contents: contents.pop("manifest.json"), "has no manifest"),
        (lambda contents: contents.update({"manifest.json": b"[]"}), "manifest.json: "),
        (lambda contents: contents.update({"manifest.json": b"[" * 100_000}), "manifest.json: "),
        (lambda contents: contents.update({"manifest.json": b'{"pack":2,"fedkg":"","entries":[]}'}), "version 2"),
    ],
)
def test_changed_members_are_refused(pack: Path, change: Callable[[dict[str, bytes]], None], match: str) -> None:
    """A value that is another one or gone, a manifest that is none."""
    rewritten(pack, change)
    refused(pack, match)


def test_a_member_that_is_there_twice_is_refused(pack: Path) -> None:
    """Of two members with one name it is not known which one was checked."""
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(pack, "a") as archive:
        archive.writestr(DIGEST, b"one")
    refused(pack, "is there twice")


def test_very_many_of_one_member_are_refused_at_once(pack: Path) -> None:
    """What is looked at grows with the archive, not with its square."""
    with zipfile.ZipFile(pack, "a") as archive:
        member = archive.getinfo(DIGEST)
        archive.filelist += [member] * 60_000
        archive._didModify = True  # type: ignore[attr-defined]  # the directory is written anew
    refused(pack, "is there twice")


def test_a_bomb_is_not_unpacked(pack: Path) -> None:
    """A hundred megabytes in a hundred kilobytes are refused, whatever size the manifest names."""
    rewritten(pack, lambda contents: contents.update({DIGEST: bytes(100 << 20)}), zipfile.ZIP_DEFLATED)
    assert pack.stat().st_size < 200_000
    refused(pack, "encrypted or compressed")


def test_no_more_is_read_than_declared(pack: Path) -> None:
    """A member that is longer than the manifest says is found out after one byte too many."""
    rewritten(pack, lambda contents: contents.update({DIGEST: bytes(1 << 20)}))
    refused(pack, "labels 'k1' is not the one")


def test_a_large_pack_needs_a_word(pack: Path) -> None:
    """Values beyond the limit are taken only where the caller raises it."""
    with pytest.raises(PackError, match="6 bytes together; at most 5") as caught:
        import_pack(pack, MemoryStore(), 5)
    assert "--max-size" in caught.value.hint
    assert len(import_pack(pack, MemoryStore(), 6).entries) == 3


def test_a_manifest_that_is_too_long(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not read to its end."""
    monkeypatch.setattr("fedkg.cache.pack.MANIFEST_LIMIT", 100)
    refused(pack, "more than 100 bytes")


def test_an_encrypted_member_is_refused(pack: Path) -> None:
    """The flag that says so is enough."""
    data = bytearray(pack.read_bytes())
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + offset] |= 1
    pack.write_bytes(data)
    refused(pack, "encrypted")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_pack(tmp_path: Path, content: bytes) -> None:
    """Other files are bad input."""
    (tmp_path / "x").write_bytes(content)
    refused(tmp_path / "x", "no whole pack|has no manifest")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A folder, or a pipe that nobody may ever write to, is not opened."""
    make(tmp_path / "x")
    refused(tmp_path / "x", "no regular file")


def test_a_pack_that_is_not_there(tmp_path: Path) -> None:
    """A file that cannot be opened is named."""
    refused(tmp_path / "none", "No such file")


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_any_changed_byte_is_harmless(store: MemoryStore, tmp_path: Path, data: st.DataObject) -> None:
    """A pack with one byte changed, or cut short, gives what was packed or nothing."""
    path, changed = tmp_path / "run.pack", tmp_path / "changed.pack"
    if not path.exists():
        export_pack(path, store, {"labels": KEPT})
    whole = path.read_bytes()
    place, byte = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 255))
    cut = data.draw(st.booleans())
    changed.write_bytes(whole[:place] if cut else whole[:place] + bytes([byte]) + whole[place + 1 :])
    target = MemoryStore()
    try:
        import_pack(changed, target)
    except PackError:
        assert target.count() == {}
    else:
        assert target.entries("labels", list(KEPT)) == KEPT


@given(values=st.dictionaries(st.from_regex(r"\A\w[\w.-]{0,20}\Z"), st.binary(max_size=40), max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_documents_come_along(store: MemoryStore, tmp_path: Path, values: dict[str, bytes]) -> None:
    """They come out as they went in, whatever they share with entries; an import keeps the entries alone."""
    path = tmp_path / "run.pack"
    export_pack(path, store, {"labels": KEPT}, {name: Content(value, "MIT") for name, value in values.items()})
    assert documents(path) == values
    target = MemoryStore()
    manifest = import_pack(path, target)
    assert {document.licence for document in manifest.documents} <= {"MIT"}
    assert target.entries("labels", list(KEPT)) == KEPT
    assert target.count() == {"labels": 3}


def test_a_pack_without_documents_is_as_it_always_was(pack: Path) -> None:
    """An older fedkg reads it."""
    assert set(json.loads(members(pack)["manifest.json"])) == {"pack", "fedkg", "entries"}
    assert documents(pack) == {}


@pytest.fixture
def documented(store: MemoryStore, tmp_path: Path) -> Path:
    """A pack with a document of four bytes."""
    path = tmp_path / "run.pack"
    export_pack(path, store, {"labels": KEPT}, {"res": Content(b"four")})
    return path


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"name": "../x"}, "manifest.json: .*name"),
        ({"name": "x\n"}, "manifest.json: .*name"),
        ({"size": 5}, "document 'res' is not the one"),
        ({"sha256": DIGEST}, "does not list the member"),
        ({"sha256": "0" * 64}, "does not list the member"),
        ({"folder": "/"}, "manifest.json: .*folder"),
    ],
)
def test_a_document_that_is_no_such_is_refused(documented: Path, fields: dict[str, Any], match: str) -> None:
    """Names, sizes and checksums are held to what the manifest may say, also where only documents are read."""

    def change(contents: dict[str, bytes]) -> None:
        manifest = json.loads(contents["manifest.json"])
        manifest["documents"][0] |= fields
        contents["manifest.json"] = json.dumps(manifest).encode()

    rewritten(documented, change)
    refused(documented, match)
    with pytest.raises(PackError, match=match):
        documents(documented)


def test_a_document_that_is_listed_twice_is_refused(documented: Path) -> None:
    """Which one counts would be a matter of the reader."""

    def change(contents: dict[str, bytes]) -> None:
        manifest = json.loads(contents["manifest.json"])
        manifest["documents"] *= 2
        contents["manifest.json"] = json.dumps(manifest).encode()

    rewritten(documented, change)
    refused(documented, "lists a document twice")


def test_documents_count_for_the_size(documented: Path) -> None:
    """Values and documents together."""
    with pytest.raises(PackError, match="10 bytes together; at most 9"):
        documents(documented, 9)
