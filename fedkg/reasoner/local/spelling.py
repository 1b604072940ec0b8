"""Short forms, variants and idioms as the words that the other lists have for them: "unis" are universities."""

import re
from collections.abc import Iterable
from functools import lru_cache

from fedkg.common.english import english

__all__ = ["spelled"]


def spelled(question: str, names: Iterable[str]) -> str:
    """The question in these words; `names` are those of its topics, of which none is changed."""
    kept = tuple(names)
    for form, words in _spellings():
        if form.search(question) and not any(map(form.search, kept)):
            question = form.sub(words, question)
    return question


@lru_cache(maxsize=1)
def _spellings() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"(?<!\w)(?:{form})(?!\w)", re.IGNORECASE), words) for form, words in english().spellings)
