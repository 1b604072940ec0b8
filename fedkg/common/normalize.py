"""Words of a question: what carries meaning, and what is left without the entity that it names."""

import re
import unicodedata

__all__ = [
    "ARTICLES",
    "STOP_WORDS",
    "content_words",
    "mentioned",
    "normalized_answer",
    "quoted",
    "spellings",
    "without",
]

STOP_WORDS = frozenset(
    "a an and are at be by did do does for from had has have he her his how if in is it its many me much of on or "
    "she that the their them they this to was were what when where which who whom whose why with".split()
)

SMALL_WORDS = frozenset("a an and as at but by for from in nor of on or the to with".split())
"""Words that titles write small, unless they begin it."""

ARTICLES = frozenset({"a", "an", "the"})
AROUND = ".,;:!?\"'“”„‘’«»()[]"


def content_words(text: str) -> tuple[str, ...]:
    """The words that are no stop words, each once, in order, lower case."""
    words = re.findall(r"\w+", text.lower())
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS))


def mentioned(text: str, mention: str) -> re.Match[str] | None:
    """Where a text has the mention, in any case and not within a word; None where it has not, or it is empty."""
    name = mention.strip()
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) if name else None


def without(text: str, mention: str) -> str:
    """The text without a mention and its possessive ending, in any case, and without the spaces that it leaves."""
    ends = re.escape(mention.strip())
    cut = re.sub(rf"(?<!\w){ends}(?!\w)(?:['’]s\b)?", " ", text, flags=re.IGNORECASE) if ends else text
    return " ".join(cut.split()) or text


def normalized_answer(text: str) -> str:
    """The text as answers are compared: whatever its case, articles, and the punctuation around its words."""
    folded = unicodedata.normalize("NFKC", text).casefold().split()
    words = (word.strip(AROUND) for word in folded)
    return " ".join(word for word in words if word and word not in ARTICLES) or " ".join(folded)


def quoted(words: str, text: str) -> str:
    """These words as they stand in the text, in any case and with any punctuation between them; "" if they do not."""
    parts = re.findall(r"\w+", unicodedata.normalize("NFKC", words))
    pattern = r"\W+".join(map(re.escape, parts))
    match = re.search(rf"(?<!\w){pattern}(?!\w)", unicodedata.normalize("NFKC", text), re.IGNORECASE) if parts else None
    return " ".join(match.group().split()) if match else ""


def spellings(text: str) -> list[str]:
    """The text as written, then as it may be written as a label, the likeliest first.

    Labels are compared exactly, because no index of an endpoint ignores case: "the two towers" is tried as "The Two
    Towers", and a typographic apostrophe also as the plain one that labels have.
    """
    clean = " ".join(text.split()).replace("’", "'")
    forms = [text, clean, clean[:1].upper() + clean[1:], clean.lower()]
    for form in (clean, clean.lower()):
        forms += [_heading(form, SMALL_WORDS), _heading(form, frozenset())]
    return list(dict.fromkeys(form for form in forms if form.strip()))


def _heading(text: str, small: frozenset[str]) -> str:
    """The text with capitals at the beginning of its words, but for small words inside of a title or subtitle."""
    words = text.split(" ")
    begins = [before.endswith((":", ".", "–")) for before in [":", *words]]
    return " ".join(
        _capital(word) if begin or word not in small else word for begin, word in zip(begins, words, strict=False)
    )


def _capital(word: str) -> str:
    """The word with capitals at its beginning and after its hyphens and apostrophes, not in "Curie's"."""
    return re.sub(r"(?<![\w'’])\w|(?<=['’])\w(?=\w)", lambda match: match.group().upper(), word)
