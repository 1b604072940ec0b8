"""fedkg against what a user would take instead: requests, seconds, memory and cold start, in one run on one machine.

Questions of two hops (MetaQA) and three (PathQuestion) of which everybody knows the relations, over one Oxigraph server
100 ms away: one query written by hand for each path (the least that there is), SPARQLWrapper entity by entity,
Think-on-Graph's requests, and fedkg with a model that is never wrong. Each is a program of its own, from its start on,
and asks all questions twice. The others look at the right relations only; fedkg reads all that a model is shown.

Then questions over two endpoints, both 100 ms away: a query a step written by hand, Comunica's command line and fedkg.
Without --comunica that is installed from npm, as eval/measure/comunica.py does.
"""

import asyncio
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.measure import comunica
from eval.measure.comunica import DISEASES, DRUGS, KINDS, Kind
from eval.support.distance import Distance, distant
from eval.support.engines import oxigraph
from eval.support.report import Report, options, require
from eval.support.rivals import rows
from fedkg.bench.data import gold_chains
from fedkg.session import Session

SETS = {
    "MetaQA, 2 hops": ("metaqa-2hop-test.jsonl.gz", "metaqa.nt.gz"),
    "PathQuestion, 3 hops": ("pathquestion-3h.jsonl", "freebase-pathquestion.nt.gz"),
}
SKIPPED = "skipped: npm does not install it here"
SECONDS, ASKED, LOOK = 0.1, 10, 0.05
SIDES = {
    "one query written by hand for each path": ("rivals", "own"),
    "fedkg, BM25": ("rival_fedkg", "bm25"),
    "fedkg, MiniLM": ("rival_fedkg", "auto"),
    "SPARQLWrapper, one by one": ("rivals", "one-by-one"),
    "Think-on-Graph's requests": ("rivals", "tog"),
}


def main() -> None:
    """Measures both parts."""
    parser = options(__doc__ or "")
    parser.add_argument("--comunica", type=Path, help="the program comunica-sparql, where it is installed already")
    parser.add_argument("--asked", type=int, default=ASKED, help="questions of the first part")
    chosen = parser.parse_args()
    require(chosen.data, *(file for files in SETS.values() for file in files), DISEASES, DRUGS)
    report = Report("rivals", write=chosen.write)
    for name, (questions, graph) in SETS.items():
        report.add(name, paths(chosen.data / questions, chosen.data / graph, chosen.asked))
    report.add("two endpoints", federated(chosen.data, chosen.comunica))
    report.close()


# ---- one endpoint ----


def paths(questions: Path, graph: Path, asked: int) -> dict[str, Any]:
    """The figures of all sides over the same questions."""
    tasks = some_tasks(questions, asked)
    with oxigraph([graph]) as url, distant(url, SECONDS) as far, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tasks.json"
        file.write_text(json.dumps(tasks))
        sides = {name: started(module, way, far, file) for name, (module, way) in SIDES.items()}
    ends = {name: side.pop("ends") for name, side in sides.items()}
    least = next(iter(ends.values()))
    same = {name: sum(map(_same, tasks, each, least)) for name, each in ends.items()}
    return {"questions": len(tasks), **{name: side | {"same ends": same[name]} for name, side in sides.items()}}


def _same(task: dict[str, Any], ends: Sequence[str], others: Sequence[str]) -> bool:
    """Whether these are the same ends, but for the topic: who goes back to it says so or not."""
    return set(ends) - {task["topic"]} == set(others) - {task["topic"]}


def some_tasks(questions: Path, number: int) -> list[dict[str, Any]]:
    """The first questions whose path is known: topic, hops by IRI and by name, and the labels of the answers."""
    chains = gold_chains.listed(questions)
    tasks: list[dict[str, Any]] = []
    for row in map(json.loads, lines(questions)):
        topic = row["topic_entities"][0]["iri"]
        hops = [(name.removeprefix("^"), "in" if name.startswith("^") else "out") for name in relations(row)]
        chain = chains[row["id"]]
        known = {"id": row["id"], "question": row["question"], "topic": topic, "hops": hops}
        tasks.append({**known, "chain": chain.steps, "answers": chain.answers})
        if len(tasks) == number:
            break
    return tasks


def lines(file: Path) -> list[str]:
    """The lines of a file, packed or not."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as text:
        return text.read().splitlines()


def relations(row: dict[str, Any]) -> list[str]:
    """The relations of a question's gold path, `^` before one that is walked backwards."""
    if named := row.get("gold_relations"):
        return list(named)
    node, names = row["topic_entities"][0]["iri"], []
    for subject, relation, target in row["gold_path"]:
        names.append(relation if subject == node else f"^{relation}")
        node = target if subject == node else subject
    return names


def started(module: str, way: str, far: Distance, file: Path) -> dict[str, Any]:
    """A side as a program of its own: what it took, from its start on, and the ends that it found."""
    command = [sys.executable, "-m", f"eval.support.{module}", way, far.url, str(file)]
    before, began = far.requests, time.time()
    output, _, processor = run(command)
    done = json.loads(output)
    return {
        "requests": done["requests"],
        "requests, again": far.requests - before - done["requests"],
        "seconds to the first answer": round(done["first"] - began, 2),
        "seconds for all": round(done["between"] - began, 2),
        "seconds for all, again": round(done["end"] - done["between"], 2),
        "processor, s": round(processor, 2),
        "memory, MB": done["memory"],
        "ends": done["ends"],
    }


