from pathlib import Path

import pytest

from fedkg.config import settings
from fedkg.config.settings import Budget, SearchSettings, Settings, Ttl, changed, load, public, restored
from fedkg.errors import SettingsError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A settings file."""
    path = tmp_path / "fedkg.toml"
    path.write_text(
        'model = "openai:from-file"\nembedder = "bm25"\nlanguages = ["de"]\n[search]\ndepth = 2\nbeam = 3\n'
    )
    return path


def test_defaults_follow_the_paper() -> None:
    """D = 4, B = 4, alpha = 0.3 (FiDeLiS v4, section 4.1), and nothing that needs a key or a network."""
    made = load(environ={"HOME": "/nowhere"}, flags={})
    assert (made.search.depth, made.search.beam, made.search.alpha) == (4, 4, 0.3)
    assert made.model == "local"


def test_file_then_environment_then_flags(file: Path) -> None:
    """The later source wins, key by key, also inside tables."""
    environ = {"FEDKG_MODEL": "openai:from-environment", "FEDKG_EMBEDDER": "minilm"}
    made = load(file, {"model": "local", "search.beam": 9}, environ)
    assert (made.model, made.embedder, made.languages) == ("local", "minilm", ("de",))
    assert (made.search.depth, made.search.beam, made.search.alpha) == (2, 9, 0.3)


def test_file_may_be_named_by_the_environment(file: Path) -> None:
    """FEDKG_SETTINGS names the file; an argument wins over it."""
    assert load(environ={"FEDKG_SETTINGS": str(file)}).model == "openai:from-file"
    with pytest.raises(SettingsError, match="No such file"):
        load(file.with_name("other.toml"), environ={"FEDKG_SETTINGS": str(file)})


def test_users_own_file_is_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file in the configuration folder is read where it exists, and not missed where it does not."""
    monkeypatch.setattr(settings, "user_config_path", lambda name: tmp_path / name)
    assert load(environ={}) == Settings()
    (tmp_path / "fedkg").mkdir()
    (tmp_path / "fedkg" / "fedkg.toml").write_text('contact = "me@example.org"')
    assert load(environ={}).contact == "me@example.org"


def test_fidelity_sets_what_the_paper_has(file: Path) -> None:
    """All of it at once, over what an earlier source says; what is set beside it or later stands."""
    made = load(file, {"fidelity": "paper", "form": "groups"}, {})
    assert (made.temperature, made.search.call_plan, made.search.lookahead) == (0.3, "paper", "exact")
    assert (made.search.statement, made.search.demonstrations, made.search.exhaustive) == ("filled", True, True)
    assert (made.search.form, made.search.depth) == ("groups", 2)
    file.write_text('fidelity = "paper"\n[search]\ncall_plan = "fused"')
    assert load(file, {"temperature": 0.7}, {}).temperature == 0.7
    assert load(file, {}, {}).search.call_plan == "fused"


def test_fidelity_is_undone_by_a_later_source(file: Path) -> None:
    """The defaults of the same settings, and no others, come back; a document's settings are restored as they were."""
    file.write_text('fidelity = "paper"\n[search]\nbeam = 3')
    assert load(file, {"fidelity": "fedkg"}, {}) == changed(Settings(), {"search.beam": 3}, "a test")
    kept = load(file, {"form": "groups"}, {})
    assert restored(public(kept), Settings()) == kept
    with pytest.raises(SettingsError, match="fidelity"):
        load(file, {"fidelity": "truth"}, {})


