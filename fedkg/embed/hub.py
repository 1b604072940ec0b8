"""Models by their names on a hub (`organisation/model`), found here or fetched once, by the hub's own library.

Which hub it is says the library's variable `HF_ENDPOINT`, where files go `HF_HOME`.
"""

import contextlib
import importlib.util
import re
from pathlib import Path

from fedkg.common.one_line import line
from fedkg.errors import MissingExtraError, ModelNameError

__all__ = ["fetched", "is_hub_name"]

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
WANTED = ("*.json", "*.safetensors")
LEFT_OUT = ("onnx/*", "openvino/*")
"""The same weights once more, in other formats."""
HINT = "is there a network, and a model of that name? A folder is taken, too: onnx:FOLDER"
SECONDS = 10.0
"""Until a hub that does not reply is given up."""


def is_hub_name(name: str) -> bool:
    """Whether a hub may have a model of that name."""
    return NAME.fullmatch(name) is not None


def fetched(name: str, *, offline: bool = False) -> Path:
    """The folder of the model: what is on this machine, or what the hub has; weights as safetensors only.

    Raises ModelNameError where neither has it, MissingExtraError where the hub's library is not installed.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        install = "pip install 'fedkg[embeddings]'"
        raise MissingExtraError(f"models on a hub need huggingface_hub: {install}", asked=name, hint=install)
    folder = _on_this_machine(name)
    if folder or not offline:
        return folder or _from_hub(name)
    raise ModelNameError(f"the model {name} is not on this machine, and offline none is fetched", asked=name)


def _on_this_machine(name: str) -> Path | None:
    with contextlib.suppress(OSError, ValueError):
        folder = _snapshot(name, local=True)
        if any(folder.rglob("*.safetensors")):
            return folder
    return None


def _from_hub(name: str) -> Path:
    try:
        return _snapshot(name, local=False)
    except (OSError, ValueError) as error:
        reason = line(str(error), 300)
        raise ModelNameError(f"the model {name} cannot be fetched: {reason}", asked=name, hint=HINT) from error


def _snapshot(name: str, *, local: bool) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415  # slow to import

    wanted, left_out = list(WANTED), list(LEFT_OUT)
    return Path(
        snapshot_download(
            name, local_files_only=local, etag_timeout=SECONDS, allow_patterns=wanted, ignore_patterns=left_out
        )
    )
