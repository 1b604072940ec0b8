"""Scorers for the model `local`, trained in several ways, so that `eval.quality.local` can measure them.

No scorer is trained on a question of a test half (`eval.quality.local`); what lies on a graph that it is measured on is
said by its name. Each takes minutes on two cores; its folder is not kept in the project.

    python -m eval.quality.scorer own --write     # the tuning halves of all sets
    python -m eval.quality.scorer not-metaqa      # PathQuestion, WebQSP, natural: for MetaQA, where it does not count
    python -m eval.quality.scorer made            # no question: of the relations of CoDEx-M and the biomedical graph
    python -m eval.quality.local --half test --model local:build/scorer/own --column own --write
"""

import json
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval.quality.local import NATURAL, half_of
from eval.support.report import FOLDER, Report, options
from fedkg.bench.data import definitions, loaders
from fedkg.config.settings import Settings
from fedkg.embed.scorer import CARD, card
from fedkg.training.scorer import train_scorer
from fedkg.training.scorer_data import DataChoice
from fedkg.training.scorer_training import ScorerSchedule

__all__ = ["RECIPES", "tuning_half"]

METAQA = ("metaqa-1hop", "metaqa-2hop", "metaqa-3hop")
PATHQUESTION = ("pathquestion-2h", "pathquestion-3h")
WEBQSP = ("webqsp-fb15k237",)
GRAPHS = ("wikidata@wikidata-codex-m.nt.gz", "biomed.nt.gz")


class TrainingRecipe(NamedTuple):
    """The sets whose tuning halves are trained on, and how many questions are made of the relations of GRAPHS."""

    sets: tuple[str, ...]
    made: int = 0
    limit: int = 250


RECIPES: Mapping[str, TrainingRecipe] = {
    "own": TrainingRecipe((*METAQA, *PATHQUESTION, *WEBQSP, *NATURAL), limit=500),
    "not-metaqa": TrainingRecipe((*PATHQUESTION, *WEBQSP, *NATURAL), limit=200),
    "made": TrainingRecipe((), 1_200),
}


def tuning_half(name: str, data: Path, folder: Path) -> str:
    """A definition of the set's tuning half, in a file of that folder; returns the file."""
    if name in NATURAL:
        return f"{name}-tuning"
    definition = definitions.find(name)
    read, _ = loaders.read(definition, data, skip_bad=True)
    ids = {question.id: half_of(question.id) for question in read}
    (folder / f"{name}.json").write_bytes(msgspec.json.encode({"half": ids}))
    only = definitions.Only(str((folder / f"{name}.json").absolute()), ("half",), ("tuning",))
    table = msgspec.to_builtins(msgspec.structs.replace(definition, only=only, name=f"{name}-tuning"))
    file = folder / f"{name}.toml"
    file.write_text("\n".join(_toml(table)) + "\n", encoding="utf-8")
    return str(file)


def _toml(table: Mapping[str, Any]) -> Iterator[str]:
    """The definition's lines; TOML writes strings and lists as JSON does."""
    nested = {key: value for key, value in table.items() if isinstance(value, dict)}
    yield from (
        f"{json.dumps(key)} = {json.dumps(table[key])}" for key in table.keys() - nested if table[key] is not None
    )
    for key, value in nested.items():
        yield f"[{json.dumps(key)}]"
        yield from _toml(value)


def _choice(recipe: TrainingRecipe, data: Path, folder: Path) -> DataChoice:
    sets = tuple(tuning_half(name, data, folder) for name in recipe.sets)
    return DataChoice(sets, recipe.made, recipe.limit, seed=0, held_out=0.1, hops=3, frontier=500, data=data)


def main() -> None:
    """Trains one scorer, unless it is there already, and keeps its card in eval/results/ with --write."""
    parser = options(__doc__ or "")
    parser.add_argument("recipe", choices=RECIPES)
    parser.add_argument("--out", type=Path, default=Path("build/scorer"))
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--untrained", type=float, default=0.0)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    recipe = RECIPES[chosen.recipe]
    graphs = tuple(str(_placed(graph, chosen.data)) for graph in GRAPHS) if recipe.made else ()
    out, spent = chosen.out / chosen.recipe, dict[str, int]()
    if not (out / CARD).exists():
        train_scorer(
            Settings(endpoints=graphs, cache_dir=str(chosen.out.absolute() / "cache")),
            _choice(recipe, chosen.data, chosen.out),
            ScorerSchedule(passes=chosen.passes, untrained=chosen.untrained),
            out,
            on_progress=lambda what, done, number: print(f"{what}: {done} of {number}", flush=True),
        )
        spent = {chosen.recipe: round(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))}
    report = Report("scorer", write=chosen.write)
    report.add("scorers", _kept("scorers") | {chosen.recipe: msgspec.to_builtins(card(out))})
    report.add("processor seconds", _kept("processor seconds") | spent)
    report.close()


def _kept(name: str) -> dict[str, Any]:
    """What the result file has of that name, by recipe."""
    file = FOLDER / "results" / "scorer.json"
    kept: dict[str, Any] = json.loads(file.read_text())["figures"].get(name, {}) if file.is_file() else {}
    return kept


def _placed(graph: str, data: Path) -> str:
    profile, at, file = graph.rpartition("@")
    return f"{profile}{at}{data / file}"


if __name__ == "__main__":
    main()
