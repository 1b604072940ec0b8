"""Linking: the topic entities of a question, given by the caller, named by the model, or found among its n-grams.

A mention has candidates: entities that are called so, or, where there is none, entities that a look-up by words finds.
It links to one of them, or, where none is good enough, to nothing. Where several are equally good and no word of the
question tells them apart, a model may be asked: one call for all mentions of a question.
"""

import functools
import itertools
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.common.english import english, everyday
from fedkg.common.normalize import ARTICLES, STOP_WORDS, content_words, without
from fedkg.core.question import JUDGED, Match, Mention, Plan, evident
from fedkg.core.terms import Iri
from fedkg.engine.mentions import best, called, inside_names, of_one_kind
from fedkg.engine.names import as_written, common, covered, names_in, singular
from fedkg.engine.similar_names import Similar, alike
from fedkg.engine.spelled import spelled, word_alone
from fedkg.errors import TermError, TopicError
from fedkg.graph.base import Graph

__all__ = [
    "MOST_COMPARED",
    "Ask",
    "certain",
    "choose",
    "from_question",
    "given",
    "given_topics",
    "instead",
    "ngrams",
    "unknown_topic",
]

Ask = Callable[[Sequence[Mention]], Awaitable[Mapping[str, int]]]
"""Which of its matches a mention means: by its text the number, from 1; 0 for none, absent where unknown."""
LONGEST_NGRAM = 10
MOST_NGRAMS = 240
MOST_TOPICS, MOST_COMPARED = 3, 8
MOST_HINTS = 5
LONGEST_PLAIN = 400
"""Characters of a question that names what it is about; longer ones are cases that mention much else."""
CANDIDATES = 5
PART = 0.5
"""The score of an entity that is called by a part of the question's name alone."""
LINKS = 0.6
"""Least score of a candidate that a mention links to: three quarters alike (0.75 of the 0.8 that a look-up gives at
most), which is a typing error or a missing article, not another name. Names that match exactly are far above it."""

QUOTED = re.compile(r"\"([^\"]{2,200})\"|“([^”]{2,200})”|«([^»]{2,200})»|(?<!\w)['‘]([^'’‘]{2,200})['’](?!\w)")
# a comma or colon inside of a name belongs to the name: "2001: A Space Odyssey"
WORD = re.compile(r"[^\s,;:\"“”«»]+(?:[,:](?=\s))?")


async def given(graph: Graph, topics: Sequence[str], question: str = "") -> list[Match]:
    """The entities that the caller named by IRI or by label, in their order, each once.

    Raises TermError for an IRI that is none, and TopicError with the nearest labels for a label that nothing has.
    """
    found, missing = await given_topics(graph, topics, question)
    if missing:
        raise await unknown_topic(graph, missing[0])
    return found


async def given_topics(graph: Graph, topics: Sequence[str], question: str = "") -> tuple[list[Match], list[str]]:
    """The entities that the caller named and the labels that nothing has, in their order, each once.

    Of several with that label it is the one that shares most words with the question. A label has to match: who
    names an entity means no other one. The label of an IRI comes with those of the first hop, so that it costs no
    request of its own. Raises TermError for an IRI that is none.
    """
    iris = {topic: Iri.parse(topic) for topic in topics if _looks_like_iri(topic)}
    texts = [topic for topic in topics if topic not in iris]
    candidates = await _described(graph, await graph.search(texts, CANDIDATES)) if texts else {}
    known = {topic: Match(iri, iri.local_name, 1.0) for topic, iri in iris.items()} | choose(question, candidates)
    missing = [topic for topic in dict.fromkeys(topics) if topic not in known]
    return _distinct(known[topic] for topic in topics if topic in known), missing


async def unknown_topic(graph: Graph, topic: str) -> TopicError:
    """The error of a label that nothing has, with the nearest ones."""
    return await _unknown(graph, f"no entity of {graph.name} is called {topic[:100]!r}", [topic])


