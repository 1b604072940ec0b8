"""What a question will cost, before anything is spent: model calls, their tokens, requests to endpoints, the price.

The prompts are the real ones, of the question itself; what a graph would put into them are stand-ins of typical length.
These were measured with `fedkg.common.tokens` on 20 walks each over wikidata-codex-m and biomed, where pages of
candidates are full: an offered group has 15 to 27 tokens at depth 1, 43 to 48 at depth 2, 53 to 75 at depth 3; a pair
11, 17 to 19 and 26. On sparse graphs, such as PathQuestion's, 2 to 4 groups are offered, not 10. Replies are as long as
the templates' examples.

Compared with walks of two steps by the fused plan, whose kind is evident, the typical case has 2.5 calls for 2.25 and
1.6 times their tokens on PathQuestion, 2.3 for 1.7 and 1.8 times on MetaQA (eval/measure/calls.py; 20 questions each).
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from fedkg.common.tokens import estimate as tokens
from fedkg.config.settings import Budget, SearchSettings, Settings, masked
from fedkg.core.question import JUDGED, Kind, Match, Mention, Plan, evident, guessed
from fedkg.core.terms import Iri
from fedkg.core.usage import ModelCall
from fedkg.engine.computing import computes
from fedkg.engine.linking import MOST_COMPARED
from fedkg.errors import MethodError, ModelError
from fedkg.llm.base import Capability, ChatModel, Completion, Request
from fedkg.llm.prices import Price, price
from fedkg.methods import registry
from fedkg.methods.base import AskingModelOnly, Method, Task
from fedkg.reasoner.base import Call
from fedkg.reasoner.calls import call_kinds
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.operate import OperateCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.sketch import WalkSketch
from fedkg.retrieval import registry as retrievers
from fedkg.retrieval.base import Retriever
from fedkg.retrieval.candidates import DEFAULT_CANDIDATES
from fedkg.retrieval.surroundings import MOST_RELATIONS

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.library import PromptLibrary

__all__ = ["Asked", "Cost", "Estimate", "estimate"]

MEASURED = "fidelis"
"""The method whose offers and requests were measured."""
HOPS = 2
"""Steps of a typical question's path: what most benchmarks ask."""
TOPIC = "Ludwig van Beethoven"
GROUP = " → country of citizenship → Kingdom of Prussia, Austria, Bavaria, (+2)"
PAIR = " → place of birth → Bonn"
STEP = "→ country of citizenship →"
RELATIONS = 20
"""Relations that are scored at once: those around one entity."""
ENDS = ("Kingdom of Prussia", "Austria", "Bavaria", "Holy Roman Empire", "Electorate of Cologne")
PLAN = Plan(
    ("country", "citizenship", "place of birth"),
    ("Ludwig van Beethoven → country of citizenship → country",) * 2,
    f"*placeholder* is the country of {TOPIC}.",
)
REPLY = 25
"""Tokens of a reply to a template without examples: one pick, as `choose` has them."""
AMBIGUOUS = Match(Iri("http://www.wikidata.org/entity/Q255"), TOPIC, 1.0, "German composer (1770–1827)", type="human")
CASES = {
    "least": "every search before its answer",
    "typical": "the typical search before its answer, a shorter one not",
    "most": "only searches that are longer than the typical one",
}
"""The three cases, each with what a budget ends that it is the first to exceed."""
FIRST = 2
"""Requests of a walk before its first hop: the catalogue of relations, and the search for the question's names."""
OWN_REASONER = "a reasoner of your own: its calls are not estimated"
DIGITS = 6
"""Digits of a price behind the point: estimates are no better than that."""
PER_HOP = {"least": 3, "typical": 6, "most": 8}
"""Requests for one hop and endpoint: neighbours in both directions and labels; more where hubs overflow and are asked
again in parts. Measured cold on wikidata-codex-m over HTTP, eight walks for each depth: 14, 20, 26 and 30 in all for 1
to 4 steps of at most 4."""