def run(command: Sequence[str]) -> tuple[str, float, float]:
    """What a program prints, the most memory that it had (MB), and its seconds of the processor."""
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(command, stdout=output, stdin=subprocess.DEVNULL, text=True) as program:
            memory, ended, status = 0.0, 0, 0
            while not ended:  # what wait4 tells of the memory counts that of this process, from which it was forked
                memory = max(memory, _most(program.pid))
                time.sleep(LOOK)
                ended, status, usage = os.wait4(program.pid, os.WNOHANG)
            program.returncode = os.waitstatus_to_exitcode(status)
        if program.returncode:
            raise subprocess.CalledProcessError(program.returncode, command)
        output.seek(0)
        return output.read(), memory, usage.ru_utime + usage.ru_stime


def _most(process: int) -> float:
    """The most memory that the process has had so far, in megabytes; 0 where it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    most = re.search(r"VmHWM:\s*(\d+) kB", status)
    return round(int(most[1]) / 1024, 1) if most else 0.0


# ---- two endpoints ----


def federated(data: Path, program: Path | None) -> dict[str, Any]:
    """One question of each form over two endpoints: by hand, by Comunica, by fedkg."""
    asked = [(kind, comunica.entities(kind, data)[0]) for kind in KINDS]
    with (
        tempfile.TemporaryDirectory() as folder,
        oxigraph([data / DISEASES]) as diseases,
        oxigraph([data / DRUGS]) as drugs,
        distant(diseases, SECONDS) as first,
        distant(drugs, SECONDS) as second,
    ):
        program = program or installed(Path(folder))
        far = (first, second)
        by_hand = [counted(far, by_queries, far, kind, entity) for kind, entity in asked]
        fedkg = [counted(far, by_fedkg, far, kind, entity) for kind, entity in asked]
        theirs = [counted(far, by_program, program, far, kind, entity) for kind, entity in asked if program]
        # what npm installed goes with the folder
        comunicas = side(theirs, by_hand) | {"version": comunica.version(program)} if program else SKIPPED
    return {
        "questions": len(asked),
        "queries written by hand, one a step": side(by_hand, by_hand),
        "fedkg, a new session each": side(fedkg, by_hand),
        "Comunica, a new process each": comunicas,
    }


def installed(folder: Path) -> Path | None:
    """Comunica's command line, installed into the folder; None where npm cannot."""
    try:
        program = comunica.install(folder) if shutil.which("npm") else None
        return program if program and program.exists() else None  # a Node that is too old gets none
    except subprocess.CalledProcessError:
        return None


def counted(far: Sequence[Distance], work: Any, *arguments: Any) -> dict[str, Any]:
    """The work's ends, with its requests and seconds."""
    before, began = sum(end.requests for end in far), time.monotonic()
    ends, memory = work(*arguments)
    return {
        "ends": ends,
        "memory": memory,
        "seconds": time.monotonic() - began,
        "requests": sum(end.requests for end in far) - before,
    }


def side(rows: Sequence[dict[str, Any]], least: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The sums over all questions."""
    memory = max(row["memory"] for row in rows)
    same = sum(row["ends"] == other["ends"] for row, other in zip(rows, least, strict=True))
    return {
        "requests": sum(row["requests"] for row in rows),
        "seconds for all": round(sum(row["seconds"] for row in rows), 2),
        "same ends": f"{same} of {len(rows)}",
        **({"memory, MB": memory} if memory else {}),
    }


def by_queries(far: Sequence[Distance], kind: Kind, entity: str) -> tuple[set[str], float]:
    """The walk as one query a step, by somebody who knows which endpoint has what: the ends of one go into the next.

    The first endpoint has the diseases with their links, the second the drugs.
    """
    diseases, drugs = (end.url for end in far)
    exact, nodes = f"<{comunica.EXACT}>", {entity}
    for number, (relation, way) in enumerate(kind.steps):
        if number == kind.link_after:
            ends = ("?x", "?y") if number == 0 else ("?y", "?x")
            nodes = _step(diseases, nodes, f"{ends[0]} {exact} {ends[1]}")
        place = drugs if kind.link_after == 0 or number < kind.link_after else diseases
        nodes = _step(place, nodes, f"?x <{relation}> ?y" if way == "out" else f"?y <{relation}> ?x")
    return nodes, 0.0


def _step(url: str, nodes: set[str], pattern: str) -> set[str]:
    values = " ".join(f"<{node}>" for node in sorted(nodes))
    found = rows(url, f"SELECT DISTINCT ?y WHERE {{ VALUES ?x {{ {values} }} {pattern} FILTER(isIRI(?y)) }}")
    return {row["y"] for row in found}


def by_fedkg(far: Sequence[Distance], kind: Kind, entity: str) -> tuple[set[str], float]:
    """The walk over fedkg's federation, by a session that knows nothing."""

    async def walk() -> set[str]:
        async with Session(*(end.url for end in far), cache=False, embedder="bm25") as session:
            return (await comunica.walked(await session.graph(), kind, entity))[0]

    return asyncio.run(walk()), 0.0


def by_program(program: Path, far: Sequence[Distance], kind: Kind, entity: str) -> tuple[set[str], float]:
    """Comunica's answers, and the memory that it took."""
    form = "application/sparql-results+json"
    command = [str(program), *(f"sparql@{end.url}" for end in far), "-q", kind.query(entity), "-t", form]
    output, memory, _ = run(command)
    bindings = json.loads(output)["results"]["bindings"]
    return {value["value"] for row in bindings for value in row.values()}, memory


if __name__ == "__main__":
    main()