async def from_question(
    graph: Graph,
    question: str,
    plan: Plan,
    warn: Callable[[str], None] = lambda _: None,
    ask: Ask | None = None,
    *,
    drop: Callable[[str], None] = lambda _: None,
    similar: Similar | None = None,
) -> list[Match]:
    """The entities that the plan's mentions, or else the question's longest n-grams, are names of.

    At most three; eight where several paths decide: a comparison has two sides, and options are entities too.

    `warn` is told of mentions that link to nothing while others do, `drop` of these mentions themselves, `ask` is asked
    for names that several equally good entities bear, `similar` for what is alike in meaning to a name that nothing
    else is. Raises TopicError with the nearest labels where nothing matches.
    """
    candidates = await _candidates(graph, plan.mentions, plan.options, similar)
    linked = choose(question, candidates)
    topics, spans, unknown = _distinct(linked.values()), ngrams(question), list[str]()
    if not topics and spans:
        forms = _with_singulars(spans)
        known = await graph.search(forms, CANDIDATES)
        candidates = await _described(graph, _longest(forms, known, question=question), uncased=True)
        exact = choose(question, candidates, uncased=True)
        named = _named(exact) if plan.kind == "yesno" else _topics(question, exact, rare=True)
        topics = await _whole(graph, question, named, list(exact), unknown)
        candidates = {match.mention: candidates.get(match.mention, [match]) for match in topics}
    names = plan.mentions or _hinted(question, spans)
    if not topics and not plan.mentions:
        candidates = await _candidates(graph, names, similar=similar)
        topics = _distinct(choose(question, candidates).values())
    if not topics:
        asked = " or ".join(repr(mention) for mention in plan.mentions) or repr(question[:80])
        raise await _unknown(graph, f"no entity of {graph.name} is called what the question names ({asked})", names)
    for mention in (*plan.mentions, *unknown):
        if mention not in linked:
            warn(f"no entity of {graph.name} is known by the name {mention[:100]!r}; the walk starts without it")
            drop(mention)
    topics = topics[: MOST_COMPARED if plan.kind in JUDGED else MOST_TOPICS]
    return await _told_apart(question, topics, candidates, ask, warn, drop=drop) if ask else topics


def _with_singulars(spans: Sequence[str]) -> list[str]:
    """The spans, each with its singular where it is a plural: "lions" are no name, "lion" is one."""
    return list(dict.fromkeys(form for span in spans for form in (span, singular(span)) if form))


async def _whole(
    graph: Graph, question: str, topics: Sequence[Match], known: Sequence[str], unknown: list[str]
) -> list[Match]:
    """The topics with the names of the question in whole, as far as they are known.

    `known` are all names in the question that something bears. A name of which only a part is known, or that is spelled
    otherwise, links loosely; where the question has proper names and none is known, words like "film" are no topics.
    Proper names of which nothing is known are added to `unknown`.
    """
    linked = [msgspec.structs.replace(match, mention=as_written(match.mention, question)) for match in topics]
    written = names_in(question)
    mentions = (*(match.mention for match in linked), *known)
    missing = [name for name in written if not covered(name, mentions)][:MOST_TOPICS]
    similar = await concurrently(*(spelled(graph, name) for name in missing))
    for name, match in zip(missing, similar, strict=True):
        parts = [topic for topic in linked if covered(topic.mention, [name])]
        linked = [topic for topic in linked if topic not in parts]
        linked += [match] if match else [msgspec.structs.replace(topic, score=PART) for topic in parts]
        unknown += [name] if not (match or parts) and _proper(name, question) else []
    proper = [name for name in written if _proper(name, question)]
    if proper and not any(_proper(match.mention, question) or _rare(match.mention, question) for match in linked):
        return []
    return [match for match in linked if not (common(match.mention) or word_alone(match))] or linked


async def instead(graph: Graph, question: str, names: Sequence[str], others: Sequence[str] = ()) -> list[Match]:
    """The entities to start from in place of topics that the graph does not know: by their names, else the question's.

    Exact labels and aliases alone; none where there is none. Beside `others`, the labels of topics that it knows, a
    word inside a longer name is none: one that stands beside a word of which nothing is known.
    """
    candidates = await _described(graph, await graph.search(names, CANDIDATES)) if names else {}
    if linked := choose(question, candidates):
        return _distinct(linked.values())
    spans = ngrams(question)
    candidates = await _described(graph, _longest(spans, await graph.search(spans, CANDIDATES)))
    topics = _topics(question, choose(question, candidates))
    parts = inside_names(question, topics, others) if others else []
    return [match for match in topics if match not in parts][:MOST_TOPICS]


