"""What a server counts."""

import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.core.answer import Answer, Status
from fedkg.core.usage import Usage
from fedkg.serve.gate import Gate
from fedkg.serve.metrics import ServerMetrics


def test_answers_costs_and_problems_are_counted() -> None:
    """In Prometheus' text, by method and status, and without the question."""
    metrics = ServerMetrics(Gate(1, 1))
    usage = Usage(requests=3, model_calls=2, tokens_in=100, tokens_out=7, price=0.5, seconds=0.2)
    answer = Answer("Who is Ann's secret?", "entities", Status.ANSWERED, usage=usage, method="gcr")
    metrics.answered(answer)
    metrics.spent(answer.usage)
    metrics.failed("TopicError")
    text = metrics.text().decode()
    lines = text.splitlines()
    assert 'fedkg_questions_total{method="gcr",status="answered"} 1.0' in lines
    assert 'fedkg_question_seconds_bucket{le="0.25"} 1.0' in lines
    assert "fedkg_endpoint_requests_total 3.0" in lines
    assert "fedkg_model_calls_total 2.0" in lines
    assert 'fedkg_model_tokens_total{direction="in"} 100.0' in lines
    assert "fedkg_model_dollars_total 0.5" in lines
    assert 'fedkg_problems_total{error="TopicError"} 1.0' in lines
    assert "secret" not in text


async def test_what_is_under_way_is_read_off_the_gate() -> None:
    """The gauge is what the gate counts now."""
    gate = Gate(2, 1)
    metrics = ServerMetrics(gate)
    async with gate.turn():
        assert "fedkg_under_way 1.0" in metrics.text().decode()
    assert "fedkg_under_way 0.0" in metrics.text().decode()


def test_two_servers_count_apart() -> None:
    """Each has a registry of its own."""
    first, second = ServerMetrics(Gate(1, 1)), ServerMetrics(Gate(1, 1))
    first.failed("X")
    assert 'error="X"' not in second.text().decode()
