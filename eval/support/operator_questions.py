"""Drafts of our own questions for operators: a template with topics of a graph for which the answer is unambiguous.

What is ambiguous in the graph is not asked: topics and ends that share a name with others or have none, an extreme
that several values of one end could turn over, a value on the very bound of a filter, differences that depend on how
years are counted.
"""

import datetime as dt
import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Store

from eval.support.operator_templates import QuestionTemplate, full, steps

__all__ = ["Draft", "GraphFacts", "article", "drafts", "half_of", "worded"]

LABEL = full("rdfs:label")
NAMES = {LABEL, full("skos:altLabel"), "http://www.geneontology.org/formats/oboInOwl#hasExactSynonym"}
TYPES = {full("wdt:P31"), "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"}
DEATHS = tuple(full(f"wdt:{name}") for name in ("P570", "P20", "P509", "P119"))
COMMON = {full(f"het:{name}") for name in ("SideEffect", "Symptom")}
MOST_ANSWERS = 12
PAIRED = {"compare", "verdict", "gap"}
"""Operators over two ends of one set."""
KNOWN = 70
"""Of the topics that fit, these many with the most facts are drawn from: people ask for what is known."""
WITH_ARTICLE = re.compile(
    r"^(University|Organi[sz]ation|United|Kingdom|Republic|Netherlands|Bahamas|Philippines|Gambia|Maldives|Caribbean|"
    r"Visa Waiver|Non-Aligned|Treaty|Alliance|Movement|Agency)\b|"
    r"\b(Union|Republic|Community|League|Bank|Group|Agency|Fund|Observatory|Area|Cooperation|Organi[sz]ation|Regime|"
    r"Conference|Council|Commission|Federation|Islands|Emirates|States|Program|Pact|Initiative|Secretariat|Countries|"
    r"Commonwealth|Forum|Partnership|Association|Kingdom|Institute|Conservatory|Centre|Conservatoire)\b"
)
Value = Decimal | dt.date | str


class Draft(NamedTuple):
    """A template with the IRIs of its topics, each under one name, and the values that stand in the wording."""

    template: QuestionTemplate
    names: tuple[str, ...]
    topics: tuple[tuple[str, ...], ...]
    values: tuple[str, ...] = ()


class GraphFacts:
    """The facts of a graph in memory: the ends of a path, the values of an end, the nodes of a name."""

    def __init__(self, store: Store) -> None:
        self._ends: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self._values: dict[str, dict[str, list[Value]]] = defaultdict(lambda: defaultdict(list))
        self._named: dict[str, set[str]] = defaultdict(set)
        self._kinds: dict[str, set[str]] = defaultdict(set)
        self.labels: dict[str, str] = {}
        self.degrees: Counter[str] = Counter()
        for quad in store:
            if not isinstance(quad.subject, BlankNode) and not isinstance(quad.object, BlankNode):
                self._add(quad.subject.value, quad.predicate.value, quad.object)

    def _add(self, subject: str, relation: str, end: NamedNode | Literal) -> None:
        if relation in NAMES:
            self._named[end.value.casefold()].add(subject)
        if relation == LABEL:
            self.labels.setdefault(subject, end.value)
        if isinstance(end, Literal):
            self._values[relation][subject].append(_value(end))
            return
        if relation in TYPES:
            self._kinds[subject].add(end.value)
        self._ends[relation][subject].add(end.value)
        self._ends["^" + relation][end.value].add(subject)
        self.degrees.update((subject, end.value))

    def starts(self, path: str) -> Iterable[str]:
        """The nodes that a path leads on from."""
        return self._ends[steps(path)[0]].keys()

    def ends(self, starts: Iterable[str], path: str) -> set[str]:
        """Where a path leads."""
        reached = set(starts)
        for step in steps(path):
            reached = {end for node in reached for end in self._ends[step].get(node, ())}
        return reached

    def values(self, end: str, by: str) -> list[Value]:
        """The values of an end, sorted; dates as days, so that they can be compared."""
        return sorted(self._values[full(by)].get(end, ()))

    def same_name(self, node: str) -> tuple[str, ...]:
        """All nodes that are called as this one is."""
        name = self.labels[node].casefold()
        return tuple(sorted(self._named[name], key=lambda same: (self.labels.get(same, "").casefold() != name, same)))

    def name(self, topic: Sequence[str]) -> str:
        """What a topic is called within a sentence: side effects, symptoms and diseases have no capital there."""
        first = self.labels[topic[0]].casefold()
        labels = sorted({label for node in topic if (label := self.labels[node]).casefold() == first}, reverse=True)
        common = any(self._kinds[node] & COMMON for node in topic)
        return labels[0][0].lower() + labels[0][1:] if common and labels[0][1:].islower() else labels[0]

    def nodes(self, name: str) -> tuple[str, ...]:
        """All labelled nodes of that name."""
        return tuple(sorted(node for node in self._named[name.casefold()] if node in self.labels))

    def is_a(self, node: str, kind: str) -> bool:
        """Whether a node is of a class; any is of no class."""
        return not kind or full(kind) in self._kinds[node]

    def dead(self, node: str) -> bool:
        """Whether a fact tells that a person has died."""
        return any(self._ends[death].get(node) or self._values[death].get(node) for death in DEATHS)