def test_every_variable_reaches_its_key() -> None:
    """Each documented variable sets its setting; lists are split at commas, empty variables count as unset."""
    others = {"FEDKG_MODE": "cached", "FEDKG_HISTORY": "off"}
    made = load(environ=dict.fromkeys(settings.ENVIRONMENT, "a, b") | others)
    assert (made.mode, made.history) == ("cached", False)
    for key in set(settings.ENVIRONMENT.values()) - {"mode", "history"}:
        assert getattr(made, key) == (("a", "b") if key in settings.LISTS else "a, b")
    assert load(environ=dict.fromkeys(settings.ENVIRONMENT, "")) == Settings()
    with pytest.raises(SettingsError, match="FEDKG_HISTORY must be true or false"):
        load(environ={"FEDKG_HISTORY": "perhaps"})


@pytest.mark.parametrize(
    ("mode", "replies", "kept"),
    [
        ("live", None, False),
        ("live", True, True),
        ("live", False, False),
        ("cached", None, True),
        ("cached", False, False),
        ("offline", None, True),
        ("offline", False, True),
    ],
)
def test_replies_are_kept_where_nobody_shall_be_asked_twice(
    mode: settings.Mode, replies: bool | None, kept: bool
) -> None:
    """Where it is said, by default in mode cached; offline there is nothing else to answer from."""
    assert Settings(mode=mode, replies=replies).keeps_replies is kept


def test_unset_flags_change_nothing(file: Path) -> None:
    """A command line's None and empty lists leave what the file says."""
    assert load(file, {"model": None, "languages": (), "search.depth": None}, {}) == load(file, {}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("modle = 'x'", "modle in FILE is no setting; did you mean model?"),
        ("[search]\ndepht = 3", "search.depht in FILE is no setting; did you mean search.depth?"),
        ("depth = 3", "depth in FILE is no setting; did you mean search.depth?"),
        ("[search]\ndepth = '3'", "search.depth in FILE must be a whole number"),
        ("[search]\ndepth = 2.5", "search.depth in FILE must be a whole number"),
        ("[search]\ndepth = 0", "search.depth in FILE must be 1 or more"),
        ("[search]\ncandidates = 0", "search.candidates in FILE must be 1 or more"),
        ("[search.depth]\nmost = 3", "search.depth in FILE must be a whole number"),
        ("[search]\nalpha = nan", "search.alpha in FILE must be 0 or more"),
        ("[search]\nalpha = 'x'", "search.alpha in FILE must be a number"),
        ("[search]\nform = 'triples'", "search.form in FILE must be groups or pairs, not 'triples'"),
        ("[search]\nform = 3", "search.form in FILE must be groups or pairs"),
        ("[search]\ndoor = 'x'", "search.door in FILE must be index, schema or token, not 'x'"),
        ("[search]\nkeywords = 1", "search.keywords in FILE must be true or false"),
        ("[budget]\nseconds = -1", "budget.seconds in FILE must be more than 0"),
        ("[budget]\nmoney = 0", "budget.money in FILE must be more than 0"),
        ("[budget]\nmoney = nan", "budget.money in FILE must be more than 0"),
        ("[run]\ncalls = 0", "run.calls in FILE must be 1 or more"),
        ("[run]\nhours = 1", "run.hours in FILE is no setting"),
        ("[ttl]\nneighbours = 0", "ttl.neighbours in FILE must be more than 0"),
        ("[ttl]\nlabels = -1", "ttl.labels in FILE must be more than 0"),
        ("[ttl]\nlabels = inf", "ttl.labels in FILE must be 36,500 or less"),
        ("[ttl]\nneighbors = 1", "ttl.neighbors in FILE is no setting; did you mean ttl.neighbours?"),
        ("mode = 'off'", "mode in FILE must be cached, live or offline, not 'off'"),
        ("model = 3", "model in FILE must be a text"),
        ("cache_size = 0", "cache_size in FILE must be 1 or more"),
        ("search = 3", "search in FILE must be a table"),
        ("endpoints = 'wikidata'", "endpoints in FILE must be a list"),
        ("endpoints = [3]", "each of endpoints in FILE must be a text"),
        ("languages = ['d_e']", "each of languages in FILE must be a language tag such as de or pt-BR"),
        ("model = ", "FILE: Invalid value"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    """A wrong settings file is refused with its path and the key, in words and not by a pointer."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(path, environ={})
    assert str(caught.value).startswith(message.replace("FILE", str(path)))
    assert "$" not in str(caught.value)


def test_file_that_is_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a settings error as well."""
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=r"bad\.toml"):
        load(path, environ={})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 0}, "depth must be 1 or more"),
        ({"search.depth": 0}, "search.depth must be 1 or more"),
        ({"search": {"depth": 0}}, "depth must be 1 or more"),
        ({"search": SearchSettings(depth=0)}, "depth must be 1 or more"),
        ({"search": 3, "search.depth": 2}, "search must be a table"),
        ({"max_calls": 0}, "max_calls must be 1 or more"),
        ({"run_money": 0}, "run_money must be more than 0"),
        ({"scoring": "bm25"}, "scoring must be diverse, keywords, lookahead or path, not 'bm25'"),
        ({"languages": "de"}, "languages must be a list"),
        ({"dept": 2}, "dept is no setting; did you mean depth?"),
        ({"search.depht": 2}, "search.depht is no setting; did you mean depth?"),
        ({"modle": "local"}, "modle is no setting; did you mean model?"),
        ({"calls": 3}, "calls is no setting; did you mean max_calls?"),
        ({"budget_seconds": 3}, "budget_seconds is no setting; did you mean max_seconds?"),
        ({"labels": 3}, "labels is no setting; did you mean ttl.labels?"),
        ({"zebra": 3}, "zebra is no setting"),
        ({"depth": 2, "search.depth": 3}, "depth and search.depth are the same setting"),
    ],
)
def test_errors_name_the_argument(changes: dict[str, object], message: str) -> None:
    """A wrong keyword argument is refused under the name that the caller gave it."""
    with pytest.raises(SettingsError) as caught:
        load(flags=changes, environ={})
    assert str(caught.value) == message


