"""Questions made of chains of relations by templates, so that a scorer can be trained without any that people asked.

Relations are called as their graph calls them: by nouns ("place of birth"), by what was done ("directed by", "educated
at"), or by what is done ("treats", "has genre"). Each has its templates, one way and the other; a chain is said from
the inside outwards. Half of the time a relation is called as people ask for it, where the word lists have that
(`fedkg.common.english`).
"""

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fedkg.common.english import english, roots, wordings
from fedkg.reasoner.local.chain_texts import NamedStep

__all__ = ["name_form", "question"]

BY = re.compile(r"(?P<done>\w+(?:ed|en|wn|ght|de|ne)) by")
DONE = re.compile(r"(?P<done>\w+(?:ed|en|wn|ght)) (?P<where>at|in|on|from|for|to|with|of)(?: .+)?")
DOER = re.compile(r"(?P<verb>\w{3,}(?:t|d|s|c|y|at|rm|nd))(?:er|or)")
NO_DOER = frozenset(
    "actor author brother character chapter daughter doctor father leader letter mother order sister".split()
)
"""Names that end like that of a doer, and are not made of what one did."""
DOES = re.compile(r"(?P<does>(?:has|is|\w{3,}[^s\Wu]s))(?P<rest>(?: \w+)*)")
WHERE = re.compile(r"\b(place|location|located|city|country|headquarters|residence|capital)\b")
CLAUSE = re.compile(r"(?:what|who|where)(?: does| did)? ")
WHEN = re.compile(r"\b(date|year|time|day|when)\b")
PERSON = re.compile(
    r"\b(\w+(?<!numb)(?<!paramet)(?:er|or)|spouse|partner|child|children|parents?|father|mother|sibling|brother|sister|"
    r"relative|student|teacher|member|people|person|actors?|cast|head|author|influenced)\b"
)
REWORDED = 0.5
"""How often a relation is called otherwise than its graph calls it, where there are other words."""


class NameForm(NamedTuple):
    """How a relation is called: `kind` of its name, and the words that the templates of that kind take."""

    kind: str
    words: Mapping[str, str]


TEMPLATES: Mapping[tuple[str, str], Sequence[str]] = {
    ("noun", "out"): ("the {name} of {of}", "{of}'s {name}", "the {name} that {of} has", "{of}'s {name}"),
    ("noun", "in"): (
        "those whose {name} is {of}",
        "what has {of} as {name}",
        "what {of} is the {name} of",
        "the ones with the {name} {of}",
    ),
    ("by", "out"): ("the one who {done} {of}", "who {done} {of}", "the one that {of} was {done} by"),
    ("by", "in"): ("what {of} {done}", "the ones {done} by {of}", "what was {done} by {of}"),
    ("done", "out"): ("what {of} was {done} {where}", "the one that {of} is {done} {where}"),
    ("done", "in"): ("those {done} {where} {of}", "what was {done} {where} {of}"),
    ("does", "out"): ("what does {of} {do}", "what {of} {name}", "the ones that {of} {name}"),
    ("does", "in"): ("what {name} {of}", "the ones that {do} {of}"),
    ("deed", "out"): ("what did {of} {name}", "where did {of} {name}", "who did {of} {name}", "where {of} {name}"),
    ("deed", "in"): ("who {name} {of}", "what {name} {of}", "those who {name} {of}"),
    ("agent", "out"): ("who {name} {of}", "what {name} {of}", "the one who {name} {of}"),
    ("agent", "in"): ("what did {of} {name}", "what {of} {name}", "the ones that {of} {name}"),
    ("doer", "out"): ("the {name} of {of}", "{of}'s {name}", "who {done} {of}"),
    ("doer", "in"): ("what {of} {done}", "those whose {name} is {of}", "what was {done} by {of}"),
}
"""For the kind of a name and the direction of a step: how that which it leads to is said of `of`."""
ASKED = ("{lead} is {it}", "{lead} are {it}", "{lead} was {it}", "name {it}", "{it}", "tell me {it}")
"""How is asked for what is said by a noun; what is said by a clause is a question as it is."""


def question(chain: Sequence[NamedStep], topic: str, draw: random.Random) -> str:
    """A question for what the chain leads to from the topic."""
    said = topic
    for step in chain:
        said = _clause(said, step, draw)
    if said.startswith(("what ", "who ", "where ")):
        return f"{said}?"
    name, direction = chain[-1]
    return f"{_asked(said, name if direction == 'out' else '', draw)}?"


def name_form(name: str) -> NameForm:
    """How the relation is called."""
    for kind, form in (("by", BY), ("done", DONE)):
        if match := form.fullmatch(name):
            return NameForm(kind, {**match.groupdict(), "name": name})
    if (match := DOES.fullmatch(name)) and match["does"] not in {"has", "is"}:
        return NameForm("does", {"name": name, "do": _base(match["does"]) + match["rest"]})
    if name not in NO_DOER and (match := DOER.fullmatch(name)):
        return NameForm("doer", {"name": name, "done": f"{match['verb']}ed"})
    return NameForm("noun", {"name": name.removeprefix("has ").removeprefix("is ")})


def _base(verb: str) -> str:
    """The verb without the ending of the third person: "carries", "treats"."""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "oes")) else verb[:-1]


def _clause(said: str, step: NamedStep, draw: random.Random) -> str:
    """What one more step leads to, said of what is said already; a clause is made a noun first."""
    name, direction = step
    kind, words = _reworded(name, draw)
    of = (
        f"the ones {said.replace('what ', 'that ', 1).replace('that does ', 'that ', 1)}"
        if said.startswith("what ")
        else said
    )
    of = f"the one {of}" if of.startswith("who ") else of
    return draw.choice(TEMPLATES[kind, direction]).format(of=of, **words)


def _asked(it: str, name: str, draw: random.Random) -> str:
    """The question for it; `name` is that of the last relation."""
    leads = ["what"]
    if PERSON.search(name):
        leads = ["who"]
    elif WHERE.search(name):
        leads = ["where", "what"]
    elif WHEN.search(name):
        leads = ["when", "what"]
    return draw.choice(ASKED).format(lead=draw.choice(leads), it=it)


def _reworded(name: str, draw: random.Random) -> NameForm:
    """How the relation is called this time; a wording may be a noun, or what somebody does."""
    others = wordings(name)
    if not others or draw.random() >= REWORDED:
        return name_form(name)
    wording = draw.choice(others)
    other = name_form(wording)
    if other.kind in {"by", "done", "doer"} or draw.random() < REWORDED:
        return other if other.kind != "does" else NameForm("noun", {"name": wording})
    return NameForm("agent" if _agentive(name) else "deed", {"name": wording})


def _agentive(name: str) -> bool:
    """Whether the relation leads from what was done to who did it."""
    return name.endswith(" by") or any(word in english().agents for word in roots(name)[-1:])