def _value(literal: Literal) -> Value:
    kind = literal.datatype.value.rpartition("#")[2]
    if kind == "decimal":
        return Decimal(literal.value)
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", literal.value) if kind == "dateTime" else None
    try:
        return dt.date(*map(int, match.groups())) if match else literal.value
    except ValueError:
        return dt.date.min


def half_of(name: str) -> str:
    """The half that a topic belongs to, for good."""
    return "test" if hashlib.sha256(name.casefold().encode()).digest()[0] % 2 else "tuning"


def drafts(
    template: QuestionTemplate, facts: GraphFacts, half: str, used: Counter[str], group: Collection[str] = ()
) -> Iterator[Draft]:
    """What may be asked by a template in one half, in an order that is drawn once.

    `used` are the topics so far, `group` the labels that topics must have, where the template names such a group.
    """
    known = _topics(template, facts, half, group)
    # the same questions each time; no secret
    draw = random.Random(f"{template.name} {half}")
    draw.shuffle(known)
    known.sort(key=lambda topic: used[facts.labels[topic[0]].casefold()])
    made = _pairs if template.operator in PAIRED else _with_second if len(template.sets) > 1 else _single
    for topic in known:
        options = [draft for draft in made(template, facts, topic, half) if _grouped(draft, facts, group)]
        if options:
            yield draw.choice(options)


def _grouped(draft: Draft, facts: GraphFacts, group: Collection[str]) -> bool:
    """Whether the topics are of the group; two ends of a set that is compared need not be."""
    return (
        draft.template.operator in PAIRED or not group or all(facts.labels[topic[0]] in group for topic in draft.topics)
    )


def worded(draft: Draft, facts: GraphFacts, at: int, half: str) -> str:
    """The question, in one of the wordings of that half."""
    wordings = draft.template.wordings[:-1] if half == "tuning" else draft.template.wordings[1:]
    names = draft.names if draft.template.group == "classes" else map(article, draft.names)
    said = dict(zip("ab", names, strict=False)) | dict(zip("vw", map(_spoken, draft.values), strict=False))
    auxiliary = ["did" if facts.dead(topic[0]) else "does" for topic in draft.topics]
    text = wordings[at % len(wordings)].replace("{do}", auxiliary[0]).replace("{do-b}", auxiliary[-1])
    text = text.format(**said)
    return text[0].upper() + text[1:]


def article(name: str) -> str:
    """The name as it stands in a sentence."""
    bare = not WITH_ARTICLE.search(name) or name.startswith("The ") or ":" in name
    return name if bare else f"the {name}"


def _spoken(value: str) -> str:
    """A number as people write it."""
    if not value.isdigit() or len(value) < 5:
        return value
    return f"{int(value) // 1_000_000} million" if value.endswith("000000") else f"{int(value):,}"


# ---- topics and sets ----


def _topics(template: QuestionTemplate, facts: GraphFacts, half: str, group: Collection[str]) -> list[tuple[str, ...]]:
    """The best known topics of that half which fit, each with all nodes of its name."""
    fitting: dict[tuple[str, ...], int] = {}
    for node in facts.starts(template.sets[0]):
        name = facts.labels.get(node, "")
        if half_of(name) == half and (not group or name in group) and _fits(template, facts, node, name):
            fitting[facts.same_name(node)] = facts.degrees[node]
    return sorted(fitting, key=lambda topic: (-fitting[topic], topic))[:KNOWN]