def test_errors_name_the_command_line() -> None:
    """A wrong flag is refused by the name that the command line has for it."""
    with pytest.raises(SettingsError, match=r"^--depth must be 1 or more$"):
        load(flags={"search.depth": 0}, environ={}, option_names={"search.depth": "--depth"})


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("FEDKG_MODE", "off", "FEDKG_MODE must be cached, live or offline, not 'off'"),
        ("FEDKG_LANGUAGES", "en,d_e", "each of FEDKG_LANGUAGES must be a language tag such as de or pt-BR"),
    ],
)
def test_errors_name_the_variable(variable: str, value: str, message: str) -> None:
    """A wrong environment variable is refused by its own name."""
    with pytest.raises(SettingsError) as caught:
        load(environ={variable: value})
    assert str(caught.value) == message


def test_plain_keywords_reach_their_tables() -> None:
    """Settings of a search need no prefix, those of the budgets have one of their own; dotted keys go on to work."""
    made = load(
        environ={}, flags={"depth": 2, "retriever": "kaping", "max_calls": 3, "run_money": 1.5, "search.beam": 7}
    )
    assert (made.search.depth, made.search.retriever, made.search.beam) == (2, "kaping", 7)
    assert (made.budget.calls, made.budget.seconds, made.total_budget.money) == (3, 300.0, 1.5)


def test_a_whole_group_and_one_of_its_settings(tmp_path: Path) -> None:
    """A struct stands for all of its group, and single settings are laid over it; folders may be paths."""
    changes = {"max_calls": 3, "budget": Budget(tokens=9), "ttl": Ttl(labels=2), "cache_dir": tmp_path, "depth": 2}
    made = load(environ={}, flags=changes | {"search": SearchSettings(beam=9, depth=7)})
    assert made.budget == Budget(calls=3, tokens=9)
    assert (made.search, made.ttl) == (SearchSettings(beam=9, depth=2), Ttl(labels=2))
    assert made.cache_path == tmp_path


