import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, AnswerValue, Status
from fedkg.engine import history
from fedkg.engine.history import History
from fedkg.errors import CacheError

ADDING = """
import sys
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, Status
from fedkg.engine.history import History
for number in range(10):
    History(Settings(cache_dir=sys.argv[1])).add(Answer(f"{sys.argv[2]} {number}", "entities", Status.NONE), "ask")
"""


def answer(question: str, value: str = "Ada") -> Answer:
    """An answer to keep."""
    return Answer(question, "entities", Status.ANSWERED, (AnswerValue(value),))


def questions(kept: History) -> list[str]:
    """The questions that are kept, the newest first."""
    return [entry.answer.question for entry in kept.entries()]


@pytest.fixture
def kept(tmp_path: Path) -> History:
    """An empty history."""
    return History(Settings(cache_dir=str(tmp_path)), {})


def test_the_newest_comes_first(kept: History) -> None:
    """With the document as it was given, its time, and who gave it."""
    assert kept.entries() == []
    kept.add(answer("first"), "ask")
    kept.add(answer("second"), "chat")
    newest, oldest = kept.entries()
    assert (newest.answer, newest.command) == (answer("second"), "chat")
    assert (oldest.answer, oldest.command) == (answer("first"), "ask")
    assert newest.at.endswith("+00:00")
    assert (kept.clear(), kept.entries(), kept.clear()) == (2, [], 0)


def test_it_is_the_users_alone(kept: History) -> None:
    """Neither file nor folder is readable for others."""
    kept.add(answer("q"), "ask")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept.file, kept.file.parent)] == [0o600, 0o700]


def test_secrets_do_not_enter_it(tmp_path: Path) -> None:
    """Keys of the environment, and passwords of URLs, wherever they stand in a document."""
    settings = Settings(cache_dir=str(tmp_path), endpoints=("http://me:pa55word@host/sparql",), contact="me@ex.org")
    kept = History(settings, {"OPENAI_API_KEY": "k3y-of-mine"})
    kept.add(answer("what is k3y-of-mine, me@ex.org?", "pa55word"), "ask")
    data = kept.file.read_bytes()
    assert not [secret for secret in (b"k3y", b"pa55", b"me@ex") if secret in data]
    assert questions(kept) == ["what is [secret], [secret]?"]


@pytest.mark.parametrize("settings", [{"history": False}, {"cache": False}])
def test_it_can_be_switched_off(tmp_path: Path, settings: dict[str, bool]) -> None:
    """Then no file is made; who keeps nothing on disk keeps no answers either."""
    kept = History(Settings(cache_dir=str(tmp_path), **settings))  # type: ignore[arg-type]  # a bool of any name
    kept.add(answer("q"), "ask")
    assert not [*tmp_path.iterdir()]


def test_its_size_is_bounded(kept: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older half goes when the room is used up, and what is too large for it is left out."""
    monkeypatch.setattr(history, "MOST_BYTES", 10_000)
    monkeypatch.setattr(history, "LARGEST", 2_000)
    for number in range(100):
        kept.add(answer(f"question {number}"), "ask")
        assert kept.file.stat().st_size <= 10_000
    left = questions(kept)
    assert left == [f"question {number}" for number in range(99, 99 - len(left), -1)]
    assert 5 < len(left) < 50
    kept.add(answer("long", "x" * 3_000), "ask")
    assert questions(kept) == left
    assert stat.S_IMODE(kept.file.stat().st_mode) == 0o600


def test_a_torn_line_costs_that_line_alone(kept: History) -> None:
    """As after a kill in its middle; so does a line of anything else."""
    kept.add(answer("first"), "ask")
    kept.file.write_bytes(kept.file.read_bytes() + b'{"at": "2026')
    kept.add(answer("second"), "ask")
    kept.file.write_bytes(kept.file.read_bytes() + b"\xff\n")
    assert questions(kept) == ["second", "first"]


def test_several_processes_may_add(tmp_path: Path) -> None:
    """No line of one gets into one of another."""
    command = [sys.executable, "-c", ADDING, str(tmp_path)]
    writers = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    expected = {f"{name} {number}" for name in ("one", "two") for number in range(10)}
    assert set(questions(History(Settings(cache_dir=str(tmp_path))))) == expected


def test_what_is_not_ours_is_left_alone(kept: History, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A link is followed neither to write nor to read, and a question does not fail for it."""
    other = tmp_path / "other"
    other.write_text("mine\n")
    kept.file.parent.mkdir(mode=0o700)
    kept.file.symlink_to(other)
    kept.add(answer("q"), "ask")
    assert "the answer is not kept" in caplog.text
    assert other.read_text() == "mine\n"
    assert kept.entries() == []
    kept.file.unlink()
    kept.file.write_bytes(b"x" * 40_000_000)
    with pytest.raises(CacheError, match="cannot be read"):
        kept.entries()