def _fits(template: QuestionTemplate, facts: GraphFacts, node: str, name: str) -> bool:
    if not name or not facts.is_a(node, template.topic):
        return False
    nodes = facts.same_name(node)
    if len(nodes) > 1 and template.graph != "biomed":
        return False
    ends = facts.ends(nodes, template.sets[0])
    least, most = template.sizes
    return least <= len(ends) <= most and (template.operator in PAIRED or _named(facts, ends))


def _named(facts: GraphFacts, ends: Iterable[str]) -> bool:
    return all(end in facts.labels for end in ends)


def _draft(template: QuestionTemplate, facts: GraphFacts, topics: Sequence[tuple[str, ...]], *values: str) -> Draft:
    return Draft(template, tuple(facts.name(topic) for topic in topics), tuple(topics), values)


# ---- one set ----


def _single(template: QuestionTemplate, facts: GraphFacts, topic: tuple[str, ...], _: str) -> Iterator[Draft]:
    ends = facts.ends(topic, template.sets[0])
    if template.comparison:
        yield from (_draft(template, facts, [topic], *values) for values in _bounds(template, facts, ends))
    elif template.operator == "extreme":
        if _decided(template, facts, ends):
            yield _draft(template, facts, [topic])
    elif template.operator != "group" or _one_group(template, facts, ends):
        yield _draft(template, facts, [topic])


def _covered(template: QuestionTemplate, facts: GraphFacts, ends: Iterable[str]) -> dict[str, list[Value]]:
    """The values of the ends; none where too few have one."""
    known = {end: values for end in ends if (values := facts.values(end, template.by))}
    return known if len(known) >= template.covered * len(list(ends)) else {}


def _decided(template: QuestionTemplate, facts: GraphFacts, ends: set[str]) -> bool:
    """Whether the end of that rank is the same whichever of their values the ends are ranked by."""
    values = sorted(_covered(template, facts, ends).values(), reverse=template.most)
    if len(values) < template.rank + 1:
        return False
    ranked = values[: template.rank + 1]
    rest = values[template.rank :]
    apart = all(_before(first, second, most=template.most) for first, second in pairwise(ranked))
    return apart and all(_before(ranked[template.rank - 1], other, most=template.most) for other in rest)


def _before(first: Sequence[Value], second: Sequence[Value], *, most: bool) -> bool:
    return first[0] > second[-1] if most else first[-1] < second[0]  # type: ignore[operator]  # of one relation


def _one_group(template: QuestionTemplate, facts: GraphFacts, ends: set[str]) -> bool:
    """Whether one named group has more of the ends than any other, and not all of one kind alone decides."""
    groups = Counter(group for end in ends for group in facts.ends([end], template.by))
    ranked = groups.most_common(2)
    return len(ranked) == 2 and ranked[0][1] > ranked[1][1] and ranked[0][1] > 1 and ranked[0][0] in facts.labels


def _bounds(template: QuestionTemplate, facts: GraphFacts, ends: set[str]) -> Iterator[tuple[str, ...]]:
    """What may stand in the wording so that some of the ends, and not all, pass, and none is on the bound."""
    known = _covered(template, facts, ends)
    if not known:
        return
    texts = _words(template, known) if not template.steps else _numbers(template)
    for bounds in texts:
        passing = [_passes(template, values, bounds) for values in known.values()]
        if None not in passing and 0 < sum(map(bool, passing)) < min(len(ends), MOST_ANSWERS + 1):
            yield tuple(_shown(bound) for bound in bounds)


def _shown(bound: str | int) -> str:
    return str(bound)


def _numbers(template: QuestionTemplate) -> Iterator[tuple[str | int, ...]]:
    if template.comparison == "between":
        yield from ((low, high) for low in template.steps for high in template.steps if 5 <= high - low <= 15)
    else:
        yield from ((step,) for step in template.steps)


def _words(template: QuestionTemplate, known: dict[str, list[Value]]) -> Iterator[tuple[str | int, ...]]:
    """Values, or words of them, that several ends have."""
    counts: Counter[str] = Counter()
    for values in known.values():
        texts = list(map(str, values))
        parts = texts if template.comparison == "equal" else [part for text in texts for part in _parts(text)]
        counts.update(set(parts))
    yield from ((word,) for word, count in sorted(counts.items()) if count >= 2)


