"""Answers of `local`: the ends of the chain that a question says best, with the evidence for it and the confidence."""

import re
from collections.abc import Sequence

import msgspec

from fedkg.core.choice import ChainEvidence, Conclusion, PromptCandidate
from fedkg.core.question import Kind
from fedkg.core.terms import Direction
from fedkg.reasoner.local.asked_paths import AskedPaths, asked_paths
from fedkg.reasoner.local.chains import chain_of, mirrored, outwards
from fedkg.reasoner.local.confidence import Calibration
from fedkg.reasoner.local.connecting import connecting
from fedkg.reasoner.local.evidence import evidence, question_words, shared
from fedkg.reasoner.local.judge import ChainJudge
from fedkg.reasoner.local.kind_alone import of_one_kind
from fedkg.reasoner.local.kinds import asked, of_kind
from fedkg.reasoner.local.likeness import likeness
from fedkg.reasoner.local.reading import ChainJudgement
from fedkg.reasoner.local.unread import unread
from fedkg.reasoner.local.verdict import verdict

__all__ = ["PathConclusions"]

DOUBTED = 0.5
"""The most confidence in an answer to a question of which something was not read."""
NAMED = 0.95
"""How likely a relation that is called as what is compared holds it (all of the tuning half's)."""

RANKED = re.compile(r"'(?:most|least|fewest|than|best|worst|\w+est)'")
"""Words of which one that is not read refuses an answer with several ends: all weights are no heaviest animal."""
JOINED = re.compile(r"\b(?:both|and|as well as|share|together|common)\b", re.IGNORECASE)
"""Words by which what is asked for has to do with all topics that are named."""


