from pathlib import Path

import pytest

from fedkg.config import settings
from fedkg.config.settings import Settings, Ttl, load, public, restored
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


def test_every_variable_reaches_its_key() -> None:
    """Each documented variable sets its setting; lists are split at commas, empty variables count as unset."""
    made = load(environ=dict.fromkeys(settings.ENVIRONMENT, "a, b") | {"FEDKG_MODE": "cached"})
    assert made.mode == "cached"
    for key in set(settings.ENVIRONMENT.values()) - {"mode"}:
        assert getattr(made, key) == (("a", "b") if key in settings.LISTS else "a, b")
    assert load(environ=dict.fromkeys(settings.ENVIRONMENT, "")) == Settings()


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
    ("text", "said"),
    [
        ("modle = 'x'", "unknown field `modle`"),
        ("[search]\ndepht = 3", "unknown field `depht`.*search"),
        ("[search]\ndepth = '3'", r"Expected `int`.*search\.depth"),
        ("[search]\ndepth = 0", r"search\.depth"),
        ("[search]\nalpha = nan", r"search\.alpha"),
        ("[search]\nform = 'triples'", r"search\.form"),
        ("[budget]\nseconds = -1", r"budget\.seconds"),
        ("[budget]\nmoney = 0", r"budget\.money"),
        ("[budget]\nmoney = nan", r"budget\.money"),
        ("[run]\ncalls = 0", r"run\.calls"),
        ("[run]\nhours = 1", "unknown field `hours`.*run"),
        ("[ttl]\nneighbours = 0", r"ttl\.neighbours"),
        ("[ttl]\nlabels = -1", r"ttl\.labels"),
        ("[ttl]\nlabels = inf", r"ttl\.labels"),
        ("[ttl]\nneighbors = 1", "unknown field `neighbors`.*ttl"),
        ("mode = 'off'", "mode"),
        ("cache_size = 0", "cache_size"),
        ("search = 3", r"search"),
        ("endpoints = 'wikidata'", r"Expected `array`.*endpoints"),
        ("model = ", "Invalid value"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    """A wrong settings file is refused with its path and the key."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=said) as caught:
        load(path, environ={})
    assert str(path) in str(caught.value)


def test_file_that_is_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a settings error as well."""
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=r"bad\.toml"):
        load(path, environ={})


def test_errors_name_the_command_line() -> None:
    """A wrong flag is refused with its source and key."""
    with pytest.raises(SettingsError, match=r"command line.*search\.depth"):
        load(flags={"search.depth": 0}, environ={})


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
    own = Settings(contact="you@example.org", cache_dir=str(tmp_path))
    found = restored({**public(settings), "cache_dir": "/planted", "prompts_dir": "/planted"}, own)
    assert (found.model, found.search.depth) == ("openai:m", 2)
    assert (found.contact, found.cache_dir, found.prompts_dir) == ("you@example.org", str(tmp_path), "")
    assert public(found) == public(settings)
    with pytest.raises(SettingsError, match="settings of the result"):
        restored({"beam": 3}, own)


def test_the_budget_of_all_questions_is_the_table_run() -> None:
    """Settings files, flags and results speak of `run`; code reads `total_budget`."""
    made = load(flags={"run.calls": 3}, environ={"HOME": "/nowhere"})
    assert made.total_budget.calls == 3
    assert public(made)["run"]["calls"] == 3
    assert restored(public(made), Settings()).total_budget == made.total_budget