def _parts(text: str) -> list[str]:
    """The words of a name that are worth asking for; of a gene's symbol its letters."""
    gene = re.fullmatch(r"([A-Z]{2,4})[A-Z]?\d+\w*", text)
    return [gene[1]] if gene else [word for word in re.findall(r"\w+", text) if len(word) > 3 and word[0].isupper()]


def _passes(template: QuestionTemplate, values: Sequence[Value], bounds: Sequence[str | int]) -> bool | None:
    """Whether an end passes; None where that depends on which value is meant, or on the bound itself."""
    if template.comparison == "contains":
        word = str(bounds[0])
        whole = any(re.search(rf"\b{re.escape(word)}", str(value)) for value in values)
        return whole if whole == any(word.lower() in str(value).lower() for value in values) else None
    if not template.steps:
        return bounds[0] in values
    numbers = [value.year if isinstance(value, dt.date) else value for value in values]
    if template.comparison == "equal":
        matching = {number == bounds[0] for number in numbers}
        return matching.pop() if len(matching) == 1 else None
    return _compared(template.comparison or "more", numbers, bounds)


def _compared(comparison: str, numbers: Sequence[int | Decimal | str], bounds: Sequence[str | int]) -> bool | None:
    if any(number in bounds for number in numbers):
        return None
    tests: dict[str, Callable[[int], bool]] = {
        "more": lambda number: number > bounds[0],  # type: ignore[operator]
        "less": lambda number: number < bounds[0],  # type: ignore[operator]
        "between": lambda number: bounds[0] < number < bounds[1],  # type: ignore[operator]
    }
    test = tests[{"after": "more", "before": "less"}.get(comparison, comparison)]
    results = {test(number) for number in numbers}  # type: ignore[arg-type]
    return results.pop() if len(results) == 1 else None


# ---- two topics ----


def _with_second(template: QuestionTemplate, facts: GraphFacts, topic: tuple[str, ...], half: str) -> Iterator[Draft]:
    first = facts.ends(topic, template.sets[0])
    back = template.sets[1][1:] if template.sets[1][0] == "^" else f"^{template.sets[1]}"
    for node in sorted(facts.ends(first, back) - set(topic)):
        name = facts.labels.get(node, "")
        if not name or half_of(name) != half or not facts.is_a(node, template.topic):
            continue
        other = facts.same_name(node)
        if len(other) > 1 and template.graph != "biomed":
            continue
        second = facts.ends(other, template.sets[1])
        left = first - second if template.operator == "difference" else first & second
        alike = template.sets[0] != template.sets[1] or template.sizes[0] <= len(second) <= template.sizes[1]
        if alike and 0 < len(left) < min(len(first), MOST_ANSWERS + 1) and second - first:
            yield _draft(template, facts, [topic, other])


def _pairs(template: QuestionTemplate, facts: GraphFacts, topic: tuple[str, ...], half: str) -> Iterator[Draft]:
    """Two ends of one set, so that they are of a kind, whose values differ for certain."""
    ends = sorted(end for end in facts.ends(topic, template.sets[0]) if _one_value(template, facts, end, half))
    for first in ends:
        for second in ends:
            pair = [facts.values(end, template.by) for end in (first, second)]
            if first != second and _before(pair[0], pair[1], most=template.most) and _countable(template, pair):
                chosen = [(first,), (second,)]
                yield _draft(template, facts, chosen)
                if template.operator != "gap":
                    yield _draft(template, facts, chosen[::-1])


def _one_value(template: QuestionTemplate, facts: GraphFacts, end: str, half: str) -> bool:
    name = facts.labels.get(end, "")
    alone = bool(name) and half_of(name) == half and facts.same_name(end) == (end,)
    return alone and facts.is_a(end, template.ends) and len(facts.values(end, template.by)) == 1


def _countable(template: QuestionTemplate, pair: Sequence[Sequence[Value]]) -> bool:
    """Whether a difference in years is the same by calendar years and by whole years; any other difference is."""
    first, second = pair[0][0], pair[1][0]
    if template.operator != "gap" or not isinstance(first, dt.date) or not isinstance(second, dt.date):
        return True
    return (first.month, first.day) <= (second.month, second.day) and first.year < second.year
