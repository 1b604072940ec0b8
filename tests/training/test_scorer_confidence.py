"""What a trained scorer's confidence table is fitted on."""

from pathlib import Path

from fedkg.reasoner.local.chain_texts import NamedStep
from fedkg.training.scorer_confidence import Watch
from tests.support.pets import session_of

PET: tuple[NamedStep, ...] = (("has pet", "out"),)
QUESTION = "Which pet has Ann?"


async def test_a_withheld_chain_is_not_shown(pets: Path) -> None:
    """Without it there is no answer; with it its evidence and chain are there."""
    watch = Watch()
    async with session_of(pets, reasoner=watch, refuse_below=0.0) as session:
        evidence, chains = await watch.asked(session, QUESTION)
        watch.withheld = {PET}
        _, left = await watch.asked(session, QUESTION)
    assert evidence is not None
    assert (evidence.hops, chains, left) == (1, (PET,), ())


async def test_what_cannot_be_asked_tells_nothing(pets: Path) -> None:
    """A question without a topic in the graph leaves no evidence, also behind one that has some."""
    watch = Watch()
    async with session_of(pets, reasoner=watch) as session:
        await watch.asked(session, QUESTION)
        assert await watch.asked(session, "Who wrote Faust?") == (None, ())
