"""What the readings of operators share: masked topics, ordinals, forms of adjectives, nouns of quantity."""

import re
from collections.abc import Sequence

from fedkg.reasoner.local.degrees import degrees

__all__ = ["COMPARATIVES", "ORDINALS", "SUPERLATIVES", "masked", "named", "numbered", "plainly", "quantity", "tidy"]

ORDER = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
STARRING = re.compile(r"\b(films?|movies?|series|shows?) with (?:the (?:actor|actress) )?(⟦\d⟧)", re.IGNORECASE)
ASKED = re.compile(r"^what (?:is|are|was|were) the (?=[a-z]+ (?:[a-z]+ed|starring|with|that)\b)", re.IGNORECASE)
INCLUDED = re.compile(
    r"^((?:which|what) [a-z]+) (?:of|in|(?:that )?belong(?:ing)? to|(?:that )?are (?:in|of|part of)) "
    r"the (?:[a-z]+ )?class (⟦\d⟧)$",
    re.IGNORECASE,
)
FRONTED = re.compile(
    r"^(in|for|with|to|from|on|at|by) (which|what) (.* (?:did|do|does|has|have|is|are|was|were) .*)$", re.IGNORECASE
)
GROSSING = re.compile(r"\b(highest|top|lowest)[ -](?:grossing|earning)\b", re.IGNORECASE)
LYING = re.compile(r"\b(highest|lowest)[ -]lying\b", re.IGNORECASE)
TRUE = re.compile(
    r"^is it (?:true|the case|correct) that (.*?) (is|are|was|were|has|have|had|does|did)\b", re.IGNORECASE
)
MADE = re.compile(r"^((?:which|what) [a-z]+) ((?:[a-z]+ed|written|made) by\b)", re.IGNORECASE)
ORDINALS = "|".join((*ORDER, r"2nd", "3rd", r"[4-9]th", "10th"))
"""Which after the first one; "last but one" is not read."""


def _forms(*endings: str) -> str:
    """The forms of adjectives with these endings, as alternatives of a pattern."""
    return "|".join(sorted((form for form in degrees().forms if form.endswith(endings)), key=len, reverse=True))


SUPERLATIVES = _forms("est", "first", "last")
COMPARATIVES = _forms("er")


def masked(question: str, names: Sequence[str]) -> str:
    """The question in one line without its mark, with ⟦n⟧ in place of the n-th name, from 0; longer names first."""
    text = " ".join(question.replace("’", "'").split()).rstrip("?!. ")
    text = GROSSING.sub(
        lambda match: f"{'most' if match[1].lower() in {'highest', 'top'} else 'least'} lucrative", text
    )
    text = TRUE.sub(r"\2 \1", LYING.sub(r"\1", text))
    for place in sorted(range(min(10, len(names))), key=lambda place: -len(names[place])):
        name = re.escape(names[place].replace("’", "'").strip())
        text = re.sub(rf"(?<![\w⟦]){name}(?![\w⟧])", f"⟦{place}⟧", text, flags=re.IGNORECASE)
    return text


def named(text: str, names: Sequence[str]) -> str:
    """The text with the names again."""
    return re.sub(r"⟦(\d)⟧", lambda match: names[int(match.group(1))], text)


def numbered(ordinal: str | None) -> int:
    """The rank that an ordinal says; 1 for none."""
    if not ordinal:
        return 1
    return ORDER.index(ordinal.lower()) + 2 if ordinal.lower() in ORDER else int(ordinal[:-2])


def quantity(noun: str) -> tuple[str, ...]:
    """The relations that hold what a noun of quantity names; one that no list has may be a relation's own name."""
    text = re.sub(r"\babove sea level\b", "", noun, flags=re.IGNORECASE).strip().lower()
    text = re.sub(r"^(?:by|in|in terms of) ", "", text)
    known = degrees().quantities
    return known.get(text) or ((text, *known.get(text.rsplit(maxsplit=1)[-1], ())) if text else ())


def plainly(text: str) -> str:
    """What is left of a question, as people ask for paths: a film with somebody stars them, a class includes things."""
    text = FRONTED.sub(lambda match: f"{match[2]} {match[3]} {match[1].lower()}", text)
    text = STARRING.sub(r"\1 starring \2", ASKED.sub("Which ", text))
    return INCLUDED.sub(r"\1 does \2 include", MADE.sub(r"\1 were \2", text))


def tidy(text: str) -> str:
    """The text without the spaces, commas and small words that a cut leaves at its end."""
    text = " ".join(text.split()).replace(" ,", ",").replace(" '", "'")
    return re.sub(
        r"(?:[ ,]|\b(?:and|but|that|which|who|is|are|was|were|with)\b)+$", "", text, flags=re.IGNORECASE
    ).strip()
