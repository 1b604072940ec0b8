"""What in a question is a name, whether anything is called so or not: runs of words with capitals, or of rare words."""

import re
from collections.abc import Sequence

from fedkg.common.english import english, everyday, root
from fedkg.common.sentences import sentences
from fedkg.core.question import evident

__all__ = ["as_written", "common", "covered", "names_in", "singular"]

WORD = re.compile(r"(?<![\w'’&.-])[\w'’&.-]*\w")
JOINTS = frozenset("of the de la von van der du da &".split())
"""Small words within a name."""
ASKING = re.compile(r"(?:list|name|give|tell|show|find|describe|compare|does|do|did|in|on|at|to|from|for|by)")
"""Words other than question words that a question may begin with."""
PRONOUN = re.compile(r"I(?:['’][a-z]+)?")
SHORTEST_PLURAL = 4
PLURAL = re.compile(r"[^sui]s$|(?:ch|sh|x|ss)es$")
ENDINGS = {"ies": "y", "ches": "ch", "shes": "sh", "xes": "x", "sses": "ss", "s": ""}
LONGEST = 10


def names_in(question: str) -> list[str]:
    """The names in a question: runs of words with capitals; in one without, runs of words that ask for nothing."""
    text = re.sub(r"['’]s\b", "\n", question)  # a possessive ends a name
    parts, proper = re.split(r"[\n?!,;:\"“”«»()]+", text), _proper(text)
    runs = [run for part in parts for run in _runs(part, proper) if not PRONOUN.fullmatch(run)]
    return runs or [run for part in parts for run in _rare(part)]


def covered(name: str, mentions: Sequence[str]) -> bool:
    """Whether one of the mentions has all of the name's words, articles and small words aside."""
    words = set(_essential(name))
    return any(words <= set(_essential(mention)) for mention in mentions)


def common(mention: str) -> bool:
    """Whether a mention is made of everyday words alone, by which questions ask for something."""
    return all(everyday(word) for word in mention.lower().split())


def singular(span: str) -> str:
    """The span with its last word in the singular, where that is a common noun in the plural; else an empty text."""
    last = span.rsplit(maxsplit=1)[-1] if span.split() else ""
    if len(last) < SHORTEST_PLURAL or last != last.lower() or not PLURAL.search(last):
        return ""
    plain = last.removesuffix("s") in english().nouns_in_ie
    ending = "s" if plain else next(ending for ending in ENDINGS if last.endswith(ending))
    return span.removesuffix(ending) + ENDINGS[ending]


def as_written(mention: str, question: str) -> str:
    """The mention as the question has it: of a plural that was looked up in the singular the plural."""
    if re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", question, re.IGNORECASE):
        return mention
    words = [match.span() for match in WORD.finditer(question)]
    sizes = range(1, min(LONGEST, len(words)) + 1)
    runs = (question[words[at][0] : words[at + size - 1][1]] for size in sizes for at in range(len(words) - size + 1))
    return next((run for run in runs if singular(run) == mention), mention)


def _proper(question: str) -> set[str]:
    """The words with a capital or figure; not the one that a question, or a sentence of it, begins with."""
    words = [word for sentence in sentences(question) for word in _after_first(sentence)]
    return {word for word in words if word != word.lower()}


def _after_first(sentence: str) -> list[str]:
    """The words of a sentence without one that it begins with and that is no part of a name."""
    words = WORD.findall(sentence)
    asks = bool(words) and (ASKING.fullmatch(words[0].lower()) or _plain(words))
    return words[1:] if asks or evident(sentence) else words


def _plain(words: Sequence[str]) -> bool:
    """Whether the first word is an everyday one, "Drugs that …", that no capital behind it makes part of a name."""
    return len(words) > 1 and everyday(words[0].lower()) and words[1] == words[1].lower()


def _runs(text: str, proper: set[str]) -> list[str]:
    """The longest runs of proper words, with small words between them."""
    words, runs, run = WORD.findall(text), list[list[str]](), list[str]()
    for place, word in enumerate(words):
        joint = bool(run) and word in JOINTS and bool(proper.intersection(words[place + 1 : place + 2]))
        if word in proper or joint:
            run.append(word)
        else:
            runs, run = [*runs, run], []
    return [" ".join(run) for run in [*runs, run] if run]


def _rare(text: str) -> list[str]:
    """The longest runs of words that no relation is called by, each with the kind after it: "addison disease"."""
    runs, run = list[list[str]](), list[str]()
    for word in WORD.findall(text):
        if not everyday(word.lower()) or (run and root(word.lower()) in english().kinds):
            run.append(word)
        else:
            runs, run = [*runs, run], []
    return [" ".join(run) for run in [*runs, run] if run]


def _essential(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return [word for word in words if word not in JOINTS and word not in {"a", "an", "s"}] or words
