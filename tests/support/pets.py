"""A graph of one fact, and a session that asks about it: what many tests of sessions begin with."""

from typing import Any

from fedkg.session import Session

__all__ = ["PETS", "ask_about_pets", "session_of"]

PETS = """
<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .
<http://x/ann> <http://x/has_pet> <http://x/rex> .
<http://x/rex> <http://www.w3.org/2000/01/rdf-schema#label> "Rex"@en .
<http://x/has_pet> <http://www.w3.org/2000/01/rdf-schema#label> "has pet"@en .
"""


def session_of(*endpoints: Any, **options: Any) -> Session:
    """A session that needs no weights."""
    return Session(*endpoints, **{"embedder": "bm25", **options})


async def ask_about_pets(session: Session) -> list[str]:
    """Who is Ann's pet?"""
    answer = await session.ask("Which pet has Ann?", ["Ann"])
    return [value.value for value in answer.answers]
