"""What the cache's SQLite file may consist of, looked at before diskcache opens it.

diskcache sets attributes of its own object from a table of that file, and triggers or views in it would run whenever a
row is read or written. A journal beside it can name any file, which SQLite then deletes. So a file that holds more than
diskcache itself makes is not opened.
"""

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from fedkg.cache.folders import is_plain

__all__ = ["SCHEMA", "SECONDS", "check", "digest"]

SECONDS = 60.0  # that another process may hold the file
SCHEMA = frozenset(
    {
        "a4f7f67212c4b046",  # table Settings
        "adefc4c8d3640b2d",  # its index
        "b562cb1c98adf967",  # table Cache
        "ed48b4072d69569b",  # its index by key
        "8f3d18fb5d2f78e8",  # by time of expiry
        "c82a4e28bce7c638",  # by time of storing
        "3be07738edf3ada7",  # triggers that count rows and sizes
        "cf1b5c6c3b96dfd8",
        "63dcda0fcedce93f",
        "c193fa494810aa93",
        "dc9a3f2897b442cd",
    }
)
"""Digests of what diskcache creates, statement by statement; a file that is just being made has some of it."""
LONGEST = 2_000
"""Characters of a statement or a key that are looked at: none of ours has as many."""
MAGIC = bytes.fromhex("d9d505f920a163d7")
"""Ends a journal that names another (sqlite.org/fileformat2.html#the_rollback_journal)."""


def check(file: Path, known: Mapping[str, object]) -> bool:
    """Whether the file holds all that diskcache makes there.

    `known` are the settings that diskcache keeps in it, with their values. Raises sqlite3.DatabaseError for a file that
    holds what diskcache did not make there, or is no regular one.
    """
    journal = file.with_name(f"{file.name}-journal")
    beside = [file, journal, *(file.with_name(f"{file.name}-{part}") for part in ("wal", "shm"))]
    if odd := next((path for path in beside if os.path.lexists(path) and not is_plain(path)), None):
        raise sqlite3.DatabaseError(f"{odd.name} is no regular file")
    if _names_another(journal):
        raise sqlite3.DatabaseError(f"{journal.name} names another file")
    if is_plain(file):
        with contextlib.closing(sqlite3.connect(file, timeout=SECONDS)) as connection:
            return _check_schema(connection) & _check_settings(connection, known)
    return False


def digest(kind: object, name: object, statement: object) -> str:
    """What tells a statement of the schema from others."""
    return hashlib.sha256(f"{kind} {name} {statement}".encode(errors="replace")).hexdigest()[:16]


def _names_another(journal: Path) -> bool:
    """Whether a rollback journal ends with the name of one that several files share; a single file never has such."""
    with contextlib.suppress(FileNotFoundError), journal.open("rb") as stream:
        stream.seek(-min(len(MAGIC), stream.seek(0, os.SEEK_END)), os.SEEK_END)
        return stream.read() == MAGIC
    return False


def _check_schema(connection: sqlite3.Connection) -> bool:
    """Whether the file has all tables, indexes and triggers; raises for any other."""
    found = set()
    query = "SELECT type, substr(name, 1, :most), substr(sql, 1, :most) FROM sqlite_master"
    for kind, name, statement in connection.execute(query, {"most": LONGEST}):
        if (known := digest(kind, name, statement)) not in SCHEMA:
            raise sqlite3.DatabaseError(f"the {kind} {str(name)[:60]!r} in it was not made by fedkg")
        found.add(known)
    return found == SCHEMA


def _check_settings(connection: sqlite3.Connection, known: Mapping[str, object]) -> bool:
    """Whether all settings are there.

    Raises for one that diskcache does not have, or one of SQLite's that is not as it sets it.
    """
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchall():
        return False  # it is just being made
    found = set()
    query = "SELECT substr(key, 1, :most), substr(value, 1, :most) FROM Settings"
    for key, value in connection.execute(query, {"most": LONGEST}):
        odd = str(key).startswith("sqlite_") and value != str(known.get(str(key)))
        if key not in known or odd:
            raise sqlite3.DatabaseError(f"the setting {str(key)[:60]!r} in it was not made by fedkg")
        found.add(key)
    return found == known.keys()
