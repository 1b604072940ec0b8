"""Importing fedkg is no event for the program that does it: no global of Python or of another library changes."""

import subprocess
import sys

IMPORTED = r"""
import asyncio, contextlib, importlib, logging, os, pkgutil, signal, socket, sys, warnings

def optional(name):
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)

# those that would change something themselves do it before
for name in ("aiohttp", "bm25s", "click", "diskcache", "httpx2", "jinja2", "matplotlib", "pyoxigraph", "ray", "redis",
             "rich", "usearch"):
    optional(name)
stamina, hooks = optional("stamina"), optional("stamina.instrumentation")

def state():
    seen = {
        "environment": dict(os.environ),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "excepthook": sys.excepthook,
        "warnings": list(warnings.filters),
        "timeout": socket.getdefaulttimeout(),
        "policy": type(asyncio.get_event_loop_policy()),
        "logging": (
            logging.getLoggerClass(), logging.lastResort, logging.raiseExceptions, logging.root.manager.disable
        ),
        "loggers": {
            name: (logger.level, list(logger.handlers), list(logger.filters), logger.propagate, logger.disabled)
            for name, logger in [("", logging.root), *logging.root.manager.loggerDict.items()]
            if isinstance(logger, logging.Logger) and not name.startswith("fedkg")
        },
        "stamina": stamina and (hooks.get_on_retry_hooks(), stamina.is_active(), stamina.is_testing()),
    }
    return seen

before = state()
import fedkg
for module in pkgutil.walk_packages(fedkg.__path__, "fedkg."):
    # a loss is a class of PyTorch's: what trains imports it late; frameworks are imported by those who use them
    late = {"fedkg.__main__", "fedkg.training.scorer_loss", "fedkg.training.writer_loss"}
    late |= {"fedkg.adapters.langchain", "fedkg.adapters.llamaindex"}
    if module.name not in late:
        optional(module.name)
after = state()
known = before["loggers"]
after["loggers"] = {name: after["loggers"][name] for name in known}  # a library may make one when it is used first
imported = [name for name in sys.modules if name.startswith("fedkg.")]
print(*[name for name in before if before[name] != after[name]], len(imported) > 100)
# what is not imported is not changed either
HEAVY = "anthropic huggingface_hub openai sentence_transformers torch transformers".split()
print(*[name for name in HEAVY if name in sys.modules])
"""


def test_importing_every_module_changes_nothing_outside() -> None:
    """Handlers, levels, hooks, environment, signals: all as before; SDKs and models wait until they are needed."""
    result = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout.split()) == (0, ["True"]), result.stderr[-2_000:]


LOGGED = """
import fedkg, logging
logging.getLogger("fedkg.session").warning("nobody configured logging")
print(logging.getLogger("fedkg").handlers)
"""


def test_the_library_is_silent_unless_it_is_asked() -> None:
    """Nothing on standard error where the program has set up no logging."""
    result = subprocess.run([sys.executable, "-c", LOGGED], capture_output=True, text=True, check=True)
    assert (result.stderr, "NullHandler" in result.stdout) == ("", True)
