"""Each test file stands where its module stands in the package, or is one of those that are about the whole."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "fedkg"
WHOLE = {
    "cli/test_log.py": "--log of all commands",
    "cli/test_offline.py": "all commands in offline mode",
    "engine/test_added_call.py": "what a further call of a model takes",
    "engine/test_budgets.py": "budgets of questions and runs, through a session",
    "engine/test_kinds.py": "every kind of question, from its text to its document",
    "engine/test_missing_data.py": "which missing data an answer admits",
    "engine/test_over_http.py": "the same answers in process and over HTTP",
    "engine/test_replay.py": "what was kept is replayed",
    "graph/test_federation_pair.py": "two engines that only identity links connect",
    "graph/test_federation_session.py": "a federation as a session wires it",
    "graph/test_federation_shortest_paths.py": "shortest paths across endpoints",
    "graph/test_federation_split.py": "the law of federation",
    "graph/test_mediated_edges.py": "edges over mediators, from the endpoint's triples on",
    "llm/test_cassettes.py": "recorded exchanges of models",
    "llm/test_smollm2.py": "a small real language model behind every call and every method",
    "llm/test_wires.py": "what both vendors' adapters do alike",
    "methods/test_added.py": "what a further method takes",
    "methods/test_bounds.py": "the smallest and largest searches of all methods",
    "methods/test_contract.py": "what every method keeps",
    "methods/test_fidelity.py": "a walk to the letter of a paper, from the switch to the prompts",
    "methods/test_needs.py": "what mypy proves of needs and their replies",
    "methods/test_path_model.py": "gcr with a model that decodes in a trie",
    "reasoner/calls/test_replies.py": "what the replies to all calls become",
    "reasoner/calls/test_score_replies.py": "links, verdicts and scores in replies",
    "reasoner/prompts/test_bundled.py": "the bundled prompts",
    "reasoner/test_fuzz.py": "made-up replies to every call",
    "reasoner/test_injection.py": "hostile labels in every prompt",
    "sparql/test_engines_agree.py": "every dialect on every engine",
    "transport/test_bombs.py": "replies that are made to fill memory or time",
    "serve/test_page.py": "the page in a browser",
    "test_bounds.py": "upper bounds of all numbers that files and options take",
    "test_cassettes.py": "what was recorded holds no secret",
    "test_extending.py": "docs/extending.md is executed",
    "test_imports.py": "what a command imports",
    "test_levels.py": "the floors",
    "test_packaging.py": "wheel and sdist",
    "test_public.py": "what the package exports",
    "test_readme.py": "README is executed",
    "test_session_closing.py": "what closing a session ends and frees",
    "test_session_many.py": "very many questions of one session at once",
    "test_session_objects.py": "objects handed to a session",
    "test_side_effects.py": "what importing the package changes",
    "test_tree.py": "this file",
    "transport/test_cassettes.py": "recorded exchanges of endpoints",
    "transport/test_hostile_headers.py": "replies whose headers are attacks",
    "transport/test_shapes.py": "every known misbehaviour of endpoints",
    "transport/test_waiting.py": "how long a client waits",
}
"""Tests of the whole, or of a law that several modules keep together, and what they are about."""
ELSEWHERE = ("docs", "eval", "support")
"""Folders for what is tested outside the package: documents, which are executed, benchmarks, and what tests share."""
FILES = [
    path.relative_to(TESTS).as_posix()
    for path in sorted(TESTS.rglob("test_*.py"))
    if path.relative_to(TESTS).parts[0] not in ELSEWHERE
]


@pytest.mark.parametrize("name", [name for name in FILES if name not in WHOLE])
def test_a_test_stands_where_its_module_stands(name: str) -> None:
    """tests/core/test_path.py is about fedkg/core/path.py."""
    assert (PACKAGE / name.replace("test_", "", 1)).exists()


def test_the_list_of_the_others_is_true() -> None:
    """Each of them exists, and none has a module of its name."""
    assert set(WHOLE) <= set(FILES)
    assert not [name for name in WHOLE if (PACKAGE / name.replace("test_", "", 1)).exists()]