async def certain(graph: Graph, question: str, options: Sequence[str] = ()) -> list[Match]:
    """The entities that the question names by their exact labels, where they are all that it names; else none.

    Each name in it, a word with a capital or figure, belongs to a label that one entity alone bears, or that the
    question's words tell apart. Options that are labels are entities, too. What is written without capitals, and a case
    that is told at length, leave open what they name.
    """
    if len(question) > LONGEST_PLAIN or question == question.lower():
        return []
    spans = [*ngrams(question), *options]
    exact = {span: _exact(matches) for span, matches in (await graph.search(spans, CANDIDATES)).items()}
    candidates = await _described(graph, _longest(spans, exact, options), options)
    linked = choose(question, candidates)
    topics = _topics(" ".join((question, *options)), linked)
    if any(_undecided(question, match.mention, candidates[match.mention]) for match in topics):
        return []
    return topics if len(topics) <= MOST_COMPARED and not _unlinked(question, topics) else []


def choose(question: str, candidates: Mapping[str, Sequence[Match]], *, uncased: bool = False) -> dict[str, Match]:
    """For each mention the candidate that it links to; a mention that links to none is left out.

    The best score wins if it is good enough. Of equal ones (and, `uncased`, of labels that differ in their capitals
    alone) it is the one whose description and type share most words with the rest of the question, then one whose name
    says its type ("Crohn's disease"), then one of which a type or description is known, then the first: a graph puts
    the shortest IRI first.
    """
    linked = {}
    for mention, matches in candidates.items():
        shared, named = _shared(question, mention), set(content_words(mention))
        alike = _called_alike(mention, matches) if uncased else best(matches)
        likeliest = max(alike, key=lambda match: (shared(match), match.score, _known(match, named)), default=None)
        if likeliest and likeliest.score >= LINKS:
            linked[mention] = msgspec.structs.replace(likeliest, mention=mention)
    return linked


def _known(match: Match, named: AbstractSet[str]) -> tuple[bool, bool]:
    """Whether its type is a word of its name, and whether anything is said of it: a disease is no side effect."""
    return not named.isdisjoint(content_words(match.type)), bool(match.type or match.description)


def _called_alike(mention: str, matches: Sequence[Match]) -> list[Match]:
    """The best candidates, and those that bear the same name but for its capitals."""
    first = best(matches)
    return [match for match in matches if match in first or match.label.casefold() == mention.casefold()]


