"""What a server counts, as Prometheus reads it."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from fedkg.core.answer import Answer
from fedkg.core.usage import Usage
from fedkg.serve.gate import Gate

__all__ = ["CONTENT_TYPE", "ServerMetrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""Upper bounds of the histogram's buckets."""


class ServerMetrics:
    """Counters of one server, in a registry of their own; all names begin with `fedkg_`.

    Labels are methods, statuses and names of errors: none holds what was asked.
    """

    def __init__(self, gate: Gate) -> None:
        self._registry = CollectorRegistry()
        self._questions = Counter(
            "fedkg_questions", "Questions that were answered.", ["method", "status"], registry=self._registry
        )
        self._problems = Counter(
            "fedkg_problems", "Requests that ended with an error.", ["error"], registry=self._registry
        )
        self._seconds = Histogram(
            "fedkg_question_seconds", "Time to an answer.", buckets=SECONDS, registry=self._registry
        )
        self._requests = Counter("fedkg_endpoint_requests", "Requests to endpoints.", registry=self._registry)
        self._calls = Counter("fedkg_model_calls", "Calls of the model.", registry=self._registry)
        self._tokens = Counter("fedkg_model_tokens", "Tokens of the model.", ["direction"], registry=self._registry)
        self._price = Counter("fedkg_model_dollars", "Price of the model's calls.", registry=self._registry)
        under_way = Gauge("fedkg_under_way", "Questions under way.", registry=self._registry)
        under_way.set_function(lambda: gate.under_way)
        waiting = Gauge("fedkg_waiting", "Questions that wait for their turn.", registry=self._registry)
        waiting.set_function(lambda: gate.waiting)

    def answered(self, answer: Answer) -> None:
        """Counts an answer; what it cost is counted by `spent`."""
        self._questions.labels(answer.method, str(answer.status)).inc()
        self._seconds.observe(answer.usage.seconds)

    def spent(self, usage: Usage) -> None:
        """Counts what a question cost, whether it was answered or not."""
        self._requests.inc(usage.requests)
        self._calls.inc(usage.model_calls)
        self._tokens.labels("in").inc(usage.tokens_in)
        self._tokens.labels("out").inc(usage.tokens_out)
        self._price.inc(usage.price or 0.0)

    def failed(self, error: str) -> None:
        """Counts a request that ended with that error."""
        self._problems.labels(error).inc()

    def text(self) -> bytes:
        """All of them, in Prometheus' text format."""
        return generate_latest(self._registry)