def test_public_settings_hide_person_and_machine() -> None:
    """Contact, folders, credentials and the keys of URLs never reach an answer document."""
    made = Settings(
        endpoints=(
            "wikidata",
            "/data/ada/secret/graph.nt",
            "generic@~/graph.ttl",
            "generic@../x/graph.nq",
            "file:///data/ada/g.nt",
            "C:\\Users\\ada\\g.nt",
            "https://ada:pa55@sparql.example.org/q?key=t0ken#t0ken",
        ),
        model="openai:m@http://ada:pa55@127.0.0.1:8000/v1",
        embedder="st:/data/ada/model",
        contact="ada@example.org",
        cache_dir="/data/ada/cache",
        prompts_dir="/data/ada/prompts",
        profiles_dir="/data/ada/profiles",
    )
    shown = public(made)
    assert not any(secret in str(shown) for secret in ("ada", "pa55", "t0ken", "home", "secret"))
    assert shown["endpoints"][:4] == ["wikidata", "graph.nt", "generic@graph.ttl", "generic@graph.nq"]
    assert shown["endpoints"][6] == "https://sparql.example.org/q?…"
    assert (shown["model"], shown["embedder"]) == ("openai:m@http://127.0.0.1:8000/v1", "st:model")


def test_public_settings_do_not_tell_what_is_kept_how() -> None:
    """An answer from the cache is the answer that filled it: how the cache was used is not part of the document."""
    assert public(Settings(mode="offline", cache_size=1, ttl=Ttl(labels=1))) == public(Settings(refresh=True))


def test_public_settings_keep_what_matters() -> None:
    """Names that tell which graph and model were asked stay as they are."""
    made = Settings(
        endpoints=("wikidata", "http://127.0.0.1:3001/sparql"), embedder="st:org/model", model="anthropic:m"
    )
    shown = public(made)
    assert shown["endpoints"] == ["wikidata", "http://127.0.0.1:3001/sparql"]
    assert (shown["model"], shown["embedder"], shown["search"]["depth"]) == ("anthropic:m", "st:org/model", 4)


def test_cache_path(tmp_path: Path) -> None:
    """The cache lies where the user says, else in the user's cache folder."""
    assert Settings(cache_dir=str(tmp_path)).cache_path == tmp_path
    assert Settings().cache_path.name == "fedkg"


def test_public_settings_come_back(tmp_path: Path) -> None:
    """What they do not show is one's own, also where somebody has written it in."""
    settings = load(flags={"model": "openai:m", "search.depth": 2, "contact": "me@example.org"}, environ={})
    local = Settings(contact="you@example.org", cache_dir=str(tmp_path))
    merged = restored({**public(settings), "cache_dir": "/planted", "prompts_dir": "/planted"}, local)
    assert (merged.model, merged.search.depth) == ("openai:m", 2)
    assert (merged.contact, merged.cache_dir, merged.prompts_dir) == ("you@example.org", str(tmp_path), "")
    assert public(merged) == public(settings)
    with pytest.raises(SettingsError, match="settings of the result"):
        restored({"beam": 3}, local)


def test_the_budget_of_all_questions_is_the_table_run() -> None:
    """Settings files, flags and results speak of `run`; code reads `total_budget`."""
    made = load(flags={"run.calls": 3}, environ={"HOME": "/nowhere"})
    assert made.total_budget.calls == 3
    assert public(made)["run"]["calls"] == 3
    assert restored(public(made), Settings()).total_budget == made.total_budget


def test_changes_are_named_by_dotted_keys_alone() -> None:
    """A definition of an ablation is a file: it has no keyword arguments."""
    assert changed(Settings(), {"search.depth": 2}, "a grid").search.depth == 2
    with pytest.raises(SettingsError, match=r"^depth in a grid is no setting; did you mean search\.depth\?$"):
        changed(Settings(), {"depth": 2}, "a grid")
