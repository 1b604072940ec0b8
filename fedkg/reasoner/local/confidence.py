"""How likely the best chain answers the question: a logistic regression over what speaks for and against it.

The weights are data, fitted by `eval/quality/calibration.py` on questions with and without an answer in the graph: one
table for each family of embedders, since cosines and shares of words are no common scale.
"""

import math
from functools import lru_cache
from pathlib import Path

import msgspec

from fedkg.common import toml
from fedkg.config.resources import folder
from fedkg.core.choice import ChainEvidence
from fedkg.errors import SettingsError

__all__ = ["FILE", "OTHER", "Calibration", "features", "of_embedder", "read", "written"]

FILE = "confidence.toml"
OTHER = "other"
"""The table for embedders of no family that has one."""
FAMILIES = ("minilm", "bm25")
MOST_ENDS, MOST_NAMES, MOST_UNWALKED = 64, 2, 2
LEAST, WEAK = 0.05, 0.4
CLOSE = 0.85
"""From which share of the best score on another chain's is close to it (chosen on the tuning halves)."""


class Calibration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weights of the features by name, what is added to their sum, and where they are from.

    `fitted` is the date, `sets` are the question sets that they were fitted on.
    """

    intercept: float
    weights: dict[str, float]
    fitted: str = ""
    sets: tuple[str, ...] = ()

    def confidence(self, evidence: ChainEvidence) -> float:
        """How likely the chain answers, in 0..1."""
        known = features(evidence)
        return _logistic(self.intercept + sum(weight * known.get(name, 0.0) for name, weight in self.weights.items()))


def features(evidence: ChainEvidence) -> dict[str, float]:
    """What the weights are about: the evidence as numbers of about one size."""
    rivalry = max(0.0, evidence.second) / max(LEAST, evidence.score)
    return {
        "score": evidence.score,
        "rivalry": rivalry,
        "close": max(0.0, min(1.0, rivalry) - CLOSE),
        "unsaid": evidence.unsaid,
        "unasked": evidence.unasked,
        "fits": float(evidence.fitting > 0),
        "misfits": float(evidence.fitting < 0),
        "untold": float(evidence.fitting == 0),
        "against": float(evidence.against),
        "further": float(max(0, evidence.hops - 1)),
        "unwalked": float(min(MOST_UNWALKED, evidence.unwalked)),
        "left": evidence.left,
        "weakest": evidence.weakest,
        "weak": min(WEAK, evidence.weakest),
        "said": evidence.said,
        "elsewhere": evidence.elsewhere,
        "names": float(min(MOST_NAMES, evidence.names)),
        "renamed": float(evidence.renamed),
        "several": float(evidence.ends > 1),
        "ends": math.log2(min(MOST_ENDS, max(1, evidence.ends))),
        "alike": evidence.alike,
        "ahead": evidence.ahead,
    }


def of_embedder(name: str, path: Path | None = None) -> Calibration:
    """The calibration for an embedder of that name, of the file or the bundled one. Raises SettingsError."""
    tables = read(path or folder("models") / FILE)
    family = next((family for family in FAMILIES if family in name.lower() and family in tables), OTHER)
    return tables[family]


@lru_cache(maxsize=16)
def read(path: Path) -> dict[str, Calibration]:
    """The calibrations by family. Raises SettingsError for a file that has none for other embedders."""
    hint = "`python -m eval.quality.calibration` fits one"
    tables = toml.read(path, dict[str, Calibration], SettingsError, hint=hint)
    if OTHER not in tables:
        raise SettingsError(f"{path}: no table [{OTHER}]")
    return tables


def written(name: str, calibration: Calibration) -> str:
    """The table of that name as it stands in a file."""
    sets = ", ".join(f'"{each}"' for each in calibration.sets)
    weights = "\n".join(f"{feature} = {weight:.4f}" for feature, weight in calibration.weights.items())
    about = f'fitted = "{calibration.fitted}"\nsets = [{sets}]'
    return f"[{name}]\n{about}\nintercept = {calibration.intercept:.4f}\n\n[{name}.weights]\n{weights}\n"


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, value))))
