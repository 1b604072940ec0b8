"""Settings as frozen values: defaults here, then a TOML file, then environment variables, then flags.

`load` is the only place that reads the environment. Keys never appear in a repr or a document: they are read where an
adapter is built, by the name of their variable.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from platformdirs import user_cache_path, user_config_path

from fedkg.common import toml
from fedkg.config import setting_errors
from fedkg.config.setting_errors import Source
from fedkg.errors import SettingsError

__all__ = [
    "DAY",
    "ENVIRONMENT",
    "FIDELITY",
    "KEYWORDS",
    "Budget",
    "Choices",
    "ConstraintLevel",
    "Count",
    "Decoding",
    "Depth",
    "Fallback",
    "Fidelity",
    "Form",
    "Hypotheses",
    "Lookahead",
    "Mode",
    "PathScore",
    "PrefixChoice",
    "Scoring",
    "SearchSettings",
    "Settings",
    "StatementForm",
    "Tokens",
    "Ttl",
    "Verifier",
    "changed",
    "load",
    "masked",
    "public",
    "restored",
    "user_file",
]

# Every number has an upper bound, far above what anybody needs: what is beyond it is a slip or an attack, and would be
# taken at its word by memory, threads and the clock.
Width = Annotated[int, msgspec.Meta(ge=1, le=1_000)]
Concurrency = Annotated[int, msgspec.Meta(ge=1, le=100)]
Megabytes = Annotated[int, msgspec.Meta(ge=1, le=16_777_216)]
Tokens = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]
Depth = Annotated[int, msgspec.Meta(ge=1, le=50)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000_000)]
Language = Annotated[
    str, msgspec.Meta(pattern="^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$", description="a language tag such as de or pt-BR")
]
Dollars = Annotated[float, msgspec.Meta(gt=0, le=1_000_000_000)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=31_622_400)]
Days = Annotated[float, msgspec.Meta(gt=0, le=36_500)]
Mode = Literal["live", "cached", "offline"]
Fallback = Literal["off", "model"]
Form = Literal["groups", "pairs"]
Scoring = Literal["keywords", "lookahead", "path", "diverse"]
Lookahead = Literal["bounded", "exact"]
PrefixChoice = Literal["auto", "e5", "none"]
StatementForm = Literal["open", "filled"]
Fidelity = Literal["fedkg", "paper"]
Temperature = Annotated[float, msgspec.Meta(ge=0, le=2)]
Verifier = Literal["deductive", "adequacy", "log-probability", "none"]
ConstraintLevel = Literal["token", "schema", "index"]
"""What holds a model to the paths of a trie: each token that it writes, its reply's schema, or checked choices."""
Decoding = Literal["trie", "free", "none"]
"""How the paths of GCR are decoded: in its trie, without it, or not at all: the model that answers sees all of them."""
Choices = Literal["generated", "likelihood"]
"""How a model chooses among numbers: by the reply that it writes, or by the probabilities of the numbers."""
PathScore = Literal["trie", "vocabulary"]
"""What a decoded path is compared by: its probability in the trie, or the mean over the whole vocabulary, as published.
"""
Hypotheses = Literal["ends", "decoded"]
"""What stands beside a path of GCR: its ends, or what the model that wrote it writes on as the answer (Eq. 9)."""
Weight = Annotated[float, msgspec.Meta(ge=0, le=1_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
DAY = 86_400.0
LOCAL = "local"
"""The model that is no language model."""


class SearchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a question is searched; names and defaults follow FiDeLiS v4 section 3 and appendix A.4.

    depth D: most steps of a path. beam B: most hypotheses kept at a depth. candidates: most candidates that the model
    is shown (None: 10 groups, or 30 pairs). alpha: weight of the next-hop lookahead (Eq. 2), 0 switches it off.
    lookahead: `bounded` to the best candidates where more are there than are offered, or `exact`: for all of them, with
    the edge straight back in N(e). form: candidates as relation `groups` or as (relation, entity) `pairs`. retriever:
    who ranks them, Path-RAG or one to compare it with. top_m: the entities and the relations nearest to the keywords of
    which the retriever `global` makes candidates. call_plan: one `fused` call chooses, verifies and answers, or the
    `paper`'s calls per beam and per verification. show_all: so many relation groups around known topics are shown at
    once, without a plan before that (call plan `fused`; 0: a plan is always made). frontier: most entities expanded at
    a hop, over all beams, so that a hop stays one batch. tails: most labels shown of one group.

    verifier: what ends a search, `deductive` verification, which prunes as well, `adequacy` of all kept paths, or the
    model's own `log-probability` that the statement can be deduced; `none`: the last depth does. scoring: Path-RAG by
    its `lookahead` (Eq. 2), or by a variant of the first version's appendix E: by the `path` so far, too (Eq. 8, with
    beta), or `diverse` (Eq. 9, with lambda1 and lambda2); the papers give no values for these weights, the defaults are
    ours. `keywords`: S0 with the best single keyword beside all together, pages shared among the topics, what never
    helps last; no next hop (None: that, and the paper's `lookahead` with the paper's call plan). keywords: whether they
    stand for the question in Path-RAG; planning: whether the plan's steps are shown to the model; last_step: whether it
    concludes from the paths, or all that they lead to is the answer. door: what holds a model to the paths of GCR
    (None: the closest that it offers).

    hops: most hops of gcr (L) and eperm (D), whatever the depth (None: 2 and 3, as the papers have it). top_paths: K of
    gcr, the paths that are answered from. decoding, hypotheses: how gcr comes to them, and what is shown beside each.
    path_score: what decoded paths are compared by. choices: how numbers are chosen.
    path_examples: so many examples are shown to the model that writes paths (GCR, Figure 10). top_relations,
    top_plans, top_entities: K, s and S of eperm, the steps kept at a hop, the plans, and the entities of a plan that
    are gone on from. weights: whether eperm scores and filters its paths, or shows all of them as they are.
    concludes from the paths, or all that they lead to is the answer. exhaustive: whether the plan's keywords shall be
    an exhaustive list (C.1) instead of the most telling ones; demonstrations: whether calls have the papers' five
    instead of one or two; statement: what verifiers see of it, `open` with its placeholder, or `filled` with a path's
    last entity (C.6). door: what holds a model to the paths of GCR (None: the closest that it offers).
    """

    depth: Depth = 4
    beam: Width = 4
    candidates: Width | None = None
    alpha: Weight = 0.3
    lookahead: Lookahead = "bounded"
    form: Form = "groups"
    retriever: str = "path-rag"
    top_m: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 100
    call_plan: Literal["fused", "paper"] = "fused"
    show_all: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 40
    frontier: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50
    tails: Width = 8
    keywords: bool = True
    verifier: Verifier = "deductive"
    scoring: Scoring | None = None
    beta: Weight = 0.3
    lambda1: Weight = 1.0
    lambda2: Weight = 0.3
    planning: bool = True
    last_step: bool = True
    exhaustive: bool = False
    demonstrations: bool = False
    statement: StatementForm = "open"
    door: ConstraintLevel | None = None
    hops: Depth | None = None
    top_paths: Width = 10
    decoding: Decoding = "trie"
    path_score: PathScore = "trie"
    choices: Choices = "generated"
    hypotheses: Hypotheses = "ends"
    path_examples: Annotated[int, msgspec.Meta(ge=0, le=20)] = 0
    top_relations: Width = 10
    top_plans: Width = 6
    top_entities: Width = 3
    weights: bool = True

    @property
    def path_rag(self) -> Scoring:
        """How Path-RAG scores: as is set, else as the paper has it with its call plan, and by keywords with ours."""
        return self.scoring or ("lookahead" if self.call_plan == "paper" else "keywords")

    @property
    def whole(self) -> int:
        """So many relation groups around the topics are shown at once, without a plan; 0: a plan is always made."""
        looks = self.call_plan == "fused" and self.form == "groups"
        return min(self.show_all, self.candidates or self.show_all) if looks else 0


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be spent: model calls, tokens (in and out together), US dollars, wall-clock seconds; None = no limit."""

    calls: Count | None = None
    tokens: Count | None = None
    money: Dollars | None = None
    seconds: Seconds | None = None


class Ttl(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many days an endpoint's reply counts as fresh, by kind; in the modes `cached` and `offline` it always does.

    neighbours: the edges of an entity, and who knows it. labels: of an entity, also that there is none. catalogue:
    the relations with their labels. searches: the entities of a name. nothing: that an entity is not known, a name
    not used, or all edges at once too much for the endpoint: tomorrow it may be otherwise. At most a hundred years:
    what never gets stale could not be asked for again.
    """

    neighbours: Days = 7
    labels: Days = 30
    catalogue: Days = 21
    searches: Days = 7
    nothing: Days = 1


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a session is built from.

    endpoints: profile names, URLs, RDF files or PROFILE@URL. model: `local`, `local:FOLDER` (a trained scorer),
    `anthropic:M`, `openai:M[@URL]`, `hf:FOLDER`. path_model: `hf:FOLDER` of a model that writes the paths of GCR, or
    the plans of EPERM and RoG, where `model` shall not. temperature: that at which its replies are drawn (None: the
    surest). fidelity: `paper` sets the forms of FiDeLiS v4 (`FIDELITY`). method: how the answer is searched for (`fedkg
    methods list`). embedder: `auto`, `minilm`, `bm25`, `hashing`, `openai:M[@URL]`, `onnx:NAME_OR_FOLDER` or
    `st:NAME_OR_FOLDER`. prefixes: what stands before texts that it embeds: `query: ` and `passage: ` for `e5`, nothing
    for `none`, `auto` by the model's name. languages: label languages in order of preference. cache_url: a Redis or
    Valkey server (redis://, rediss:// or unix://) that keeps them instead, for several machines. contact: mail address
    or URL that goes into the User-Agent. cache_dir: where replies and embeddings are kept; cache=False keeps them in
    memory only; cache_size: megabytes beyond which the oldest go. history: whether the command line keeps its last
    answers for `fedkg log` (without a cache never). mode: `live` asks for what is missing or stale, `cached` for what
    is missing, `offline` for nothing. refresh: what was kept before is asked for again. replies: whether model replies
    are kept and used again (None: in `eval` and mode `cached`; offline they always are). models_dir: folder of the
    user's own `capabilities.toml` and `prices.toml`. context: tokens that the model takes, where its record is wrong.
    model_concurrency: requests to a vendor's model that are under way at once, those of all questions of a session
    together. clients: how many processes ask at the same time; each takes its share of an endpoint's pace, and of these
    requests. budget: for one question; total_budget (the table `run` of a settings file): for all questions of a
    session together. strict: `fedkg ask` ends an answer with a caveat with exit code 5. fallback: `model` answers from
    memory what the graph leaves open; such an answer has the caveat `recalled`. guess_below: an answer with less
    confidence has the caveat `guess`; refuse_below: one with less still is no answer, and only shown as what came
    closest.
    """

    endpoints: tuple[str, ...] = ()
    model: str = LOCAL
    path_model: str = ""
    temperature: Temperature | None = None
    fidelity: Fidelity = "fedkg"
    method: str = "fidelis"
    embedder: str = "auto"
    prefixes: PrefixChoice = "auto"
    languages: tuple[Language, ...] = ("en",)
    contact: str = ""
    cache: bool = True
    cache_dir: str = ""
    cache_url: str = ""
    cache_size: Megabytes = 4096
    history: bool = True
    mode: Mode = "live"
    refresh: bool = False
    replies: bool | None = None
    context: Tokens | None = None
    models_dir: str = ""
    prompts_dir: str = ""
    profiles_dir: str = ""
    model_concurrency: Concurrency = 4
    clients: Width = 1
    strict: bool = False
    fallback: Fallback = "off"
    guess_below: Share = 0.875
    refuse_below: Share = 0.1
    search: SearchSettings = SearchSettings()
    budget: Budget = Budget(seconds=300.0)
    total_budget: Budget = msgspec.field(default=Budget(), name="run")
    ttl: Ttl = Ttl()

    @property
    def local(self) -> bool:
        """Whether no language model is asked: `local`, with or without a trained scorer."""
        return self.model == LOCAL or bool(self.scorer)

    @property
    def scorer(self) -> str:
        """The folder of the trained scorer of `local:FOLDER`; "" where there is none."""
        return self.model.removeprefix(f"{LOCAL}:") if self.model.startswith(f"{LOCAL}:") else ""

    @property
    def cache_path(self) -> Path:
        """The folder of the cache."""
        return Path(self.cache_dir) if self.cache_dir else user_cache_path("fedkg")

    @property
    def model_share(self) -> int:
        """How many model calls one of `clients` processes has under way at once: together they keep the limit."""
        return max(1, self.model_concurrency // self.clients)

    @property
    def keeps_replies(self) -> bool:
        """Whether model replies are kept and used again; by default in the modes that ask for nothing that is kept."""
        return self.mode == "offline" or (self.mode == "cached" if self.replies is None else self.replies)


FIDELITY: dict[str, dict[str, object]] = {
    "paper": {
        "temperature": 0.3,
        "search.call_plan": "paper",
        "search.form": "pairs",
        "search.scoring": "lookahead",
        "search.lookahead": "exact",
        "search.exhaustive": True,
        "search.demonstrations": True,
        "search.statement": "filled",
    }
}
"""What `fidelity` sets, by dotted keys: with `paper` the forms of FiDeLiS v4 (section 3, appendices A.3 and C)."""
FIDELITY["fedkg"] = {
    key: getattr(SearchSettings() if key.startswith("search.") else Settings(), key.rpartition(".")[2])
    for key in FIDELITY["paper"]
}
ENVIRONMENT = {
    "FEDKG_MODEL": "model",
    "FEDKG_PATH_MODEL": "path_model",
    "FEDKG_METHOD": "method",
    "FEDKG_EMBEDDER": "embedder",
    "FEDKG_CONTACT": "contact",
    "FEDKG_CACHE_DIR": "cache_dir",
    "FEDKG_CACHE_URL": "cache_url",
    "FEDKG_HISTORY": "history",
    "FEDKG_MODE": "mode",
    "FEDKG_ENDPOINTS": "endpoints",
    "FEDKG_LANGUAGES": "languages",
    "FEDKG_MODELS_DIR": "models_dir",
    "FEDKG_PROMPTS_DIR": "prompts_dir",
    "FEDKG_PROFILES_DIR": "profiles_dir",
}
LISTS = {"endpoints", "languages"}
SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
"""What a variable says of a setting that is true or false."""
PRIVATE = (
    "contact",
    "cache_dir",
    "cache_url",
    "cache_size",
    "history",
    "mode",
    "refresh",
    "ttl",
    "replies",
    "models_dir",
    "prompts_dir",
    "profiles_dir",
    "model_concurrency",
    "clients",
    "strict",
)
BUDGETS = {"budget": "max", "run": "run"}


def _keywords() -> dict[str, str]:
    """Dotted key to keyword argument, for all settings: `search.depth` is `depth`, `budget.calls` `max_calls`."""
    keywords = {field.encode_name: field.name for field in msgspec.structs.fields(Settings)}
    keywords |= {f"search.{name}": name for name in SearchSettings.__struct_fields__}
    parts = Budget.__struct_fields__
    return keywords | {f"{table}.{part}": f"{word}_{part}" for table, word in BUDGETS.items() for part in parts}


KEYWORDS = _keywords()
"""What the settings are called as keyword arguments, by their dotted keys; those of `ttl` have only these."""
DOTTED = {keyword: key for key, keyword in KEYWORDS.items()}
USER = re.compile(r"(?<=//)[^/?#]*@")
QUERY = re.compile(r"(//[^?#]*)[?#].*", re.DOTALL)
# an absolute path, or one from the home, this or the parent folder; on its own or after `KIND:` or `PROFILE@`
FOLDERS = re.compile(r"(^|[:@])(?:file://|[A-Za-z]:(?=[\\/]))?(?:~[^/\\:@]*|\.{1,2})?[/\\](?!/)(?:[^/\\]*[/\\])*")


def load(
    file: str | Path | None = None,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    option_names: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from file, environment and flags, the later ones winning.

    `flags` are named as in Python (KEYWORDS: `depth`, `max_calls`), or by dots (`search.depth`); what is None or
    empty counts as not given. `option_names` maps dotted keys to what the caller calls them, for messages: `--depth`.
    Without `file`, `fedkg.toml` in the user's configuration folder is read where it exists.

    Raises SettingsError, which names the setting as its source writes it.
    """
    environ = os.environ if environ is None else environ
    named = file or environ.get("FEDKG_SETTINGS")
    path = Path(named) if named else user_file()
    settings = Settings()
    if named or path.is_file():
        settings = _merge(settings, toml.read(path, dict[str, Any], SettingsError), Source({}, f" in {path}"))
    variables = {key: name for name, key in ENVIRONMENT.items() if environ.get(name)}
    from_environment = {key: _read(key, environ[name]) for key, name in variables.items()}
    settings = _merge(settings, from_environment, Source(variables))
    changes, names = _dotted(flags or {}, DOTTED)
    return _merge(settings, _nested(changes), Source(option_names or KEYWORDS | names))


def changed(settings: Settings, changes: Mapping[str, Any], source: str) -> Settings:
    """The settings with some changed, nested ones by dots (`search.depth`). Raises SettingsError, naming the source."""
    return _merge(settings, _nested(_dotted(changes, {})[0]), Source({}, f" in {source}"))


def user_file() -> Path:
    """The user's own settings file; it need not exist."""
    return user_config_path("fedkg") / "fedkg.toml"


def public(settings: Settings) -> dict[str, Any]:
    """The settings as an answer document shows them: no contact, nothing of this machine, and nothing of the cache.

    An answer that is read from the cache is the answer that filled it. Of a path only the last part stays, of a URL
    neither its user and password nor its query, which may hold a key.
    """
    shown: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings))
    for private in PRIVATE:
        del shown[private]
    for named in ("model", "path_model", "embedder"):
        shown[named] = masked(shown[named])
    shown["endpoints"] = [masked(name) for name in shown["endpoints"]]
    return shown


def restored(shown: Mapping[str, Any], users: Settings) -> Settings:
    """The settings that `public` shows, with the user's own others. Raises SettingsError where they do not fit."""
    private = {name: getattr(users, name) for name in PRIVATE}
    known = {name: value for name, value in shown.items() if name not in PRIVATE}
    return msgspec.structs.replace(_merge(Settings(), known, Source({}, " in the settings of the result")), **private)


def masked(name: str) -> str:
    """A name as it may be shown: of a path its last part, of a URL neither user, password nor query.

    `name` may be PROFILE@WHERE, VENDOR:MODEL@URL, KIND:FOLDER or WHERE alone.
    """
    return QUERY.sub(r"\1?…", FOLDERS.sub(r"\1", USER.sub("", name)))


def _merge(settings: Settings, changes: Mapping[str, Any], source: Source) -> Settings:
    merged = msgspec.to_builtins(settings)
    for key, value in _with_fidelity(changes).items():
        known = merged.get(key)
        merged[key] = {**known, **value} if isinstance(known, dict) and isinstance(value, Mapping) else value
    try:
        return msgspec.convert(merged, Settings, strict=True)
    except msgspec.ValidationError as error:
        message = setting_errors.sentence(error, Settings, source)
        raise SettingsError(message, hint="keys are listed in docs/settings.md") from error


def _with_fidelity(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with what `fidelity` among them stands for, below what they say themselves."""
    chosen = changes.get("fidelity")
    forms = _nested(FIDELITY.get(chosen, {})) if isinstance(chosen, str) else {}
    tables = {key: {**forms[key], **value} for key, value in changes.items() if _both(forms.get(key), value)}
    return {**forms, **changes, **tables}


def _both(form: object, value: object) -> bool:
    return isinstance(form, dict) and isinstance(value, Mapping)


def _dotted(flags: Mapping[str, Any], keywords: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The flags that are given by their dotted keys, whole tables first, and what each key was called."""
    names: dict[str, str] = {}
    for name, value in flags.items():
        if value is None or value == ():
            continue
        key = keywords.get(name, name)
        if key in names:
            raise SettingsError(f"{names[key]} and {name} are the same setting", hint="give one of them")
        names[key] = name
    return {key: flags[names[key]] for key in sorted(names, key=lambda key: key.count("."))}, names


def _nested(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as tables within tables; a struct stands for the whole table."""
    nested: dict[str, Any] = {}
    for key, value in changes.items():
        *outer, last = key.split(".")
        table = nested
        for part in outer:
            inner = table.get(part, {})
            if not isinstance(inner, Mapping):
                break  # no table: that is refused for what it is
            table[part] = table = dict(inner)
        else:
            table[last] = _plain(value)
    return nested


def _plain(value: Any) -> Any:
    """The value as a settings file could hold it."""
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _read(key: str, text: str) -> Any:
    """The value that a variable's text stands for."""
    if isinstance(getattr(Settings(), key), bool):
        return SWITCHES.get(text.strip().lower(), text)
    return [part.strip() for part in text.split(",") if part.strip()] if key in LISTS else text
