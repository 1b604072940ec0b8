"""The formats of question files: what a row of each holds, and the question that it is.

What a definition calls `loader` is one of these, or one of an installed package (`fedkg.loaders`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from fedkg.bench.data.composed_operations import composed_operation
from fedkg.bench.data.gold_facts import worded_facts
from fedkg.bench.data.gold_operations import GoldOperation
from fedkg.bench.data.questions import BenchmarkQuestion, Gold, Missing
from fedkg.bench.data.rows import Row, array, lines
from fedkg.common.plugins import Registry
from fedkg.core.question import Kind, check_options, check_question
from fedkg.core.terms import Iri
from fedkg.errors import DatasetError, InputError

__all__ = ["FORMATS", "Format", "MisfitError", "checked_question", "find"]

Value = str | bool | int | float
WIKIDATA = "http://www.wikidata.org/entity/"
ITEM = re.compile(r"Q\d+")
LOOKS_LIKE_IRI = re.compile(r"(https?://|urn:)\S+")
VERDICTS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


class MisfitError(ValueError):
    """Raised for a row that is no question; `key` is the one in it that does not fit."""

    def __init__(self, reason: str, key: str = "") -> None:
        super().__init__(reason)
        self.key = key


class Format(msgspec.Struct, frozen=True):
    """How a file is cut into rows, and how a row is read: by its text and the kind in its definition, if any."""

    rows: Callable[[Path], Iterator[Row]]
    read: Callable[[bytes, Kind | None], BenchmarkQuestion]


# ---- our own ----


class Entity(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entity, or a literal's value."""

    iri: str | None = None
    label: str | None = None
    value: Value | None = None


class JsonLinesRow(msgspec.Struct, frozen=True):
    """A row of a JSON Lines file of ours, or of a user's: `question` and `answers` are needed, the rest is not.

    Answers and topics are texts, IRIs or entities; true and false are verdicts. `options` are texts, or texts by their
    letters, one of which the answer may be. An id may be left out: it is the line's number then. There may be no answer
    where `unanswerable` says what the graph lacks.
    """

    question: str
    answers: tuple[Value | Entity, ...]
    id: str | int | None = None
    topic_entities: tuple[str | Entity, ...] = ()
    topics: tuple[str | Entity, ...] = ()
    kind: Kind | None = None
    options: tuple[str, ...] | dict[str, str] = ()
    hops: int | None = None
    gold_path: tuple[tuple[str, str, str], ...] = ()
    unanswerable: Missing = ""
    operation: GoldOperation | None = None


def _plain(text: bytes, kind: Kind | None) -> BenchmarkQuestion:
    row = msgspec.json.decode(text, type=JsonLinesRow)
    answers = tuple(filter(_says, map(_gold, row.answers)))
    verdict = bool(row.answers) and all(isinstance(_value(item), bool) for item in row.answers)
    kind = row.kind or kind or ("choice" if row.options else "yesno" if verdict else None)
    if isinstance(row.options, dict):
        answers = tuple(Gold(row.options.get(answer.label, answer.label)) for answer in answers)
    question = checked_question(
        "" if row.id is None else str(row.id),
        row.question,
        answers,
        topics=map(_gold, (*row.topic_entities, *row.topics)),
        kind=kind,
        options=tuple(row.options.values() if isinstance(row.options, dict) else row.options),
        hops=row.hops or 0,
        gold_path=row.gold_path,
        unanswerable=row.unanswerable,
    )
    return msgspec.structs.replace(question, operation=row.operation)


def _says(gold: Gold) -> bool:
    return bool(gold.key)


def _value(item: Value | Entity) -> Value | None:
    return item.value if isinstance(item, Entity) else item


def _gold(item: Value | Entity) -> Gold:
    """A gold answer or topic from what stands for it in a file."""
    if isinstance(item, Entity):
        label = item.label if item.value is None else _text(item.value)
        return Gold(label or "", item.iri or "")
    text = _text(item)
    return Gold(iri=text) if LOOKS_LIKE_IRI.fullmatch(text) else Gold(text)