def ngrams(question: str) -> list[str]:
    """What may be a name: quoted text first, then the runs of up to ten words, the longest first.

    A run may start with a small word only if that is an article or written with a capital, and end with one only if
    that has a capital; in a question without any capitals neither says anything, and only runs of nothing else are left
    out. Of a text too long for a question those with capitals come first, and no more than 240 in all.
    """
    text = re.sub(r"[?!]+\s*$", "", question).strip()
    cased = text != text.lower()
    forms = {next(filter(None, match.groups())).strip(): None for match in QUOTED.finditer(text)}
    words = [match.span() for match in WORD.finditer(text)]
    for size in range(min(LONGEST_NGRAM, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            for form in _forms(text[words[first][0] : words[first + size - 1][1]]):
                if _may_name(form, cased=cased):
                    forms[form] = None
    spans = [form for form in forms if form]
    return spans if len(spans) <= MOST_NGRAMS else sorted(spans, key=_small)[:MOST_NGRAMS]


def _small(span: str) -> bool:
    """Whether the span does not begin and end with a capital or figure."""
    words = span.split()
    return words[0][:1].islower() or words[-1][:1].islower()


def _forms(span: str) -> Iterable[str]:
    """The run itself, and without what a sentence hangs on a name: punctuation, a possessive, quotes and brackets."""
    span = span.strip(" ,;:")
    yield span
    bare = span.strip(".?!()[]'‘’")
    yield bare
    yield re.sub(r"['’]s?$", "", span)
    yield re.sub(r"['’]s$", "", bare)


def _may_name(span: str, *, cased: bool) -> bool:
    words = span.split()
    if not words or len(span) < 2:
        return False
    if not cased or len(words) == 1:
        return not {words[0].lower(), words[-1].lower()} <= STOP_WORDS
    return words[-1] not in STOP_WORDS and (words[0] not in STOP_WORDS or words[0] in ARTICLES)


async def _candidates(
    graph: Graph, mentions: Sequence[str], options: Sequence[str] = (), similar: Similar | None = None
) -> dict[str, Sequence[Match]]:
    """What the mentions may link to, by their exact names, else by a look-up of their words, else by meaning."""
    if not mentions:
        return {}
    candidates = dict(await graph.search(mentions, CANDIDATES))
    if unknown := [mention for mention, matches in candidates.items() if not matches]:
        candidates |= await graph.lookup(unknown, CANDIDATES)
    left = [mention for mention, matches in candidates.items() if all(match.score < LINKS for match in matches)]
    if similar and left:
        candidates |= await alike(graph, left, similar, CANDIDATES)
    return await _described(graph, candidates, options)


async def _told_apart(
    question: str,
    topics: list[Match],
    candidates: Mapping[str, Sequence[Match]],
    ask: Ask,
    warn: Callable[[str], None],
    *,
    drop: Callable[[str], None],
) -> list[Match]:
    """The topics, those that the question's words leave open as `ask` decides; what it leaves open stays as it is.

    A topic that it takes for none of its candidates is left out, unless nothing would be left to start from.
    """
    alike = {topic.mention: _undecided(question, topic.mention, candidates[topic.mention]) for topic in topics}
    unclear = [Mention(text, tuple(matches)) for text, matches in alike.items() if matches]
    numbers = await ask(unclear) if unclear else {}
    kept = [topic for topic in topics if numbers.get(topic.mention) != 0]
    if not kept:
        warn("the model takes no entity of these names for what the question names; the walk starts from the likeliest")
        return topics
    for topic in topics:
        if topic not in kept:
            warn(
                f"the model takes no entity called {topic.mention[:100]!r} for what the question names; it is left out"
            )
            drop(topic.mention)
    return _distinct(_meant(topic, alike[topic.mention], numbers.get(topic.mention, 0)) for topic in kept)


def _undecided(question: str, mention: str, matches: Sequence[Match]) -> list[Match]:
    """The equally good candidates of a mention, the likeliest first, where the question leaves open which.

    None where they do not, or where nothing is known of the candidates that could tell them apart.
    """
    shared = _shared(question, mention)
    alike = sorted(best(matches), key=lambda match: -shared(match))
    descriptions = {(match.label, match.type, match.description) for match in alike}
    return alike if len(descriptions) > 1 and shared(alike[0]) == shared(alike[1]) else []


def _meant(topic: Match, matches: Sequence[Match], number: int) -> Match:
    """The candidate of that number (from 1), or the topic as it is for 0."""
    return msgspec.structs.replace(matches[number - 1], mention=topic.mention) if number else topic


async def _described(
    graph: Graph, candidates: Mapping[str, Sequence[Match]], options: Sequence[str] = (), *, uncased: bool = False
) -> dict[str, Sequence[Match]]:
    """The candidates; where several are equally good with description and type, all in one request.

    `uncased` they are so, too, where their labels differ in capitals alone.

    Where that is so of an option, with those of all options: they are of one kind.
    """
    named = {mention: _called_alike(mention, each) if uncased else best(each) for mention, each in candidates.items()}
    equal = {mention: alike for mention, alike in named.items() if len(alike) > 1}
    wanted = [match for matches in equal.values() for match in matches]
    if equal.keys() & set(options):
        wanted += [match for option in options for match in called(candidates.get(option, ()))]
    wanted = list(dict.fromkeys(wanted))
    described = dict(zip(wanted, await graph.describe(wanted), strict=True)) if wanted else {}
    return of_one_kind(
        {mention: [described.get(match, match) for match in matches] for mention, matches in candidates.items()},
        options,
    )


def _shared(question: str, mention: str) -> Callable[[Match], int]:
    """How many words of the question, apart from the mention, a candidate's description and type have."""
    rest = set(content_words(without(question, mention)))
    return lambda match: len(rest.intersection(content_words(f"{match.description} {match.type}")))


def _exact(matches: Sequence[Match]) -> list[Match]:
    return [match for match in matches if match.score == 1.0]


def _unlinked(question: str, topics: Sequence[Match]) -> list[str]:
    """The words with a capital that belong to none of the topics; the word that a question begins with is none."""
    rest = functools.reduce(without, (match.mention for match in topics), question)
    words = rest.split()[1:] if evident(question) else rest.split()
    return [word for word in words if word != word.lower() and content_words(word)]


def _longest(
    spans: Iterable[str], candidates: Mapping[str, list[Match]], always: Sequence[str] = (), question: str = ""
) -> dict[str, list[Match]]:
    """The candidates of each longest span, leaving out spans whose words stand in one already taken; `always` stay.

    So does one that the `question` has beside the longer one, too: "Iron Man 3 or Iron Man".
    """
    taken: dict[str, list[Match]] = {}
    for span in spans:
        inside = re.compile(rf"(?<!\w){re.escape(span)}(?!\w)")
        if candidates.get(span) and (span in always or not any(map(inside.search, taken)) or inside.search(question)):
            taken[span] = candidates[span]
            question = inside.sub(" ", question)
    return taken


def _topics(question: str, linked: Mapping[str, Match], *, rare: bool = False) -> list[Match]:
    """Each entity once; where some are proper names, the others are what is asked about them: "city", "film".

    With `rare` names in small letters stay beside proper ones, where questions ask for nothing by their words.
    """
    topics = _distinct(linked.values())
    return [
        match for match in topics if _proper(match.mention, question) or (rare and _rare(match.mention, question))
    ] or topics


def _rare(mention: str, question: str) -> bool:
    """Whether it is a name in small letters, like "tachycardia": it has no article, no degree, and asks for nothing."""
    before = "an?|the|which|what|whose|many|any|all|no|every|most|least|more|less|very|in"
    asked = rf"\b(?:{before})\s+{re.escape(mention)}(?!\w)"
    named = re.search(rf'(?<![\w"“]){re.escape(mention)}(?![\w"”])', question)  # in quotes it may be part of a title
    words = mention.lower().split()
    plain = any(everyday(word) or word in english().unread for word in words)
    return bool(named) and not (plain or re.search(asked, question, re.IGNORECASE))


def _named(linked: Mapping[str, Match]) -> list[Match]:
    """Each entity once: what a question of yes or no names is compared, proper names and others."""
    return [match for match in _distinct(linked.values()) if not common(match.mention)]


def _hinted(question: str, spans: Sequence[str]) -> Sequence[str]:
    """The spans that most likely were meant as names."""
    ends = [(span, span.split()) for span in spans]
    proper = [span for span, words in ends if _proper(words[0], question) and _proper(words[-1], "")]
    return (proper or spans)[:MOST_TOPICS]


def _proper(span: str, question: str) -> bool:
    """Whether the question writes the span with a capital or a figure; the capital of its first word says nothing."""
    rest = span[1:] if question.lstrip().startswith(span) else span
    return any(char.isalnum() and not char.islower() for char in rest)


def _distinct(matches: Iterable[Match]) -> list[Match]:
    """Each entity as it came first."""
    first: dict[Iri, Match] = {}
    for match in matches:
        first.setdefault(match.iri, match)
    return list(first.values())


async def _unknown(graph: Graph, message: str, names: Sequence[str]) -> TopicError:
    similar = (await graph.lookup(names, CANDIDATES)).values() if names else ()
    parts = await concurrently(*(graph.nearest(name) for name in names))
    near = _distinct(sorted(itertools.chain(*similar, *parts), key=_by_score))
    shown = ", ".join(f"{match.label} <{match.iri.value}>" for match in near[:MOST_HINTS])
    return TopicError(message, asked=", ".join(names), hint=f"nearest labels: {shown}" if shown else "")


def _by_score(match: Match) -> float:
    return -match.score


def _looks_like_iri(text: str) -> bool:
    if text.startswith("<") or "://" in text:
        return True
    try:
        Iri.parse(text)
    except TermError:
        return False
    return text.startswith(("urn:", "mailto:"))