class Asked(msgspec.Struct, frozen=True):
    """A question as `Session.ask` takes it; `named`: the caller names the topics, so that nothing is linked."""

    question: str
    named: bool = False
    kind: Kind | None = None
    options: tuple[str, ...] = ()

    @property
    def plan(self) -> Plan:
        """A typical plan for it."""
        return msgspec.structs.replace(PLAN, kind=self.kind or PLAN.kind, options=self.options)


class Cost(msgspec.Struct, frozen=True):
    """Model calls, in all and by name, their tokens, requests to endpoints, US dollars (None: no price is known)."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    requests: int = 0
    price: float | None = 0.0
    by_call: dict[str, int] = {}


class Estimate(msgspec.Struct, frozen=True):
    """What a question costs at `least` (answered after one step), as a `typical` one, and at `most` (never answered).

    `notes` say what is not counted.
    """

    model: str
    least: Cost
    typical: Cost
    most: Cost
    notes: tuple[str, ...] = ()


class SearchCourse(msgspec.Struct, frozen=True):
    """One way that a search may go: steps to its end, paths kept at a depth, candidates offered.

    Whether it `links`, `plans`, and makes the answer call.
    """

    name: str
    depth: int
    kept: int
    offered: int
    links: bool = False
    plans: bool = True
    answers: bool = True


@dataclass(frozen=True)
class _Search:
    """What searches: the method, the retriever and the bounds; whether the model recalls what it leaves open."""

    method: Method
    retriever: Retriever
    bounds: SearchSettings
    recalls: bool = False

    @property
    def looks_ahead(self) -> bool:
        """Whether a hop that is ranked has the next one fetched, too."""
        return self.method.looks_ahead and self.retriever.looks_ahead and self.bounds.alpha > 0


class _Counting:
    """A ChatModel that sends nothing: it enters what each request and a typical reply to it cost, and fails."""

    def __init__(self, name: str, capability: Capability, replies: Callable[[str], int]) -> None:
        self.name = name
        self.capability = capability
        self.calls: list[ModelCall] = []
        self._replies = replies

    async def complete(self, request: Request) -> Completion:
        """Nothing. Raises ModelError."""
        sent = sum(tokens(message.content) for message in request.messages)
        self.calls.append(ModelCall(request.call, request.template, self.name, sent, self._replies(request.call)))
        raise ModelError("it is counted, and not asked")

    async def close(self) -> None:
        """Nothing to free."""


async def estimate(
    asked: Asked,
    settings: Settings,
    chat: ChatModel | None,
    prompts: "PromptLibrary",
    prices: Sequence[Price] = (),
    *,
    endpoints: int = 1,
    method: Method | None = None,
    retriever: Retriever | None = None,
    own_reasoner: bool = False,
) -> Estimate:
    """What the question costs with these settings and that model; None is the model `local`, which makes no calls.

    Each method has its own calls, the most of which it says itself; `method` and `retriever` stand for those that the
    settings name. With `own_reasoner` the caller's reasoning model is asked, whose name the settings have; what that
    asks besides `chat` is not known. Nothing is sent: of `chat` only the name and the capability are used. Raises
    PromptError, MethodError where the method or one of its calls is not known, and SettingsError where the retriever is
    not.
    """
    method = method or registry.find(settings.method)
    search = _Search(
        method, retriever or retrievers.find(settings.search.retriever), settings.search, settings.fallback == "model"
    )
    costs = []
    for way in _ways(settings.search, method, asked):
        calls = await _counted(asked, search, chat, prompts, way) if chat else ()
        requests = endpoints * _requests(way, search) if method.graph else 0
        costs.append(_cost(calls, requests, prices))
    least, typical, most = costs
    notes = _notes(settings, method, chat, costs, own_reasoner=own_reasoner)
    name = masked(chat.name) if chat else settings.model if own_reasoner else "local"
    return Estimate(name, least, typical, most, notes)


async def _counted(
    asked: Asked, search: _Search, chat: ChatModel, prompts: "PromptLibrary", way: SearchCourse
) -> Sequence[ModelCall]:
    """The calls of one way."""
    from fedkg.reasoner.prompted import PromptedModel  # noqa: PLC0415  # imports Jinja

    counting = _Counting(masked(chat.name), chat.capability, lambda call: _reply(prompts, call, asked.kind))
    model, walk = PromptedModel(counting, prompts=prompts), _sketch(way, search.bounds, asked)
    for call in _calls(search, way, walk) if search.method.graph else _recalls(search.method, asked):
        with contextlib.suppress(ModelError):
            await model.ask(call)
    return counting.calls


def _ways(search: SearchSettings, method: Method, asked: Asked) -> tuple[SearchCourse, SearchCourse, SearchCourse]:
    """The shortest way, a usual one, and the longest; what is named by the caller needs no linking.

    What lies around a topic is typically shown whole, without a plan, where the method looks first and the kind of the
    question is evident; options are rarely the exact labels that this takes. On the longest way a plan is made, and
    nothing decides but the answer call.
    """
    page = search.candidates or DEFAULT_CANDIDATES[search.form]
    deepest = method.deepest(search)
    looks = method.looks_first(search) and (asked.kind or evident(asked.question)) not in (None, "choice")
    plans, answers = method.plans and not looks, not method.decides(search)
    return (
        SearchCourse("least", 1, 1, min(2, page), plans=plans, answers=answers),
        SearchCourse("typical", min(HOPS, deepest), min(2, search.beam), page, plans=plans, answers=answers),
        SearchCourse("most", deepest, search.beam, page, links=not asked.named, plans=method.plans),
    )


def _calls(search: _Search, way: SearchCourse, walk: WalkSketch) -> Iterator[Call[object]]:
    """The calls of one walk: those of the method are spread over its depths."""
    if way.plans:
        yield PlanCall.typical(walk)
    if way.links:
        yield LinkCall.typical(walk)
    judges = search.bounds.last_step or walk.kind in JUDGED
    bounds = msgspec.structs.replace(search.bounds, depth=way.depth, beam=way.kept, last_step=judges)
    topics = _topics(way, walk.kind)
    cued = computes(walk.question, walk.kind or guessed(walk.question))
    sets = cued and registry.name_of(search.method) == MEASURED and walk.kind not in JUDGED
    for name, count in search.method.most_calls(bounds, topics, search.retriever).items():
        if name == "answer" and not way.answers:
            continue
        kind = _call_kind("choose-sets" if sets and name == "choose" else name, search.method)
        for number in range(count):
            depth = way.depth - (count - 1 - number) * way.depth // count
            each = max(1, way.offered // (way.kept if depth > 1 else topics))
            yield kind.typical(msgspec.structs.replace(walk, depth=depth, offered_each=each))
    if cued:
        yield OperateCall.typical(msgspec.structs.replace(walk, depth=way.depth, offered_each=way.offered))
    if search.recalls and way.name == "most":  # the case that is never answered by the graph
        yield ModelOnlyCall.typical(walk)


def _call_kind(name: str, method: Method) -> type[Call[object]]:
    """The kind of call that the method names. Raises MethodError where there is none of that name."""
    kinds = call_kinds()
    if name not in kinds:
        named = f"the method {registry.name_of(method)} names an unknown call: {name!r}"
        raise MethodError(named, hint=f"calls: {', '.join(sorted(kinds))}")
    return kinds[name]


def _sketch(way: SearchCourse, search: SearchSettings, asked: Asked) -> WalkSketch:
    """What the calls of one way are made of."""
    plan, counts = asked.plan, asked.kind in JUDGED
    return WalkSketch(
        question=asked.question,
        kind=asked.kind,
        options=asked.options,
        plan=plan if search.planning else msgspec.structs.replace(plan, steps=()),
        mentions=(Mention(TOPIC, (AMBIGUOUS,) * 5),),
        topic=TOPIC,
        leg=GROUP if search.form == "groups" else PAIR,
        relation=STEP,
        ends=ENDS,
        width=search.beam,
        kept=way.kept,
        hops=way.depth,
        offered=way.offered,
        offered_each=way.offered,
        scored=search.candidates or RELATIONS,
        planned=MOST_RELATIONS,
        # the paper's plan verifies all picks, of which those of the beam are kept
        verified=way.kept * search.beam if way.name == "most" and search.call_plan == "paper" else way.kept,
        # the kept paths of all depths; typically one that is enough
        judged=way.kept * way.depth if way.name == "most" else way.kept if counts else 1,
        counts_before=counts,
    )


def _recalls(method: Method, asked: Asked) -> Iterator[Call[object]]:
    """The calls of a method without a graph: it is walked, since what it asks for does not depend on the replies."""
    kind = asked.kind or guessed(asked.question)
    walk = method.walk(Task((), SearchSettings()))
    with contextlib.suppress(StopIteration):
        need = next(walk)
        while isinstance(need, AskingModelOnly):
            yield ModelOnlyCall(asked.question, kind, asked.options, need.style, need.sample)
            need = walk.send(None)


def _topics(way: SearchCourse, kind: Kind | None) -> int:
    """Entities that a walk starts from: a comparison has two, and may have many."""
    if kind in JUDGED:
        return MOST_COMPARED if way.name == "most" else way.kept
    return way.kept if way.name == "most" else 1


def _reply(prompts: "PromptLibrary", call: str, kind: Kind | None) -> int:
    """Tokens of the longest reply that the template shows as an example."""
    return max((tokens(example.reply) for example in prompts.get(call, kind).examples), default=REPLY)


def _requests(way: SearchCourse, search: _Search) -> int:
    """Requests to one endpoint; a hop that is ranked by its lookahead has the next one fetched too."""
    ahead = 1 if search.looks_ahead and way.depth < search.bounds.depth else 0
    return FIRST + PER_HOP[way.name] * (way.depth + ahead)


def _cost(calls: Sequence[ModelCall], requests: int, prices: Sequence[Price]) -> Cost:
    paid = [price(call, prices) for call in calls]
    return Cost(
        calls=len(calls),
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_out=sum(call.tokens_out for call in calls),
        requests=requests,
        price=None if None in paid else round(sum(filter(None, paid)), DIGITS),
        by_call=dict(Counter(call.call for call in calls)),
    )


def _notes(
    settings: Settings, method: Method, chat: ChatModel | None, costs: Sequence[Cost], *, own_reasoner: bool
) -> tuple[str, ...]:
    """What a reader of the figures has to know."""
    if chat is None:
        return (OWN_REASONER if own_reasoner else "the model local costs nothing: it makes no calls",)
    notes = [
        *([OWN_REASONER] if own_reasoner else ()),
        "not counted: a second try after an unusable reply, a model's own reasoning, and what a prompt cache saves",
    ]
    if method.graph and (name := registry.name_of(method)) != MEASURED:
        notes.append(f"tokens and requests of {name} are rough: what a graph offers was measured with {MEASURED}")
    if any(cost.price is None for cost in costs):
        notes.append("the price is not known: prices.toml names no such model")
    return (*notes, *(_ended(settings.budget, costs) if method.graph else ()))


def _ended(budget: Budget, costs: Sequence[Cost]) -> Iterator[str]:
    """For each limit the first of the three cases that is beyond it."""
    limits = (
        (budget.calls, "{:,} calls", [cost.calls for cost in costs]),
        (budget.tokens, "{:,} tokens", [cost.tokens_in + cost.tokens_out for cost in costs]),
        (budget.money, "${:g}", [cost.price or 0 for cost in costs]),
    )
    for limit, unit, used in limits:
        if limit and (case := next((name for name, spent in zip(CASES, used, strict=True) if spent > limit), "")):
            yield f"the budget of {unit.format(limit)} ends {CASES[case]}"
