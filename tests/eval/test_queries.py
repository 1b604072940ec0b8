"""Whether queries return the answers of documents: who is asked, what is counted, and what differs."""

from pathlib import Path

import pytest

from eval.quality.queries import SETS, Asked, GraphPlace, GraphQuestions, Kept, Results, checked, documents, reason
from eval.support.gold import GoldBenchmark
from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.data.questions import Gold as Named
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, AnswerValue, Status
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.question import Kind
from fedkg.core.terms import Blank, Term
from fedkg.engine.query_check import QueryCheck
from fedkg.testing import GoldChain
from tests.eval.test_gold import FAMILY


def document(
    *caveats: Caveat, kind: Kind = "entities", term: Term | None = None, paths: tuple[int, ...] = (0,)
) -> Answer:
    """A document with one answer."""
    value = AnswerValue("Joe", term=term, paths=paths)
    return Answer("Who?", kind, Status.ANSWERED, (value,), caveats=caveats)


def test_all_sets_are_benchmarks_with_a_graph() -> None:
    """What is asked by default is there."""
    assert all(definitions.find(name).graph for name in SETS)


def test_the_query_of_each_document_is_sent_to_the_graph(tmp_path: Path) -> None:
    """Both models are asked, and each answer comes back."""
    (tmp_path / "family.nt").write_text(FAMILY, encoding="utf-8")
    ann, miner = Named("Ann", "http://x/ann"), Named("miner", "http://x/miner")
    question = BenchmarkQuestion("1", "What was the job of the father of Ann?", (ann,), (miner,))
    definition = Definition("Family", "", 2, "family.nt")
    settings = runner.with_graph(Settings(cache=False, embedder="bm25"), definition, tmp_path)
    chains = {"1": GoldChain((("father", "out"), ("job", "out")), ("miner",))}
    benchmark = GoldBenchmark(AskingTask(settings, definition, verify=False), [question], chains)
    place = GraphPlace(tmp_path / "family.nt", definition.profile)
    made = documents(GraphQuestions("family", place, benchmark, known=True))
    figures = checked("embedded", place, made).figures()
    assert (figures["answered"], figures["same"], figures["different"]) == (2, 2, [])
    assert figures["by set"] == {"family, local": "1 of 1", "family, gold": "1 of 1"}


def test_what_was_kept_is_not_asked_again(tmp_path: Path) -> None:
    """A run goes on where it stopped: neither a model nor a server is needed for what is there."""
    made = [Asked("a", "1", document())]
    place = GraphPlace(tmp_path / "absent.nt", "freebase")
    Kept(tmp_path, "virtuoso freebase absent.nt", QueryCheck).add(made[0].key, QueryCheck("fewer", ("Joe",)))
    assert checked("virtuoso", place, made, tmp_path).checked == (QueryCheck("fewer", ("Joe",)),)


def test_documents_that_admit_a_cut_are_counted_apart() -> None:
    """The share is given with them and without."""
    cut = Caveat(CaveatKind.CUT, "a hub")
    made = tuple(Asked("a", str(number), document(*([cut] if number == 2 else []))) for number in range(3))
    figures = Results(made, (QueryCheck("same"), QueryCheck("same"), QueryCheck("more", further=2))).figures()
    assert (figures["share"], figures["share without these"]) == (0.6667, 1.0)
    assert figures["cut documents, whose query returns a superset"] == 1


def test_verdicts_are_counted_by_themselves_and_differences_have_reasons() -> None:
    """A share is one of the answers that a query can give."""
    made = (
        Asked("a", "1", document()),
        Asked("a", "2", document()),
        Asked("b", "3", document(kind="yesno")),
        Asked("b", "4", Answer("Who?", "entities", Status.NONE)),
    )
    returned = Results(made).joined(Results((), (QueryCheck("same"), QueryCheck("fewer", ("Joe",)), None, None)))
    figures = returned.figures()
    assert (figures["answered"], figures["same"], figures["share"]) == (2, 1, 0.5)
    assert figures["judgements, which have no query"] == 1
    assert figures["by set"] == {"a": "1 of 2"}
    assert figures["different"] == [{"set": "a", "id": "2", "why": "fewer", "detail": "missing Joe; further 0"}]


@pytest.mark.parametrize(
    ("answer", "check", "expected"),
    [
        (document(), QueryCheck("same"), ""),
        (document(), QueryCheck("more", further=3), "more"),
        (
            document(Caveat(CaveatKind.CUT, "1,000 of 2,000 ends")),
            QueryCheck("more", further=1),
            "cut documents, whose query returns a superset",
        ),
        (document(paths=()), None, "no query: no path leads to the answers"),
        (document(term=Blank("b")), None, "no query: an answer is a node without a name"),
        (document(), None, "no query: too many ends would have to be named"),
    ],
)
def test_reasons(answer: Answer, check: QueryCheck | None, expected: str) -> None:
    """What differs, and what has no query, says why."""
    assert reason(answer, check) == expected
