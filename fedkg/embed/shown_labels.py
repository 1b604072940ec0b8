"""The labels that walks have shown, as plain text in a file, until somebody searches them by meaning.

To write them down takes milliseconds; to embed them takes seconds and loads a model. So a session that closes writes
them down, and the first search by meaning embeds those that are new.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fedkg.cache.folders import claim, read_bounded
from fedkg.common.bounded import BoundedDict
from fedkg.core.terms import Iri, Term

__all__ = ["MOST_LABELS", "ShownLabels"]

MOST_LABELS = 20_000
"""Labels that wait to be searched; more than a thousand questions show. What was shown longest ago makes room."""
CLIP = 500
"""Characters of one label: a name is shorter, and a text that is longer is known by its beginning."""
LONGEST = 4_000
"""Characters of one line; an IRI beyond them is no name of anything."""
MOST_BYTES = MOST_LABELS * LONGEST


class ShownLabels:
    """The labels that one session's walks have shown.

    `save` adds them to those of other sessions over the same graph.
    """

    def __init__(self) -> None:
        self._shown: BoundedDict[Term, str] = BoundedDict(MOST_LABELS)

    def add(self, labels: Mapping[Term, str]) -> None:
        """Remembers the labels of entities and relations."""
        self._shown.keep({term: label[:CLIP] for term, label in labels.items() if isinstance(term, Iri)})

    def all(self) -> dict[Term, str]:
        """Those of this session."""
        return self._shown.snapshot()

    def save(self, folder: Path, graph: str) -> None:
        """Adds them to what the folder has of that graph. Raises OSError where it cannot be written.

        Of two processes that do so at the same moment the later one wins.
        """
        before = saved(folder, graph)
        labels = before | self._shown.snapshot()
        if labels != before:
            lines = (
                json.dumps([iri.value, label])
                for iri, label in list(labels.items())[-MOST_LABELS:]
                if isinstance(iri, Iri)
            )
            _replace(_file(folder, graph), "\n".join(line for line in lines if len(line) < LONGEST))


def saved(folder: Path, graph: str) -> dict[Term, str]:
    """What sessions over that graph have written down in the folder; nothing where nothing can be read."""
    labels: dict[Term, str] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        for line in read_bounded(_file(folder, graph), MOST_BYTES).decode().splitlines()[-MOST_LABELS:]:
            with contextlib.suppress(ValueError, TypeError):
                iri, label = json.loads(line[:LONGEST])
                labels[Iri(str(iri))] = str(label)[:CLIP]
    return labels


def _file(folder: Path, graph: str) -> Path:
    return folder / f"{hashlib.blake2s(graph.encode(), digest_size=12).hexdigest()}.shown"


def _replace(file: Path, text: str) -> None:
    """Puts the file in its place in one step."""
    claim(file.parent)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".new")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
