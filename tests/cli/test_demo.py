import json

import pytest

from fedkg.cli import demo
from fedkg.config.resources import folder


@pytest.fixture(scope="module")
def gold() -> dict[str, set[str]]:
    """The sample's questions with the IRIs of their answers."""
    rows = [json.loads(line) for line in (folder("sample") / "questions.jsonl").read_text().splitlines()]
    return {row["question"]: {str(answer.get("iri", "")) for answer in row["answers"]} for row in rows}


@pytest.mark.parametrize("embedder", ["auto", "bm25"])
def test_demo_answers_its_questions(
    gold: dict[str, set[str]], embedder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """All three answers are the sample's gold answers, with and without the embedding packages; every edge holds."""
    answers, checked = demo.run(embedder)
    assert tuple(answer.question for answer in answers) == demo.QUESTIONS
    for answer in answers:
        assert {value.iri for value in answer.answers} == gold[answer.question], answer.question
        assert all(value.grounded for value in answer.answers)
        assert answer.usage.model_calls == 0
    hops = [max(len(path.edges) for path in answer.paths) for answer in answers]
    assert (hops[:2], len(answers[2].answers) > 1) == ([1, 2], True)
    assert checked
    assert all(check.holds for check in checked)
    out = capsys.readouterr().out
    assert "New Zealand → capital → Wellington  [sample]" in out
    assert f"All {len(checked)} edges hold." in out


def test_demo_needs_nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings in the environment do not change it, and it ends with what to type next."""
    monkeypatch.setenv("FEDKG_MODEL", "anthropic:m")
    monkeypatch.setenv("FEDKG_ENDPOINTS", "wikidata")
    monkeypatch.setattr(demo, "QUESTIONS", demo.QUESTIONS[:1])
    demo.main()
    assert "fedkg ask" in capsys.readouterr().out.splitlines()[-1]
