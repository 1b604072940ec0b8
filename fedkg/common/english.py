"""English words: their stems and roots, everyday wordings of relations, and kinds of answer; the lists are a data file.

Stems are Snowball's (Porter2); words of one root that it leaves apart, "born" and "birth", have the root of their line
in `english.toml`.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

import msgspec

from fedkg.common.normalize import STOP_WORDS

__all__ = ["English", "Sense", "english", "everyday", "root", "roots", "wordings"]

Phrase = tuple[str, ...]
OUR = re.compile(r"(?<=[a-z]{3})our(?=(?:s|ed|ing|ite|ites|able|hood|hoods)?$)")
ISE = re.compile(r"(?<=[a-z]{3})(?<![cv])is(?=(?:e|es|ed|er|ers|ing|ation|ations)$)")
"""British spelling: "tumour", "localise"; "revise" and "precise", with nouns in "ision", are spelled so everywhere."""


class Sense(msgspec.Struct, frozen=True):
    """A relation as graphs name it and as people ask for it: phrases, each a tuple of roots."""

    names: tuple[Phrase, ...]
    words: tuple[Phrase, ...]


class English(msgspec.Struct, frozen=True):
    """The word lists, most of them by roots: see the data file, whose parts are called alike.

    `agent_nouns`, `fillers`, `symmetric`, `identities`, `spellings`, `nouns_in_ie`, `unread`, `inverses` and
    `compounds` are as written. `sexed` maps a word, as written, to all words for the same sex and kinship. `kinds` maps
    a root to the kinds of answer that it names, `asks` a question word to those that it asks for.
    """

    senses: tuple[Sense, ...]
    fillers: frozenset[str]
    agents: frozenset[str]
    agent_nouns: frozenset[str]
    symmetric: frozenset[str]
    identities: frozenset[str]
    framed: tuple[tuple[str, str, str], ...]
    spellings: tuple[tuple[str, str], ...]
    nouns_in_ie: frozenset[str]
    unread: frozenset[str]
    sexed: Mapping[str, frozenset[str]]
    inverses: Mapping[str, str]
    compounds: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, frozenset[str]]
    asks: Mapping[str, frozenset[str]]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    families: tuple[str, ...]
    fillers: str
    agents: str
    symmetric: tuple[str, ...]
    identities: tuple[str, ...]
    framed: tuple[tuple[str, str, str], ...]
    spellings: tuple[tuple[str, str], ...]
    nouns_in_ie: str
    unread: str
    sexed: tuple[str, ...]
    sense: tuple[dict[str, tuple[str, ...]], ...]
    inverses: dict[str, str]
    compounds: dict[str, tuple[str, ...]]
    kinds: dict[str, str]
    asks: dict[str, str]


@lru_cache(maxsize=1)
def _file() -> _File:
    text = files("fedkg.common").joinpath("english.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _File)


@lru_cache(maxsize=1)
def _families() -> dict[str, str]:
    """Each stem of a family to that of its first word."""
    lines = [line.split() for line in _file().families]
    return {_stem(word): _stem(line[0]) for line in lines for word in line}


@lru_cache(maxsize=1 << 14)
def root(word: str, *, as_written: bool = False) -> str:
    """The stem of a word in small letters, or what all words of its family have: "directors" as "directed".

    Words that are spelled otherwise in Britain and America have one root, unless they are to count `as_written`.
    """
    stem = _stemmer()(word) if as_written else _stem(word)
    return _families().get(stem, stem)


def roots(text: str | Iterable[str], *, as_written: bool = False) -> Phrase:
    """The roots of some words, in their order."""
    return tuple(root(word, as_written=as_written) for word in (text.split() if isinstance(text, str) else text))


@lru_cache(maxsize=1)
def english() -> English:
    """The word lists."""
    file = _file()
    kinds: dict[str, set[str]] = {}
    for kind, words in file.kinds.items():
        for word in roots(words):
            kinds.setdefault(word, set()).add(kind)
    return English(
        tuple(Sense(_phrases(sense["names"]), _phrases(sense["words"])) for sense in file.sense),
        frozenset(file.fillers.split()),
        frozenset(roots(file.agents)),
        frozenset(file.agents.split()),
        frozenset(file.symmetric),
        frozenset(file.identities),
        file.framed,
        file.spellings,
        frozenset(file.nouns_in_ie.split()),
        frozenset(file.unread.split()),
        {word: frozenset(line.split()) for line in file.sexed for word in line.split()},
        file.inverses,
        file.compounds,
        {word: frozenset(named) for word, named in kinds.items()},
        {word: frozenset(named.split()) for word, named in file.asks.items()},
    )


def everyday(word: str) -> bool:
    """Whether questions ask for something by a word, in small letters: a small one, or that of a relation or kind."""
    return word in STOP_WORDS or word in english().fillers or root(word) in _asking()


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    """The roots of all words by which relations and kinds are called."""
    lists = english()
    short = roots(form for form, _ in lists.spellings if form.isalpha())
    phrases = (phrase for sense in lists.senses for phrase in (*sense.names, *sense.words))
    return lists.agents.union(lists.kinds, short, *phrases)


@lru_cache(maxsize=1 << 12)
def wordings(relation: str) -> tuple[str, ...]:
    """How people ask for a relation of that name, and what else it is called, as it stands in the lists."""
    wanted = roots(relation.lower())
    lists = (sense for sense in _file().sense if wanted in _phrases(sense["names"]))
    return tuple(dict.fromkeys(text for sense in lists for text in (*sense["names"], *sense["words"])))


def _phrases(texts: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(roots(text) for text in texts)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from Stemmer import Stemmer  # noqa: PLC0415  # not before a word is stemmed

    stemmer: Callable[[str], str] = Stemmer("english").stemWord
    return stemmer


def _stem(word: str) -> str:
    """The stem of the American spelling."""
    return _stemmer()(ISE.sub("iz", OUR.sub("or", word)))
