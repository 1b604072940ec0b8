"""What a run has to say beside its answer."""

from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.events import Planned, Warned
from fedkg.core.question import Plan
from fedkg.engine.run_notes import RunNotes


def test_events_are_taken_once_and_warnings_stay() -> None:
    """Who watches gets each event once; the document has all warnings and caveats."""
    notes = RunNotes()
    notes.tell(Planned(Plan(())))
    notes.warn("one")
    notes.admit(CaveatKind.CUT, "three of five")
    assert notes.take() == [Planned(Plan(())), Warned("one")]
    assert notes.take() == []
    notes.warn("two")
    assert notes.warnings == ["one", "two"]
    assert notes.caveats == [Caveat(CaveatKind.CUT, "three of five")]