class PathConclusions:
    """Concludes from paths by how well a question says their chains; `calibration` tells how likely that is right."""

    def __init__(self, judge: ChainJudge, calibration: Calibration) -> None:
        self._judge = judge
        self._calibration = calibration

    async def best_path(self, question: str, paths: Sequence[PromptCandidate], kind: Kind = "entities") -> Conclusion:
        """All tails of the best chain; nothing where even that does not resemble the question.

        Where several topics are named it is one at which chains from all of them meet. Of yes or no a verdict.
        """
        meant = asked_paths(question, paths)
        if meant.operation and meant.operation.sides(meant.topics):
            return await self._best_sides(meant)
        decide, text, offered = kind == "yesno", meant.text, list(meant.candidates)
        if not decide and len({path.topic for path in offered}) > 1:
            met = [path for path in offered if path.also]
            offered = met or ([] if JOINED.search(text) else offered)
        judged = await self._judge.met(text, offered)
        best = _best(offered, judged)
        if best is None:
            return Conclusion()
        features, fit = await self._evident(text, offered, judged, best)
        if decide:
            return self._decided(text, offered, judged, features)
        if not self._judge.related(judged[best], fit):
            return self._by_kind(text, offered, Conclusion(evidence=features))
        if features.against and features.hops == 1:  # "Who did Pulp Fiction direct?": the other way round it is stated
            return Conclusion((offered[best].number,), evidence=features, confidence=0.0)
        taken = [offered[place] for place in (best, *mirrored(list(map(chain_of, offered)), best))]
        numbers, (tails, untyped) = tuple(path.number for path in taken), _of_kind(text, taken)
        conclusion = Conclusion(numbers, tails=tails, untyped=untyped, evidence=features)
        conclusion = self._by_kind(text, offered, self._sure(conclusion, text, offered, kind))
        return msgspec.structs.replace(
            conclusion, topics_answer=self._judge.topics_answer(list(map(chain_of, offered)))
        )

    def _decided(
        self,
        text: str,
        offered: Sequence[PromptCandidate],
        judged: Sequence[ChainJudgement],
        features: ChainEvidence,
    ) -> Conclusion:
        """The verdict; where the question says no relation, what connects its topics tells, which is a guess."""
        if joined := connecting(text, offered):
            return Conclusion((offered[joined[0]].number,), verdict="yes", evidence=features, confidence=DOUBTED)
        return self._sure(verdict(text, offered, judged, features), text, offered, "yesno")

    def _by_kind(self, question: str, paths: Sequence[PromptCandidate], doubted: Conclusion) -> Conclusion:
        """Of a question that names nothing but a kind, "X's films", "countries in X": the ends of that kind.

        By the one relation that leads to such; of several by the one that leads to most, which is a guess.
        """
        weak = (doubted.confidence or 0.0) < DOUBTED and not doubted.note
        offered = of_one_kind(question, paths) if weak else []
        if not offered or doubted.evidence is None:
            return doubted
        most = max(offered, key=lambda path: len(path.tails) + path.more)
        sure = len(offered) == 1 and not doubted.unread
        evidence = msgspec.structs.replace(doubted.evidence, nearest=most.number, ends=len(most.tails) + most.more)
        tails, untyped = _of_kind(question, [most])
        confidence = NAMED if sure else DOUBTED
        return Conclusion(
            (most.number,),
            tails=tails,
            untyped=untyped,
            evidence=evidence,
            confidence=confidence,
            unread=doubted.unread,
        )

    async def _evident(
        self, text: str, offered: Sequence[PromptCandidate], judged: Sequence[ChainJudgement], best: int
    ) -> tuple[ChainEvidence, float]:
        """What speaks for the path at the place `best`, and how well part of the question says its chain."""
        chains = [chain_of(path).told() for path in offered]
        features = evidence(text, offered, chains, judged, best)
        [fit] = await self._judge.fits(text, [chains[best]], partly=True)
        return await self._weighed(text, offered, best, features, fit - judged[best].fit), fit

    async def _best_sides(self, meant: AskedPaths) -> Conclusion:
        """The best paths of each side of a comparison, or of a set and what is taken away; none where a side has none.

        Those are taken together that lead over the same relations from entities of one name.
        """
        assert meant.operation is not None
        sides = [await self._best_side(meant, side) for side in meant.operation.sides(meant.topics)]
        if not all(side.paths for side in sides):
            return Conclusion(evidence=next((side.evidence for side in sides if not side.paths), None))
        surest = min(sides, key=lambda side: side.confidence or 0.0)
        return msgspec.structs.replace(surest, paths=tuple(number for side in sides for number in side.paths))

    async def _best_side(self, meant: AskedPaths, side: Sequence[str]) -> Conclusion:
        """The best paths from these topics, by what is asked of them."""
        offered = [path for path in meant.candidates if path.topic in side and not path.also]
        text = meant.parts.get(side[0], meant.text)
        if measured := meant.operation is not None and bool(meant.operation.pair):
            offered = meant.measured(offered)
        judged = await self._judge.judged(text, list(map(chain_of, offered)))
        best = _best(offered, judged)
        if best is None:
            return Conclusion()
        features, fit = await self._evident(text, offered, judged, best)
        if measured:
            return Conclusion((offered[best].number,), evidence=features, confidence=NAMED)
        if fit <= self._judge.similarity.unrelated:
            return self._by_kind(text, offered, Conclusion(evidence=features))
        way = offered[best].relations, offered[best].directions
        numbers = tuple(path.number for path in offered if (path.relations, path.directions) == way)
        conclusion = self._sure(Conclusion(numbers, evidence=features), text, offered, "entities")
        return self._by_kind(text, offered, conclusion)

    def _sure(self, conclusion: Conclusion, question: str, paths: Sequence[PromptCandidate], kind: Kind) -> Conclusion:
        """The conclusion with its confidence, and what of the question was not read, where it has taken paths."""
        if not conclusion.paths or conclusion.evidence is None:
            return conclusion
        taken = [path for path in paths if path.number in conclusion.paths]
        doubt = unread(question, paths, taken, counted=kind == "count")
        if doubt and sum(len(path.tails) + path.more for path in taken) > 1 and RANKED.search(doubt):
            return msgspec.structs.replace(conclusion, confidence=0.0, note=f"refused: {doubt}")
        confidence = min(self._calibration.confidence(conclusion.evidence), DOUBTED if doubt else 1.0)
        return msgspec.structs.replace(conclusion, confidence=confidence, unread=doubt)

    async def _weighed(
        self, question: str, paths: Sequence[PromptCandidate], best: int, known: ChainEvidence, left: float
    ) -> ChainEvidence:
        """The evidence for the path at the place `best` with what takes likenesses."""
        chain = chain_of(paths[best]).told()
        weakest = await self._judge.weakest(question, chain)
        words = question_words(question, paths)
        own = {*chain.relations, *(name for also in paths[best].also for name in also.relations)}
        names = list(dict.fromkeys([*(name for path in paths for name in path.relations), *sorted(own)]))
        said, elsewhere = shared(likeness(words, names, await self._judge.similarity.table(words, names)), names, own)
        return msgspec.structs.replace(known, left=left, weakest=weakest, said=said, elsewhere=elsewhere)


def _best(paths: Sequence[PromptCandidate], judged: Sequence[ChainJudgement]) -> int | None:
    """The place of the path that is said best, the straightest of those that are the same walk by other names.

    The children of a parent, and who has that parent: where a graph states both, what it states of the parent is meant.
    """
    best = max(range(len(paths)), key=lambda place: judged[place].score, default=None)
    if best is None:
        return None
    same = [place for place, path in enumerate(paths) if _walk(path) == _walk(paths[best])]
    return min(same, key=lambda place: (paths[place].directions.count("in"), -judged[place].score))


def _walk(path: PromptCandidate) -> tuple[str, tuple[tuple[str, Direction], ...]]:
    return path.topic, tuple(map(outwards, path.relations, path.directions))


def _of_kind(question: str, paths: Sequence[PromptCandidate]) -> tuple[dict[int, tuple[int, ...]], tuple[int, ...]]:
    """By the number of a path those of its ends that are of the kind asked for; and the paths not all typed.

    Of neither where the question names no kind, or no type is known.
    """
    wanted = asked(question)
    typed = [path for path in paths if wanted.roots and any(path.types)]
    whole = [path for path in typed if len(path.types) == len(path.tails) and not path.more]
    kept = {path.number: ends for path in whole if (ends := of_kind(wanted, path.types))}
    return kept, tuple(path.number for path in typed if path not in whole)
