"""Where the figures of a run come from: fedkg's commit, the versions of packages, settings, wordings and data files.

The same command gives the same header on every machine that has the same of all these; no folder of a machine is in it.
"""

import functools
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from fedkg.bench.data import files
from fedkg.bench.data.definitions import Definition
from fedkg.bench.run.record import Header
from fedkg.config.settings import Settings, masked, public
from fedkg.reasoner.calls.follow_up import FollowUpCall
from fedkg.reasoner.prompts import library

__all__ = ["current", "deviating", "header", "version"]

ROOT = Path(__file__).resolve().parents[3]
"""The checkout that the package runs from, if it does."""
SHAPING = ("fedkg", "endpoints", "models", "prompts", "sample", "eval/benchmarks")
"""The folders of a checkout that answers depend on."""
GIT_SECONDS = 20
NAME = re.compile(r"[\w.-]+")
DEVELOPING = re.compile(r"extra\s*==\s*['\"](dev|all)['\"]")


def header(settings: Settings, definition: Definition, data: Path | None, limit: int | None, seed: int) -> Header:
    """The header of a run, but for the number of its questions and what was left out of them.

    Raises DatasetError where a file of the benchmark cannot be read, and PromptError where a wording cannot be used.
    """
    return Header(
        benchmark=definition.name,
        method=settings.method,
        model=masked(settings.model),
        settings=public(settings),
        questions=0,
        limit=limit,
        seed=seed,
        metric=definition.metric,
        data=_data(settings, definition, data),
        **current(settings),
    )


def current(settings: Settings) -> dict[str, Any]:
    """The part of a header that says what is running here: fedkg, its commit, packages, and wordings."""
    commit, dirty = _started_from()
    return {
        "fedkg": version("fedkg"),
        "commit": commit,
        "dirty": dirty,
        "packages": dict(_packages()),
        "templates": _templates(settings),
    }


def deviating(header: Header, definition: Definition) -> tuple[str, ...]:
    """The files that are others than those which the definition's committed results were made from."""
    return tuple(name for name, known in definition.sha256.items() if header.data.get(name, known) != known)


def _data(settings: Settings, definition: Definition, data: Path | None) -> dict[str, str]:
    """The SHA-256 of the definition and of each file: questions, which of them count, and endpoints that are files."""
    listed = [part.file for part in (definition.only, definition.conditions) if part]
    read = {Path(name).name: files.find(definition, name, data, settings) for name in (definition.questions, *listed)}
    places = [(masked(endpoint), Path(endpoint.rpartition("@")[2])) for endpoint in settings.endpoints]
    graphs = {name.rpartition("@")[2]: place for name, place in places if place.is_file()}
    return {"definition": _digest(definition)} | {name: files.sha256(place) for name, place in (read | graphs).items()}


def _digest(definition: Definition) -> str:
    described = msgspec.to_builtins(msgspec.structs.replace(definition, questions=Path(definition.questions).name))
    if definition.conditions is None:
        del described["conditions"]  # files that were made before there was this key are still of the same definition
    if definition.kinds == "gold":
        del described["kinds"]  # likewise
    return hashlib.sha256(msgspec.json.encode(described)).hexdigest()


def _templates(settings: Settings) -> dict[str, str]:
    """Version and digest of each call's wording, by call and kind; none where no model is asked."""
    if settings.local:
        return {}
    vendor, forms = settings.model.partition(":")[0], library.forms_of(settings.search)
    prompts = library.PromptLibrary(settings.prompts_dir, vendor, forms)
    return {
        f"{call}.{kind}" if kind else call: prompts.get(call, kind).version
        for call in library.names()
        if call != FollowUpCall.name  # a benchmark holds no conversation: its wording changes no run
        for kind in (None, *library.variants(call, settings.prompts_dir))
    }


@functools.cache
def _packages() -> dict[str, str]:
    """The versions of Python and of what fedkg can use, as far as it is installed."""
    try:
        required = importlib.metadata.requires("fedkg") or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    names = {match[0] for line in required if not DEVELOPING.search(line) and (match := NAME.match(line))}
    versions = {name: version(name) for name in sorted(names)}
    return {"python": platform.python_version()} | {name: version for name, version in versions.items() if version}


def version(package: str) -> str:
    """The version that is installed; "" where none is."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


@functools.cache
def _started_from() -> tuple[str, bool]:
    """The commit of this checkout, as it was when this process first asked.

    The code that runs is what was loaded then.
    """
    return _commit(ROOT)


def _commit(root: Path) -> tuple[str, bool]:
    """The commit of the checkout at `root`, and whether what answers depend on has changed since.

    None where it is no checkout.
    """
    if not (root / ".git").exists() or not (root / "pyproject.toml").is_file():
        return "", False
    commit = _git(root, "rev-parse", "HEAD")
    changed = _git(root, "status", "--porcelain", "--", *SHAPING)
    return (commit.strip(), bool(changed)) if commit and changed is not None else ("", False)


def _git(root: Path, *words: str) -> str | None:
    """What git says; None where it is not there, or does not say it."""
    git = shutil.which("git")
    if git is None:
        return None
    # a hook that this is started from may point git elsewhere
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = [git, "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(  # noqa: S603  # words of our own
            command, capture_output=True, text=True, env=environment, timeout=GIT_SECONDS, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout
