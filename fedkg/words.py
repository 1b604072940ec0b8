"""Words of a question: what carries meaning, and what is left without the entity that it names."""

import re

__all__ = ["STOP_WORDS", "content_words", "without"]

STOP_WORDS = frozenset(
    "a an and are at be by did do does for from had has have he her his how if in is it its many me much of on or "
    "she that the their them they this to was were what when where which who whom whose why with".split()
)


def content_words(text: str) -> tuple[str, ...]:
    """The words that are no stop words, each once, in order, lower case."""
    words = re.findall(r"\w+", text.lower())
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS))


def without(text: str, mention: str) -> str:
    """The text without a mention, in any case, and without the spaces that it leaves."""
    cut = re.sub(re.escape(mention), " ", text, flags=re.IGNORECASE) if mention.strip() else text
    return " ".join(cut.split()) or text
