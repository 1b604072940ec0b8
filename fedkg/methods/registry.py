"""The methods by name: what `--method` takes, of fedkg itself and of installed packages (`fedkg.methods`)."""

from collections.abc import Mapping, Sequence

from fedkg.common.plugins import Registry
from fedkg.config.settings import ConstraintLevel, SearchSettings
from fedkg.errors import MethodError
from fedkg.methods import eperm, fidelis, gcr, model_only, retrieve_once, rog, tog
from fedkg.methods.base import Method
from fedkg.methods.heeded import HEEDED, unheeded

__all__ = [
    "METHODS",
    "check",
    "check_choices",
    "check_constraint",
    "check_decoding",
    "check_last_step",
    "check_prompted",
    "find",
    "name_of",
    "usable",
]

METHODS: Mapping[str, Method] = {
    "fidelis": fidelis.METHOD,
    "gcr": gcr.METHOD,
    "eperm": eperm.METHOD,
    "tog": tog.METHOD,
    "rog": rog.METHOD,
    "kaping": retrieve_once.KAPING,
    "vanilla": retrieve_once.VANILLA,
    "io": model_only.IO,
    "few-shot": model_only.FEW_SHOT,
    "cot": model_only.COT,
    "self-consistency": model_only.SELF_CONSISTENCY,
}
_REGISTRY: Registry[Method] = Registry(
    "fedkg.methods", METHODS, lambda thing: isinstance(thing, Method), "a fedkg.methods.base.Method"
)


def usable() -> Mapping[str, Method]:
    """All methods by name, fedkg's own first; one that a package fails to provide is left out, and said in the log."""
    return _REGISTRY.usable()


def find(name: str, *, prompted: bool = True) -> Method:
    """The method of that name; `prompted` is whether there is a language model.

    Raises MethodError for an unknown one, naming the known ones, and for one that the model cannot serve, naming what
    would work; PluginError where a package fails to provide it.
    """
    method = _REGISTRY.get(name)
    if method is None:
        raise MethodError(f"no method is called {name[:100]!r}", hint=f"known: {', '.join(_REGISTRY.names())}")
    check_prompted(method, name, prompted=prompted)
    return method


def check_prompted(method: Method, name: str, *, prompted: bool) -> None:
    """Raises MethodError where the method needs a language model and there is none, naming methods that need none."""
    if method.prompts and not prompted:
        others = ", ".join(other for other, known in METHODS.items() if not known.prompts)
        hint = f"name a language model with --model; without one there are: {others}"
        raise MethodError(
            f"the method {name} needs a language model, and the model local is none", asked=name, hint=hint
        )


def name_of(method: Method) -> str:
    """The name that `find` takes for the method; its title where there is none."""
    return _REGISTRY.name_of(method) or method.title


def check_constraint(
    method: Method, constraint_level: ConstraintLevel | None, offered: Sequence[ConstraintLevel], model: str
) -> None:
    """Raises MethodError, naming what would work, where the walk needs a constraint that the model does not offer."""
    if method.decodes and constraint_level and constraint_level not in offered:
        hint = (
            "token: --model hf:FOLDER, or --path-model hf:FOLDER beside another model; schema: a model whose record in "
            f'capabilities.toml says structured = "native"; {model} offers: {", ".join(offered)}'
        )
        raise MethodError(
            f"the model {model} cannot be held to paths by the door {constraint_level}", asked=model, hint=hint
        )


def check_decoding(method: Method, search: SearchSettings, model: str, *, writes: bool) -> None:
    """Raises MethodError where paths are to be written freely, and there is no model that writes."""
    if method.decodes and search.decoding == "free" and not writes:
        hint = "name a language model with --model, or one that writes paths with --path-model hf:FOLDER"
        raise MethodError(
            f"the decoding free needs a model that writes, and the model {model} writes nothing", hint=hint
        )


def check_last_step(method: Method, search: SearchSettings) -> None:
    """Raises MethodError where the answer call is left out, and nothing else in the method says what answers."""
    if search.last_step:
        return
    if unheeded(name := name_of(method), ["last_step"]):
        others = ", ".join(other for other, heeded in HEEDED.items() if "last_step" in heeded)
        hint = f"methods whose paths answer without it: {others}"
        raise MethodError(f"the method {name} has no answer without its answer call", asked=name, hint=hint)


def check_choices(search: SearchSettings, model: str, *, grammar: bool) -> None:
    """Raises MethodError where numbers are to be chosen by their probabilities, and the model gives none of them."""
    if search.choices == "likelihood" and not grammar:
        hint = "name a model in a folder with --model hf:FOLDER, or leave out --choices"
        raise MethodError(
            f"the choices likelihood need a model whose tokens are chosen here, and {model} is none",
            asked=model,
            hint=hint,
        )


def check(method: Method, search: SearchSettings, model: str, *, logprobs: bool) -> None:
    """Raises MethodError where the verifier needs log-probabilities and the model has none, naming what would work."""
    if method.verifies and search.verifier == "log-probability" and not logprobs:
        hint = (
            "name a model whose record in capabilities.toml says logprobs = true, such as openai:gpt-4o; any model "
            "serves the verifiers deductive, adequacy and none"
        )
        raise MethodError(
            f"the verifier log-probability needs log-probabilities, and the model {model} gives none",
            asked=model,
            hint=hint,
        )
