"""What an embedder wants before a text: models of the family E5 tell queries from passages by a prefix.

They are trained with `query: ` before what is searched for and `passage: ` before what is searched (Wang et al. 2022,
Text Embeddings by Weakly-Supervised Contrastive Pre-training), and lose by going without. Those of the family that
are tuned to instructions take another form, and get none of these.
"""

import contextlib
import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from fedkg.config.settings import PrefixChoice

__all__ = ["E5", "NO_PREFIXES", "Prefixes", "prefixes_of", "unmarked"]

FAMILY = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])", re.IGNORECASE)
INSTRUCT = re.compile("instruct", re.IGNORECASE)
MARK = "+e5"
"""Ends the name of a similarity that has the prefixes: what was embedded without them is another thing."""


class Prefixes(NamedTuple):
    """What stands before the text that others are compared with, and before these."""

    query: str = ""
    passage: str = ""

    def marked(self, name: str) -> str:
        """The embedder's name for vectors of texts with these prefixes."""
        return name + MARK if self == E5 else name


NO_PREFIXES = Prefixes()
E5 = Prefixes("query: ", "passage: ")


def prefixes_of(model: str, choice: PrefixChoice = "auto") -> Prefixes:
    """The prefixes that are chosen; `auto`: those of E5 where the model's name says so, or its folder's config.json.

    `model` is a folder, a name on a hub (ORGANISATION/MODEL), or a name that a service has for it; "" for no such.
    """
    if choice != "auto":
        return E5 if choice == "e5" else NO_PREFIXES
    names = _names(model) if model else []
    return E5 if any(FAMILY.search(name) and not INSTRUCT.search(name) for name in names) else NO_PREFIXES


def unmarked(name: str) -> tuple[str, Prefixes]:
    """The embedder's name and the prefixes of a similarity of that name."""
    return (name.removesuffix(MARK), E5) if name.endswith(MARK) else (name, NO_PREFIXES)


def _names(model: str) -> list[str]:
    """What the model is called: the last part of its name, and what its folder says that it was made from."""
    folder = Path(model)
    names = [folder.resolve().name if folder.is_dir() else model.rpartition("/")[2]]
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError, AttributeError):
        made_from = msgspec.json.decode((folder / "config.json").read_bytes()).get("_name_or_path")
        names += [made_from.rstrip("/").rpartition("/")[2]] if isinstance(made_from, str) else []
    return names
