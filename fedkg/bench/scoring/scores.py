"""Scores of one question: pure functions of its record, so that a result file has every figure in it.

Strict scores compare IRIs. Gold without an IRI (WebQSP, CWQ) is any of the entities that the asked graph calls so, by
label or alias, looked up once for the record; where it has none, gold is compared by label, however it is written. So
is what a model answers from memory, which has no IRI: it is right where it is the name of a right answer. Numbers
and dates are compared as values; a number without a unit is right in that of the question.

Lenient scores are those that other walkers publish as "Exact Match" or "Hits@1": one text within another. `lenient_hit`
is that of Think-on-Graph and Plan-on-Graph (a name of an answer within a gold name, or the other way round),
`contained_hit` and `contained_f1` are those of RoG, GCR and FiDeLiS (a gold name somewhere within all answers
together).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean

import msgspec

from fedkg.bench.run.record import GivenAnswer, QuestionRecord
from fedkg.bench.scoring.comparable import bare_number, comparable
from fedkg.core.answer import Status
from fedkg.core.caveat import CaveatKind
from fedkg.core.question import JUDGED
from fedkg.core.usage import Usage

__all__ = ["CACHED", "COST", "KNOWING", "LENIENT", "STRICT", "WALK", "Score", "covered", "mean", "score"]

STRICT = ("hits_at_1", "hit", "f1", "precision", "recall", "exact", "accuracy")
LENIENT = ("lenient_hit", "contained_hit", "contained_f1")
KNOWING = ("answerable", "refused", "unmarked")
WALK = ("coverage", "path_validity", "faithful", "faithful_bridged", "grounded", "depth", "gold_depth")
COST = ("calls", "tokens", "requests", "seconds", "price")
CACHED = ("cache_hits", "replayed_calls", "replayed_tokens")
"""What the cache answered, at no cost."""

folded = lru_cache(maxsize=100_000)(comparable)  # the same names answer many questions


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """How one question went. Answers are scored in 0..1, 0.0 where there are none, whatever they ended with.

    hits_at_1: the chance that an answer drawn from those ranked first is right. Answers of equal path score rank equal,
    so for one answer it is 0 or 1; of answers without paths the first ranks first. hit: any answer is right. f1,
    precision, recall, exact: of the answer set. accuracy: of a yes/no question, a claim or a choice whether the one
    verdict is right, of others hits_at_1. An unanswerable question counts as right, in all of these, where there is no
    answer, or one with a caveat.

    What follows is None where it does not apply. answerable: accuracy where there is a gold answer. refused: of an
    unanswerable question whether it has no answer, or one with a caveat. unmarked: of an answer without a caveat
    whether it is right. coverage: share of the gold steps that were offered (FiDeLiS v4,
    section 4.3, CR), or of the gold facts; where neither is known, whether a gold answer was. path_validity: share of
    the shown edges that the endpoint confirms (the same section, VR). faithful: share of the right answers that stand
    on confirmed paths (GCR, section 5.3: "the percentage of faithful reasoning in correctly predicted answers", where
    "the generated reasoning path can be found in KGs"), and on nothing else; faithful_bridged: also where common
    knowledge connects these, which the model wrote down. grounded: share of the answers that could be: no verdict, and
    no answer of a method without a graph. depth: mean edges of the answering paths, beside gold_depth.

    calls of the model, tokens in and out, requests to endpoints, seconds, price in US dollars: None where a question
    ended in an error that does not say its cost, and price also where it is not known. What the cache answered is not
    among these: cache_hits (neighbourhoods and labels that needed no request), replayed_calls and replayed_tokens
    (replies that were kept from an earlier time).
    """

    hits_at_1: float = 0.0
    hit: float = 0.0
    f1: float = 0.0
    precision: float = 0.0
    recall: float = 0.0
    exact: float = 0.0
    accuracy: float = 0.0
    lenient_hit: float = 0.0
    contained_hit: float = 0.0
    contained_f1: float = 0.0
    answerable: float | None = None
    refused: float | None = None
    unmarked: float | None = None
    coverage: float | None = None
    path_validity: float | None = None
    faithful: float | None = None
    faithful_bridged: float | None = None
    grounded: float | None = None
    depth: float | None = None
    gold_depth: float | None = None
    calls: float | None = None
    tokens: float | None = None
    requests: float | None = None
    seconds: float | None = None
    price: float | None = None
    cache_hits: float | None = None
    replayed_calls: float | None = None
    replayed_tokens: float | None = None


def score(record: QuestionRecord) -> Score:
    """The scores of one question."""
    if record.unanswerable:
        return _unanswerable(record)
    gold = {item.iri or folded(item.label): folded(item.label) for item in record.gold if item.key}
    entities = {iri: folded(item.label) for item in record.gold for iri in item.entities}
    right = _right(record.answers, gold, entities)
    strict, lenient = _strict(record, gold, right), _lenient(record, gold, right)
    unmarked = strict.accuracy if record.answers and not record.caveats else None
    knowing = {"answerable": strict.accuracy, "unmarked": unmarked}
    return msgspec.structs.replace(strict, **lenient, **knowing, **_walk(record, right), **_cost(record))


def _unanswerable(record: QuestionRecord) -> Score:
    """Refused, or answered with a caveat, it is right; of errors only that no entity is called so is a refusal."""
    unmarked = bool(record.answers) and not record.caveats
    broken = record.status in {"error", Status.FAILED} and not record.error.startswith("TopicError:")
    refused = float(not unmarked and not broken)
    walk = _walk(record, [""] * len(record.answers)) | {"coverage": None}
    right = dict.fromkeys((*STRICT, *LENIENT, "refused"), refused)
    rest = {"unmarked": 0.0 if unmarked else None, **walk, **_cost(record)}
    return msgspec.structs.replace(Score(), **right, **rest)


def covered(record: QuestionRecord) -> dict[int, bool]:
    """Of each depth of the gold path whether its step was offered there.

    Empty where no path is known, or nothing was offered.
    """
    offered = _offered(record)
    return {depth: depth in offered and offered[depth] for depth in range(1, record.gold_steps + 1)} if offered else {}


def mean(values: Iterable[float]) -> float:
    """The mean, rounded to four digits; 0.0 of nothing."""
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


def _right(answers: Sequence[GivenAnswer], gold: Mapping[str, str], entities: Mapping[str, str]) -> list[str]:
    """Of each answer the key of the gold answer that it is, "" for a wrong one.

    `gold` is key to folded label, `entities` the IRI of each entity that is called so to its key.
    """
    named = {label: key for key, label in gold.items() if label}
    looked_up = set(entities.values())
    return [_meant(answer, gold, named, entities, looked_up) for answer in answers]


def _meant(
    answer: GivenAnswer,
    gold: Mapping[str, str],
    named: Mapping[str, str],
    entities: Mapping[str, str],
    looked_up: Collection[str],
) -> str:
    if answer.label and answer.key in gold:
        return answer.key
    if answer.label and answer.key in entities:
        return entities[answer.key]
    text = folded(answer.label or answer.key)
    if not answer.label and text not in gold:
        text = bare_number(answer.key) or text
    if answer.label or answer.grounded:  # what the graph calls so may still be another entity
        return text if text in gold and not (answer.label and text in looked_up) else ""
    return named.get(text, "")


def _strict(record: QuestionRecord, gold: Mapping[str, str], right: Sequence[str]) -> Score:
    correct = len(set(right) - {""})
    if not correct:
        return Score()
    keys = {key or answer.key for key, answer in zip(right, record.answers, strict=True)}
    precision, recall = correct / len(keys), correct / len(gold)
    at_1 = fmean(right[index] != "" for index in _first(record.answers))
    exact = float(precision == recall == 1.0)
    return Score(
        hits_at_1=at_1,
        hit=1.0,
        f1=_f1(precision, recall),
        precision=precision,
        recall=recall,
        exact=exact,
        accuracy=exact if record.kind in JUDGED else at_1,
    )


def _first(answers: Sequence[GivenAnswer]) -> list[int]:
    """Which answers share the best path score; a model that answers from memory names the surest first."""
    if not any(answer.depth for answer in answers):
        return [0]
    best = max(answer.score for answer in answers)
    return [index for index, answer in enumerate(answers) if answer.score == best]


def _lenient(record: QuestionRecord, gold: Mapping[str, str], right: Sequence[str]) -> dict[str, float]:
    """What is right strictly is so leniently, also where the gold answer has no label, or another one."""
    texts = {folded(answer.label or answer.key): None for answer in record.answers}
    together, met = " ".join(texts), set(right)
    contained = sum(key in met or (label != "" and label in together) for key, label in gold.items())
    precision, recall = (min(1.0, contained / len(texts)), contained / len(gold)) if contained else (0.0, 0.0)
    return {
        "lenient_hit": float(any(right) or _within(texts, gold.values())),
        "contained_hit": float(contained > 0),
        "contained_f1": _f1(precision, recall),
    }


def _within(texts: Iterable[str], labels: Iterable[str]) -> bool:
    """Whether one of the texts is a part of one of the labels, or the other way round; spaces do not count."""
    ours, theirs = ([text.replace(" ", "") for text in side if text] for side in (texts, labels))
    return any(name in other or other in name for name in ours for other in theirs)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision else 0.0


def _walk(record: QuestionRecord, right: Sequence[str]) -> dict[str, float | None]:
    answers = record.answers
    faithful = _faithful([answer for key, answer in zip(right, answers, strict=True) if key])
    return {
        "coverage": _coverage(record),
        "path_validity": record.valid / record.edges if record.edges and record.valid is not None else None,
        "faithful": 0.0 if faithful and CaveatKind.BRIDGE in record.caveats else faithful,
        "faithful_bridged": faithful,
        "grounded": fmean(answer.grounded for answer in answers) if answers and _groundable(record) else None,
        "depth": _mean_depth(answers),
        "gold_depth": float(record.hops) if record.hops else None,
    }


def _groundable(record: QuestionRecord) -> bool:
    """Whether an answer could stand on a path of its own: a verdict does not, nor what no graph was asked for."""
    return record.kind not in JUDGED and bool(record.topics or record.passed or record.edges)


def _coverage(record: QuestionRecord) -> float | None:
    """The share of gold steps, or of gold facts, that were offered.

    Without either a judgement or a number has no step to look for.
    """
    if record.gold_facts:
        return record.passed_facts.get("offered", 0) / record.gold_facts if record.passed else None
    steps = covered(record)
    if steps:
        return fmean(steps.values())
    offered = _offered(record)
    return float(any(offered.values())) if offered and record.kind not in {*JUDGED, "count"} else None


def _offered(record: QuestionRecord) -> dict[int, bool]:
    """Of each depth at which something was offered whether a gold step was."""
    offered: dict[int, bool] = {}
    for passed in record.passed:
        if passed.stage == "offered":
            offered[passed.depth] = passed.gold or offered.get(passed.depth, False)
    return offered


def _faithful(right: Sequence[GivenAnswer]) -> float | None:
    """An answer without a path has nothing to be confirmed: it is not faithful."""
    if not right or any(answer.depth and answer.confirmed is None for answer in right):
        return None
    return fmean(answer.confirmed is True for answer in right)


def _mean_depth(answers: Sequence[GivenAnswer]) -> float | None:
    depths = [answer.depth for answer in answers if answer.depth]
    return fmean(depths) if depths else None


def _cost(record: QuestionRecord) -> dict[str, float | None]:
    usage = record.usage
    if record.status == "error" and usage == Usage():
        return dict.fromkeys((*COST, *CACHED))
    return {
        "calls": usage.model_calls - usage.replayed_calls,
        "tokens": usage.tokens_in + usage.tokens_out - usage.replayed_tokens,
        "requests": usage.requests,
        "seconds": usage.seconds,
        "price": None if usage.price is None else max(0.0, usage.price - usage.replayed_price),
        "cache_hits": usage.cache_hits,
        "replayed_calls": usage.replayed_calls,
        "replayed_tokens": usage.replayed_tokens,
    }