def _text(value: Value) -> str:
    """The value as an answer shows it: a verdict, or a date without the time of midnight."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return text.removesuffix(MIDNIGHT) if DATED.fullmatch(text) else text


MIDNIGHT = "T00:00:00Z"
DATED = re.compile(rf"-?\d{{4,}}-\d\d-\d\d{MIDNIGHT}")


# ---- ComplexWebQuestions (Talmor and Berant 2018) ----


class CwqRow(msgspec.Struct, frozen=True):
    """What a row of ComplexWebQuestions has besides those of ours: how it was composed, and its query."""

    type: str = ""
    sparql: str | None = None


def _cwq(text: bytes, kind: Kind | None) -> BenchmarkQuestion:
    row = msgspec.json.decode(text, type=CwqRow)
    return msgspec.structs.replace(_plain(text, kind), operation=composed_operation(row.type, row.sparql or ""))


# ---- CR-LT-KGQA (Guo, Toroghi and Sanner 2024) ----


class CrltRow(msgspec.Struct, frozen=True):
    """A question or claim of CR-LT, with its anchors by name and the facts that its answer rests on."""

    id: str
    query: str
    answer: bool
    anchors: dict[str, str] = msgspec.field(name="KG Entities")
    facts: str = msgspec.field(name="KG Triples", default="")


def _crlt(text: bytes, kind: Kind | None) -> BenchmarkQuestion:
    row = msgspec.json.decode(text, type=CrltRow)
    topics = [Gold(" ".join(name.split()), WIKIDATA + _item(key)) for name, key in row.anchors.items()]
    question = checked_question(row.id, row.query, [_gold(row.answer)], topics=topics, kind=kind or "yesno")
    return msgspec.structs.replace(question, gold_facts=worded_facts(row.facts))


def _item(key: str) -> str:
    """A Wikidata id; some of the published ones hold blanks."""
    item = "".join(key.split())
    if not ITEM.fullmatch(item):
        raise MisfitError(f"{key[:50]!r} is no item of Wikidata", "KG Entities")
    return item


# ---- multiple choice ----


class MedqaRow(msgspec.Struct, frozen=True):
    """A question of MedQA (Jin et al. 2021), with its options by letter.

    MedQA's own files name the letter `answer_idx`.
    """

    question: str
    options: dict[str, str]
    answer: str
    answer_idx: str = ""
    id: str = ""


def _medqa(text: bytes, _kind: Kind | None) -> BenchmarkQuestion:
    row = msgspec.json.decode(text, type=MedqaRow)
    return _choice(row.id, row.question, row.options, row.answer_idx or row.answer)


class CommonsenseOption(msgspec.Struct, frozen=True):
    """An option of CommonsenseQA."""

    label: str
    text: str


class CommonsenseStem(msgspec.Struct, frozen=True):
    """What CommonsenseQA asks."""

    stem: str
    choices: tuple[CommonsenseOption, ...]
    concept: str = msgspec.field(name="question_concept", default="")


class CommonsenseRow(msgspec.Struct, frozen=True):
    """A row of CommonsenseQA (Talmor et al. 2019); its test split has no keys."""

    id: str
    question: CommonsenseStem
    key: str = msgspec.field(name="answerKey", default="")


def _commonsenseqa(text: bytes, _kind: Kind | None) -> BenchmarkQuestion:
    row = msgspec.json.decode(text, type=CommonsenseRow)
    options = {choice.label: choice.text for choice in row.question.choices}
    topics = [Gold(row.question.concept)] if row.question.concept else []
    return _choice(row.id, row.question.stem, options, row.key, topics)


def _choice(
    name: str, question: str, options: Mapping[str, str], letter: str, topics: Iterable[Gold] = ()
) -> BenchmarkQuestion:
    if letter not in options:
        raise MisfitError(f"{letter[:50]!r} is none of the options {', '.join(options)}", "answer")
    gold = [Gold(options[letter])]
    return checked_question(name, question, gold, topics=topics, kind="choice", options=tuple(options.values()))


# ---- QALD ----


class QaldText(msgspec.Struct, frozen=True):
    """A question in one language."""

    language: str
    string: str


class QaldValue(msgspec.Struct, frozen=True):
    """A value of a result, in the form of SPARQL's JSON."""

    type: str
    value: str


