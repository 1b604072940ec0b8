"""A question on its way to a walk: its plan, and the entities to start from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from fedkg.config.settings import Settings
from fedkg.core.caveat import CaveatKind
from fedkg.core.events import Linked, Planned
from fedkg.core.question import Kind, Match, Mention, Plan, evident
from fedkg.core.terms import Iri, own_name
from fedkg.engine import linking
from fedkg.engine.handlers.base import UNUSABLE
from fedkg.engine.mentions import ALIAS
from fedkg.engine.run_notes import RunNotes
from fedkg.engine.similar_names import Similar
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.methods.base import Method
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.plan import STATEMENT, PlanCall
from fedkg.retrieval import candidates

__all__ = ["Preparation"]

OPTIONLESS = "the options of this choice are not known, so nothing was looked for; give each with --option"


@dataclass
class Preparation:
    """What a walk needs of a question, as far as it is known by now: a spent budget leaves the rest as it is.

    `topics`, `kind` and `options` are the caller's. `plan` is that of content words until there is a model's, which
    `planned` tells; `linked` are the entities to start from, `named` those of them that the caller named, `absent` the
    names that the graph does not know. `notes` take the events and the caveats of the answer, `similar` returns
    what is alike in meaning to names that nothing is called.
    """

    question: str
    graph: Graph
    explored: ExploredGraph
    reasoner: ReasoningModel
    settings: Settings
    method: Method
    topics: Sequence[str]
    kind: Kind | None
    options: Sequence[str]
    plan: Plan
    notes: RunNotes
    linked: tuple[Match, ...] = ()
    planned: bool = False
    named: frozenset[Iri] = frozenset()
    absent: list[str] = field(default_factory=list)
    similar: Similar | None = None

    async def run(self) -> None:
        """Plan and link; topics that the caller named are looked up before the model is paid."""
        if self.method.graph:
            self.linked = await self._given()
        else:
            self.notes.warn("nothing was looked up: the method asks the model alone, which answers from memory")
        self.planned = self.method.plans and not await self._seen_whole()
        if self.planned:
            await self._make_plan()
        self.notes.tell(Planned(self.plan))
        if self.optionless:
            self.notes.warn(OPTIONLESS)
        elif not self.linked and self.method.graph and not self.abstains:
            self.linked = tuple(
                await linking.from_question(
                    self.graph,
                    self.question,
                    self.plan,
                    self.notes.warn,
                    self._tell_apart,
                    drop=self._drop,
                    similar=self.similar,
                )
            )
            for match in self.linked:
                if match.score < ALIAS:
                    self.notes.admit(CaveatKind.LOOSELY_LINKED, f"{match.mention!r} is taken for {match.label!r}")
        self.notes.tell(Linked(self.linked))

    async def _given(self) -> tuple[Match, ...]:
        """The topics that the caller named; for those that the graph does not know what else the question names.

        Raises TopicError where that is nothing.
        """
        topics, missing = await linking.given_topics(self.graph, self.topics, self.question)
        self.named = frozenset(match.iri for match in topics)
        if missing:
            return await self._given_in_part(topics, missing)
        unknown = await self._unknown([match for match in topics if not match.mention])
        if not unknown:
            return tuple(topics)
        names = [own_name(match.iri).replace("_", " ") for match in unknown]
        labels = await self.graph.labels([match.iri for match in topics if match not in unknown])
        others = await linking.instead(self.graph, self.question, names, tuple(labels.values()))
        others = [match for match in others if match.iri not in {topic.iri for topic in topics}]
        if not others:
            return tuple(topics)
        self._replaced([match.iri.value for match in unknown], others)
        return (*(match for match in topics if match not in unknown), *others)

    async def _given_in_part(self, known: Sequence[Match], missing: Sequence[str]) -> tuple[Match, ...]:
        """The topics that are known, and for those that are `missing` what else the question names.

        Raises TopicError where there is nothing else, naming what is not known.
        """
        labels = [match.label for match in known]
        others = await linking.instead(self.graph, self.question, (), labels)
        others = [match for match in others if match.iri not in {topic.iri for topic in known}]
        if not others:
            raise await linking.unknown_topic(self.graph, missing[0])
        self._replaced(missing, others)
        return (*known, *others)

    async def _unknown(self, topics: Sequence[Match]) -> list[Match]:
        """Those of the topics that have neither edges nor a label; not those that an endpoint failed over."""
        await self.explored.fetch((match.iri for match in topics), walked=True)
        heard = {near.entity for near in self.explored.all() if near.edges or near.failed}
        silent = [match for match in topics if match.iri not in heard]
        labels = await self.graph.labels([match.iri for match in silent]) if silent else {}
        return [match for match in silent if labels.get(match.iri, match.label) == match.label]

    def _drop(self, mention: str) -> None:
        """Admits that the walk starts without what the question calls so."""
        self.absent.append(mention)
        self.notes.admit(CaveatKind.DROPPED_TOPIC, mention)

    def _replaced(self, given: Sequence[str], others: Sequence[Match]) -> None:
        """Says that the walk starts from other entities than those that were given."""
        names = ", ".join(f"{match.label} <{match.iri.value}>" for match in others)
        about = f"{', '.join(text[:200] for text in given)}: not known here; the walk starts from {names}"
        self.notes.warn(about)
        self.absent += given
        self.notes.admit(CaveatKind.LOOSELY_LINKED, about)

    async def _seen_whole(self) -> bool:
        """Whether the topics are known and so little is around them that all of it can be shown, without a plan.

        It is not found out for a model to which plans cost nothing.
        """
        kind = self.kind or evident(self.question)
        if kind is None or self.reasoner.exhaustive or not self.method.looks_first(self.settings.search):
            return False
        options = self.options if kind == "choice" else ()
        topics = self.linked or tuple(await linking.certain(self.graph, self.question, options))
        if not topics or (kind == "choice" and not options):
            return False
        await self.explored.fetch((match.iri for match in topics), walked=True)
        around = sum(len(candidates.around(self.explored, match.iri)) for match in topics)
        if around > self.settings.search.whole:
            return False
        self.linked = topics
        return True

    async def _make_plan(self) -> None:
        """The model's plan or, where it fails, the one of content words."""
        try:
            call = PlanCall(self.question, self.kind, self.options, self._known())
            self.plan = self._shown(await self.reasoner.ask(call))
        except UNUSABLE as error:
            self.notes.warn(f"planned by content words: {error}")

    def _known(self) -> frozenset[str]:
        """What of a plan need not be asked for where the walk looks first; other walks ask for all of it.

        The statement is for verifiers, and no other call than the plan's own sees it where choices decide.
        """
        if not self.method.looks_first(self.settings.search):
            return frozenset()
        known = {"kind": self.kind is not None, "mentions": bool(self.linked)}
        known[STATEMENT] = self.method.decides(self.settings.search)
        known["options"] = bool(self.options) or self.kind not in (None, "choice")
        return frozenset(key for key, given in known.items() if given)

    def _shown(self, plan: Plan) -> Plan:
        """The plan as the calls after it are shown it: without its steps where the settings say so."""
        return plan if self.settings.search.planning else msgspec.structs.replace(plan, steps=())

    async def _tell_apart(self, mentions: Sequence[Mention]) -> Mapping[str, int]:
        """Which entities the model takes the mentions for; where it fails they stay as they were chosen without it.

        It is not asked about words of a choice beside its options: the walk starts from these, whichever is meant.
        """
        if self.plan.options and not {mention.text.casefold() for mention in mentions} & self._spelled_options():
            return {}
        try:
            return await self.reasoner.ask(LinkCall(self.question, mentions))
        except UNUSABLE as error:
            names = ", ".join(repr(mention.text[:100]) for mention in mentions)
            self.notes.warn(f"which entity is meant by {names} was chosen by names alone: {error}")
            return {}

    def _spelled_options(self) -> set[str]:
        return {option.casefold() for option in self.plan.options}

    @property
    def abstains(self) -> bool:
        """Whether the model answers no questions of this kind."""
        return self.plan.kind in self.reasoner.abstains

    @property
    def optionless(self) -> bool:
        """Whether there is nothing to choose from: neither the caller nor the plan gives the options of a choice."""
        plan = self.plan
        return plan.kind == "choice" and not plan.options and not self.abstains
