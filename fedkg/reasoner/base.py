"""The protocol of a reasoning model: typed questions in, picks of what was offered out.

A reasoning model never writes IRIs or queries; it picks numbers of offers. Whoever implements it has already checked the
picks: a number that was not offered does not come back.
"""

from collections.abc import Sequence
from typing import Protocol

from fedkg.config.settings import ConstraintLevel
from fedkg.core.choice import Choice, Conclusion, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.question import Kind, Mention, Plan, Style

__all__ = ["ReasoningModel"]


class ReasoningModel(Protocol):
    """What a method asks of a model.

    `exhaustive` says that offers cost nothing, so that all candidates are offered instead of the best few;
    `abstains` are the kinds of question that it cannot answer; `left_out` counts the offers that it had no room for and did
    not look at. `door` is what holds it to the paths that `reasoning_paths` shows it, and `held` how many of them it can be held
    to in one call (0: it cannot). Through the door `token` each path that it is shown has one end. Every call raises ModelError and BudgetError.
    """

    name: str
    exhaustive: bool
    abstains: frozenset[Kind]
    left_out: int
    door: ConstraintLevel
    held: int

    async def plan(self, question: str, kind: Kind | None = None, options: Sequence[str] = ()) -> Plan:
        """Keywords, steps, declarative statement, kind and mentions of a question (FiDeLiS v4, appendix C.1).

        Whoever asks may say the kind, and the options of a choice; else they are found out.
        """
        ...

    async def link(self, question: str, mentions: Sequence[Mention]) -> dict[str, int]:
        """For each mention's text the number (from 1) of the match that is meant; 0 where none is, missing where unsaid."""
        ...

    async def beam(
        self, question: str, plan: Plan, path: PromptCandidate | None, offers: Sequence[PromptCandidate], width: int
    ) -> tuple[Choice, ...]:
        """At most `width` steps that extend one path (None: nothing walked yet), unverified (appendix C.4)."""
        ...

    async def deductive(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> tuple[Verdict, ...]:
        """For each path whether its last step follows, and whether the statement is deducible (appendix C.2)."""
        ...

    async def deducible(
        self, question: str, plan: Plan, path: PromptCandidate, kept: Sequence[PromptCandidate] = ()
    ) -> float:
        """The model's own probability, in 0..1, that the statement can be deduced from the path (FiDeLiS v4, Table 5).

        `kept` are paths that count as well. Only for a model that gives log-probabilities.
        """
        ...

    async def choose(
        self,
        question: str,
        plan: Plan,
        offers: Sequence[PromptCandidate],
        width: int,
        kept: Sequence[PromptCandidate] = (),
    ) -> tuple[Choice, ...]:
        """`beam` for all paths and `deductive` in one: at most `width` offers, each verified; none where nothing leads on.

        An offer's text starts with the path that it extends; `kept` are paths that were walked before and count as well.
        """
        ...

    async def adequacy(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> bool:
        """Whether these paths together are enough to answer (appendix C.3; the check of Think-on-Graph)."""
        ...

    async def score_relations(
        self, question: str, plan: Plan, path: PromptCandidate | None, offers: Sequence[PromptCandidate]
    ) -> tuple[float, ...]:
        """For each offered relation in 0..1 how much it helps to answer (EPERM, subgraph retriever; Think-on-Graph).

        An offer's text is its step alone, such as `→ author →` or `← author ←`, the next one of the path; where there are
        several paths (None), it is the step with its own path before it.
        """
        ...

    async def score_entities(self, question: str, plan: Plan, offers: Sequence[PromptCandidate]) -> tuple[float, ...]:
        """For each offered entity, shown with its path or surroundings, in 0..1 how much it helps (EPERM; Think-on-Graph)."""
        ...

    async def relation_paths(
        self, question: str, plan: Plan, relations: Sequence[PromptCandidate], depth: int, most: int
    ) -> tuple[RelationPath, ...]:
        """At most `most` weighted chains of at most `depth` of the offered relations, best first (EPERM, plan generator; RoG).

        A relation's text is its step alone, such as `→ author →` or `← author ←`.
        """
        ...

    async def reasoning_paths(
        self, question: str, plan: Plan, paths: Sequence[PromptCandidate], width: int
    ) -> tuple[Choice, ...]:
        """At most `width` of these whole paths, those that lead to the answer, best first (GCR section 4.3)."""
        ...

    async def answer(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> Conclusion:
        """Which of the walked paths, and which of their tails, answer the question (appendix C.5)."""
        ...

    async def inductive(
        self, question: str, plan: Plan, paths: Sequence[PromptCandidate], hypotheses: Sequence[str]
    ) -> Conclusion:
        """As `answer`, over paths each with the hypothesis that it led to, in their order (GCR section 4.4)."""
        ...

    async def model_only(
        self, question: str, kind: Kind, options: Sequence[str] = (), style: Style = "io", sample: int = 0
    ) -> ModelOnlyAnswer:
        """The answer from the model's memory, without a graph; each `sample` from 1 on is another one (`Request.sample`)."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...