class QaldBindings(msgspec.Struct, frozen=True):
    """The rows of a result."""

    bindings: tuple[dict[str, QaldValue], ...] = ()


class QaldResult(msgspec.Struct, frozen=True):
    """What a gold query gives: rows, or a truth value."""

    results: QaldBindings = QaldBindings()
    boolean: bool | None = None


class QaldRow(msgspec.Struct, frozen=True):
    """A question of QALD, in several languages (Usbeck et al. 2023); it names no topic entities."""

    id: str | int
    question: tuple[QaldText, ...]
    answers: tuple[QaldResult, ...]


def _qald(text: bytes, kind: Kind | None) -> BenchmarkQuestion:
    row = msgspec.json.decode(text, type=QaldRow)
    english = next((wording.string for wording in row.question if wording.language == "en"), None)
    if english is None:
        raise MisfitError("there is no English question", "question")
    verdicts = [_gold(result.boolean) for result in row.answers if result.boolean is not None]
    cells = [cell for result in row.answers for binding in result.results.bindings for cell in binding.values()]
    entities = [Gold(iri=cell.value) if cell.type == "uri" else Gold(cell.value) for cell in cells]
    return checked_question(str(row.id), english, verdicts + entities, kind="yesno" if verdicts else kind)


# ---- all of them ----


def checked_question(
    name: str,
    text: str,
    answers: Sequence[Gold],
    *,
    topics: Iterable[Gold] = (),
    kind: Kind | None = None,
    options: tuple[str, ...] = (),
    hops: int = 0,
    gold_path: tuple[tuple[str, str, str], ...] = (),
    unanswerable: Missing = "",
) -> BenchmarkQuestion:
    """The question, if it can be asked and scored. Raises MisfitError."""
    topics = tuple(topics)
    try:
        check_question(text)
        kind, options = check_options(kind, options)
        for named in filter(None, (gold.iri for gold in (*answers, *topics))):
            Iri.parse(named)
    except InputError as error:
        raise MisfitError(str(error)) from error
    if unanswerable and answers:
        raise MisfitError("an unanswerable question has a gold answer", "answers")
    judged = () if unanswerable else tuple(dict.fromkeys(_judged(answers, kind, options)))
    depth = hops or len(gold_path)
    return BenchmarkQuestion(name, text, topics, judged, kind, options, depth, gold_path, unanswerable=unanswerable)


def _judged(answers: Sequence[Gold], kind: Kind | None, options: Sequence[str]) -> Sequence[Gold]:
    """The gold answers as a judgement of that kind would be told.

    Raises MisfitError where there are none, or they are not to be judged so.
    """
    if not answers:
        raise MisfitError("there is no gold answer", "answers")
    if kind in {"yesno", "claim"}:
        if unfit := [answer.key for answer in answers if answer.label.casefold() not in VERDICTS]:
            raise MisfitError(f"the gold answer is neither yes nor no: {unfit[0][:100]!r}", "answers")
        return [Gold(VERDICTS[answer.label.casefold()]) for answer in answers]
    if options:
        verdicts = [Gold(" ".join(answer.label.split())) for answer in answers]
        if unfit := [answer.label for answer in verdicts if answer.label not in options]:
            raise MisfitError(f"the gold answer is none of the options: {unfit[0][:100]!r}", "answers")
        return verdicts
    return answers


FORMATS = {
    "jsonl": Format(lines, _plain),
    "cwq": Format(lines, _cwq),
    "crlt": Format(partial(array, head=r"^\s*\[", key="query"), _crlt),
    "medqa": Format(lines, _medqa),
    "commonsenseqa": Format(lines, _commonsenseqa),
    "qald": Format(partial(array, head=r'"questions"\s*:\s*\[', key="question"), _qald),
}
_REGISTRY: Registry[Format] = Registry(
    "fedkg.loaders", FORMATS, lambda thing: isinstance(thing, Format), "a fedkg.bench.data.formats.Format"
)


def find(name: str) -> Format:
    """The format of that name. Raises DatasetError for an unknown one, naming the known ones, and PluginError."""
    known = _REGISTRY.get(name)
    if known is None:
        raise DatasetError(f"no loader is called {name[:100]!r}; known: {', '.join(sorted(_REGISTRY.names()))}")
    return known
