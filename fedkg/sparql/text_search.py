"""Look-ups of entities by words, as each engine can do them, and what a candidate is, as query text.

Of the text that is looked up only letters and digits enter an expression of an engine's own search language, so nothing
in it can be an operator there.
"""

import re
import unicodedata
from collections.abc import Sequence

from fedkg.common.normalize import STOP_WORDS
from fedkg.config.profiles import Labels
from fedkg.core.terms import Iri, Literal
from fedkg.errors import InputError
from fedkg.sparql.build import spoken

__all__ = ["about", "by_words", "words"]

MOST_WORDS = 8
LONGEST_WORD = 40
LONGEST_TEXT = 250
"""Wikidata's search gives nothing, and no error, for a longer text."""
PREFIX = 4
"""Least letters of a word that may stand for all words that begin so; Virtuoso rejects shorter ones, QLever too."""
IDEOGRAPHS = "\u2e80"
"""From here on a character may be a word of its own, so that their number says nothing about a prefix."""
WORD = re.compile(r"[^\W_]+")
QLEVER = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
BIGDATA = "http://www.bigdata.com/rdf#"
WIKIBASE = "http://wikiba.se/ontology#"
MWAPI = "https://www.mediawiki.org/ontology#API/"


def words(text: str) -> list[str]:
    """The words to look for, lower case: neither stop words nor single letters nor what is too long for a word."""
    all_words = WORD.findall(unicodedata.normalize("NFC", text).lower())
    asked = [word for word in all_words if word not in STOP_WORDS and len(word) <= LONGEST_WORD and not _letter(word)]
    return list(dict.fromkeys(asked))[:MOST_WORDS]


def by_words(kind: str, text: str, shape: Labels, languages: Sequence[str], limit: int) -> str:
    """The entities that are called something with all words of the text: rows (e, l), l being the label or alias.

    `kind` is a profile's `lookup.kind` that a query can serve: bif, qlever, mwapi. Raises InputError where it is none
    of them, or where the text holds nothing to look for.
    """
    asked = words(text)
    if not asked or len(text) > LONGEST_TEXT:
        raise InputError("the text holds no words to look for, or too many")
    match kind:
        case "bif":
            return _bif(asked, shape, languages, limit)
        case "qlever":
            return _qlever(asked, shape, languages, limit)
        case "mwapi":
            return _mwapi(text, languages, limit)
    raise InputError("this engine brings no search in labels along")


def about(entities: Sequence[Iri], shape: Labels, languages: Sequence[str], limit: int) -> str:
    """What the entities are: rows (e, d) with a description, and (e, t, l<n>) with the label of a type."""
    values = f"VALUES ?e {{ {' '.join(entity.n3() for entity in entities)} }}"
    branches = (
        [f"{values} ?e {Iri(shape.description).n3()} ?d . {spoken('?d', languages)}"] if shape.description else []
    )
    if shape.type:
        typed = f"{values} ?e {Iri(shape.type).n3()} ?t ."
        branches += [
            f"{typed} ?t {Iri(predicate).n3()} ?l{number} . {spoken(f'?l{number}', languages)}"
            for number, predicate in enumerate(shape.predicates)
        ]
    union = " UNION ".join(f"{{ {branch} }}" for branch in branches)
    return f"SELECT * WHERE {{ {union} }} LIMIT {limit}"


def _bif(asked: Sequence[str], shape: Labels, languages: Sequence[str], limit: int) -> str:
    """Virtuoso's full text: it may stand after a triple pattern only, and not in several branches of a UNION (#835).

    The predicates stand in a filter: with one of them in the pattern Virtuoso reads all its labels for a common word.
    """
    expression = Literal(" AND ".join(f"'{_prefix(word)}'" for word in asked))
    named = ", ".join(Iri(predicate).n3() for predicate in _predicates(shape))
    triples = f"?e ?p ?l . ?l <bif:contains> {expression.n3()} ."
    return _shortest(f"{triples} FILTER(?p IN ({named})) {spoken('?l', languages)}", limit)


def _qlever(asked: Sequence[str], shape: Labels, languages: Sequence[str], limit: int) -> str:
    """QLever's text index, where it was built from literals: each is a text that contains itself as an entity."""
    match = (
        f"?t <{QLEVER}contains-word> {Literal(' '.join(map(_prefix, asked))).n3()} . ?t <{QLEVER}contains-entity> ?l ."
    )
    branches = [
        f"{{ {match} ?e {Iri(predicate).n3()} ?l . {spoken('?l', languages)} }}" for predicate in _predicates(shape)
    ]
    return _shortest(" UNION ".join(branches), limit)


def _mwapi(text: str, languages: Sequence[str], limit: int) -> str:
    """Wikidata's own search, asked by its query service; its order is kept."""
    settings = {
        f"{WIKIBASE}api": Literal("EntitySearch").n3(),
        f"{WIKIBASE}endpoint": Literal("www.wikidata.org").n3(),
        f"{WIKIBASE}limit": str(limit),
        f"{MWAPI}search": Literal(text).n3(),
        f"{MWAPI}language": Literal(languages[0]).n3(),
    }
    asked = " ".join(f"<{BIGDATA}serviceParam> <{name}> {value} ." for name, value in settings.items())
    given = (
        f"?e <{WIKIBASE}apiOutputItem> <{MWAPI}item> . ?l <{WIKIBASE}apiOutput> <{MWAPI}label> ."
        f" ?r <{WIKIBASE}apiOrdinal> true ."
    )
    return f"SELECT ?e ?l WHERE {{ SERVICE <{WIKIBASE}mwapi> {{ {asked} {given} }} }} ORDER BY ?r LIMIT {limit}"


def _shortest(pattern: str, limit: int) -> str:
    """The matches with the least beside the words that were asked for, the same ones each time."""
    return f"SELECT DISTINCT ?e ?l WHERE {{ {pattern} }} ORDER BY STRLEN(STR(?l)) ?e LIMIT {limit}"


def _prefix(word: str) -> str:
    """All words that begin with three quarters of this one, where that says enough: the rest is often an ending."""
    stem = word[: max(PREFIX, len(word) - len(word) // 4)]
    return f"{stem}*" if len(stem) >= PREFIX and max(word) < IDEOGRAPHS else word


def _letter(word: str) -> bool:
    return len(word) == 1 and word < IDEOGRAPHS


def _predicates(shape: Labels) -> list[str]:
    return list(dict.fromkeys((*shape.predicates, *shape.aliases)))
