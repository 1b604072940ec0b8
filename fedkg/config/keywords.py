"""Settings as keyword arguments, so that a type checker knows each of them and its type."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict

from fedkg.config.settings import (
    Budget,
    Choices,
    ConstraintLevel,
    Decoding,
    Fallback,
    Fidelity,
    Form,
    Hypotheses,
    Lookahead,
    Mode,
    PathScore,
    PrefixChoice,
    Scoring,
    SearchSettings,
    StatementForm,
    Ttl,
    Verifier,
)

__all__ = ["SettingsKeywords"]


class SettingsKeywords(TypedDict, total=False):
    """The settings by name, those of a search without `search.`; what is left out or None stays as it is.

    All but the endpoints, and `method` and `retriever`, for which a Session takes objects as well (`SessionKeywords`).

    `max_calls`, `max_tokens`, `max_money` (US dollars) and `max_seconds` bound one question, `run_calls` and so on
    all questions of a session together. `search`, `budget`, `total_budget` and `ttl` set all of a group at once. What
    each of them means stands with the fields of `Settings`, `SearchSettings`, `Budget` and `Ttl`.
    """

    model: str | None
    path_model: str | None
    temperature: float | None
    fidelity: Fidelity | None
    embedder: str | None
    prefixes: PrefixChoice | None
    languages: Sequence[str] | None
    contact: str | None
    cache: bool | None
    cache_dir: str | Path | None
    cache_url: str | None
    cache_size: int | None
    history: bool | None
    mode: Mode | None
    refresh: bool | None
    replies: bool | None
    context: int | None
    models_dir: str | Path | None
    prompts_dir: str | Path | None
    profiles_dir: str | Path | None
    model_concurrency: int | None
    clients: int | None
    strict: bool | None
    fallback: Fallback | None
    guess_below: float | None
    refuse_below: float | None
    search: SearchSettings | None
    budget: Budget | None
    total_budget: Budget | None
    ttl: Ttl | None

    depth: int | None
    beam: int | None
    candidates: int | None
    alpha: float | None
    lookahead: Lookahead | None
    form: Form | None
    top_m: int | None
    call_plan: Literal["fused", "paper"] | None
    show_all: int | None
    frontier: int | None
    tails: int | None
    keywords: bool | None
    verifier: Verifier | None
    scoring: Scoring | None
    beta: float | None
    lambda1: float | None
    lambda2: float | None
    planning: bool | None
    last_step: bool | None
    exhaustive: bool | None
    demonstrations: bool | None
    statement: StatementForm | None
    door: ConstraintLevel | None
    hops: int | None
    top_paths: int | None
    path_score: PathScore | None
    choices: Choices | None
    decoding: Decoding | None
    hypotheses: Hypotheses | None
    path_examples: int | None
    top_relations: int | None
    top_plans: int | None
    top_entities: int | None
    weights: bool | None

    max_calls: int | None
    max_tokens: int | None
    max_money: float | None
    max_seconds: float | None
    run_calls: int | None
    run_tokens: int | None
    run_money: float | None
    run_seconds: float | None
