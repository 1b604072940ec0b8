"""Which words of a question are about which of its topics: "Which films of A are set in B" says one thing of each.

Topics that stand side by side, "both A and B", share what is said. Of others each has the words on its own side, and
what stands between two of them is cut at one place: where, is left to how well the parts are said.
"""

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from fedkg.common.normalize import mentioned
from fedkg.reasoner.local.wording import content

__all__ = ["partings"]

JOINT = re.compile(r"^\W*(?:(?:and|or|as well as|with|versus|vs)\b.*|[,&/]\W*)$", re.IGNORECASE | re.DOTALL)
WORD = re.compile(r"[\w-]+")
MOST = 12
"""Ways to part one question."""

Span = tuple[int, int]


@lru_cache(maxsize=1 << 10)
def partings(question: str, topics: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """The ways to part a question: what of it is about each topic, with the topic in it; none where it is one part."""
    spans = {topic: span for topic in topics if (span := _span(question, topic))}
    groups = _groups(question, spans)
    if len(spans) < len(topics) or len(groups) < 2:
        return ()
    ends = [(spans[group[0]][0], spans[group[-1]][1]) for group in groups]
    between = [_cuts(question, left[1], right[0]) for left, right in itertools.pairwise(ends)]
    ways = itertools.islice(itertools.product(*between), MOST)
    parted = [_parted(question, groups, cuts) for cuts in ways]
    whole = [way for way in parted if all(_says(text, topics) for text in way.values())]
    return tuple(whole)


def _span(question: str, topic: str) -> Span | None:
    match = mentioned(question, topic)
    return match.span() if match else None


def _groups(question: str, spans: dict[str, Span]) -> list[list[str]]:
    """The topics in their order, those that stand side by side together."""
    groups: list[list[str]] = []
    for topic in sorted(spans, key=lambda topic: spans[topic]):
        between = question[spans[groups[-1][-1]][1] : spans[topic][0]] if groups else ""
        if groups and JOINT.match(between) and not content(between):
            groups[-1].append(topic)
        else:
            groups.append([topic])
    return groups


def _cuts(question: str, start: int, end: int) -> list[int]:
    """The places between two topics before a word, and the end; a possessive has at least the word behind it."""
    words = [match.start() + start for match in WORD.finditer(question[start:end])]
    owned = question[start : start + 2] in {"'s", "’s"}
    return [*(words[2:] if owned else words), end]


def _parted(question: str, groups: Sequence[Sequence[str]], cuts: Sequence[int]) -> dict[str, str]:
    """What is about each topic, for these cuts."""
    places = [0, *cuts, len(question)]
    return {
        topic: question[start:end].strip()
        for group, (start, end) in zip(groups, itertools.pairwise(places), strict=True)
        for topic in group
    }


def _says(text: str, topics: Sequence[str]) -> bool:
    """Whether the text says anything beside topics."""
    for topic in topics:
        text = re.sub(rf"(?<!\w){re.escape(topic.strip())}(?!\w)", " ", text, flags=re.IGNORECASE)
    return bool(content(text))
