"""Why an answer is wrong: one class for each question that is not answered exactly, by rule from its record.

The rules are tried in this order, the first that fits decides:

- `unfounded`: an answer without a caveat to a question that has none in the graph.
- `overfull`: right answers, and others too. `incomplete`: right answers only, and not all of them.
- `linking`: no topic was found, or none of those found is a gold one.
- `error`: the question crashed, or an endpoint or the model failed.
- `abstained`: the model does not answer questions of this kind.
- `budget`: a budget was spent before there was an answer.
- `retrieval`, `choice`, `verification`, `answer`: what follows on the last stage that a gold step came through. It was
  never offered (`retrieval`); offered and not chosen (`choice`); chosen and not kept, or kept and not recognised as the
  end, or the walk was ended before it (`verification`); shown to the answering model, and not in the answer (`answer`).
  Where no graph was looked into it is the answer, too, and where a number was drawn from paths of which it is not known
  whether they are the right ones.
- Of a verdict `misjudged`, where all of its evidence was shown, or as much as is known of it, and `undecided`, where
  there was none in spite of that. Where the set names the evidence, facts that were never offered are `retrieval`,
  those that were and were not chosen `choice`, and those that were chosen and not shown `verification`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from fedkg.bench.run.record import QuestionRecord, StageCount
from fedkg.bench.scoring.scores import Score, score
from fedkg.core.answer import Status
from fedkg.core.events import Stage
from fedkg.core.question import JUDGED

__all__ = ["FAULTS", "Fault", "fault", "faults"]

Fault = Literal[
    "error",
    "abstained",
    "budget",
    "linking",
    "retrieval",
    "choice",
    "verification",
    "answer",
    "misjudged",
    "undecided",
    "incomplete",
    "overfull",
    "unfounded",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
STAGES: tuple[Stage, ...] = get_args(Stage)


def fault(record: QuestionRecord, measures: Score | None = None) -> Fault | None:
    """What is wrong with an answer.

    None where it is exactly right. `measures` are its scores, where they are known already.
    """
    measures = measures or score(record)
    if measures.exact:
        return None
    if record.unanswerable and record.answers:
        return "unfounded"
    if measures.hit:
        return "overfull" if measures.precision < 1 else "incomplete"
    return _ended(record) or (_judged if record.kind in JUDGED else _lost)(record)


def faults(records: Iterable[QuestionRecord], scores: Iterable[Score]) -> dict[Fault, int]:
    """How many questions, with their scores, have which fault, in the order of `FAULTS`.

    Those that none has are left out.
    """
    counted = Counter(map(fault, records, scores))
    return {kind: counted[kind] for kind in FAULTS if counted[kind]}


def _ended(record: QuestionRecord) -> Fault | None:
    """What ended the question before its way can be looked at."""
    if _unlinked(record):
        return "linking"
    if record.status in {"error", Status.FAILED}:
        return "error"
    if record.status == Status.ABSTAINED:
        return "abstained"
    return "budget" if record.usage.spent else None


def _unlinked(record: QuestionRecord) -> bool:
    gold = set(record.gold_topics) - {""}
    other = bool(gold and record.topics) and gold.isdisjoint(record.topics)
    return other or record.error.startswith("TopicError:")


def _judged(record: QuestionRecord) -> Fault:
    """Where the evidence of a verdict was lost; the verdict itself, where it was not."""
    lost = _unseen(record) if record.gold_facts or not record.gold_steps else _lost(record)
    return lost if lost and lost != "answer" else "misjudged" if record.answers else "undecided"


def _unseen(record: QuestionRecord) -> Fault | None:
    """Where the first of the gold facts was lost; None where all were shown, or what was shown is all that is known."""
    offered, chosen, shown = (record.passed_facts.get(stage, 0) for stage in ("offered", "chosen", "shown"))
    if offered < record.gold_facts:
        return "retrieval"
    if shown < offered:
        return "choice" if chosen < offered else "verification"
    seen = any(stage.stage == "shown" and stage.steps for stage in record.passed)
    return "retrieval" if record.topics and not seen else None


def _lost(record: QuestionRecord) -> Fault:
    """Where the way to the gold answer was lost."""
    stages = _stages(record)
    # what is shown of half the way is no answer that was overlooked
    came = [stage.gold and (stage.stage != "shown" or stage.depth >= record.gold_steps) for stage in stages]
    last = max((index for index, gold in enumerate(came) if gold), default=None)
    if last is not None:
        return _next(stages[last], stages[last + 1 :], record.gold_steps)
    nameless = record.kind == "count" and not record.gold_steps
    shown = any(stage.stage == "shown" and stage.steps for stage in stages)
    return "answer" if not record.topics or (nameless and shown) else "retrieval"


def _stages(record: QuestionRecord) -> list[StageCount]:
    """What came through each stage of each depth, in the order of a walk; what is shown for the answer comes last."""
    joined: dict[tuple[bool, int, int], StageCount] = {}
    for stage in record.passed:
        place = (stage.stage == "shown", stage.depth, STAGES.index(stage.stage))
        before = joined.get(place, stage)
        joined[place] = StageCount(stage.depth, stage.stage, before.steps + stage.steps, before.gold or stage.gold)
    return [joined[place] for place in sorted(joined)]


def _next(last: StageCount, after: Sequence[StageCount], gold_steps: int) -> Fault:
    """The fault of what follows on the last stage that a gold step came through."""
    if last.stage == "shown":
        return "answer"
    if last.stage == "offered":
        return "choice"
    if any(stage.stage == "kept" and stage.depth == last.depth for stage in after):
        return "verification"
    if last.depth >= gold_steps:
        return "verification" if after else "answer"
    ended = any(stage.stage == "finished" and stage.steps for stage in (last, *after))
    return "verification" if ended and all(stage.stage != "offered" for stage in after) else "retrieval"
