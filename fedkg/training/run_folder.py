"""The folder of something that is trained: taken for a run, gone on with by the same run only, and cleaned at its end.

While it is made it has `run.json`, what was asked for, beside what the run is gone on with.
"""

import hashlib
import shutil
from pathlib import Path

import msgspec

from fedkg.core.encoding import encode
from fedkg.errors import DatasetError
from fedkg.training.fine_tuning import CHECKPOINTS
from fedkg.training.scorer_data import DataChoice

__all__ = ["RECORDS", "RUN", "claim", "clean", "digest", "plain"]

RUN = "run.json"
RECORDS = "records"
"""The folder of the records that were trained on."""


def claim(out: Path, card: str, run: msgspec.Struct) -> None:
    """Makes the folder, or takes that of an interrupted run. Raises DatasetError for any other, or with that card."""
    asked = msgspec.json.format(encode(run))
    try:
        if (out / RUN).exists():
            if (out / RUN).read_bytes() != asked:
                hint = "use the same options, or another --out"
                raise DatasetError(f"{out} has a run with other options that is not at its end", hint=hint)
        else:
            _begin(out, card, asked)
        (out / RECORDS).mkdir(exist_ok=True)
    except OSError as error:
        raise DatasetError(f"{out}: {error.strerror}", hint="--out takes a folder that can be written") from error


def _begin(out: Path, card: str, asked: bytes) -> None:
    """Makes the folder of a new run; `run.json` is the first that stands in it."""
    if (out / card).exists():
        raise DatasetError(f"{out} has a trained {Path(card).stem} already", hint="--out takes another folder")
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise DatasetError(f"{out} is not empty", hint="--out takes a new folder, or that of an interrupted run")
    (out / RUN).write_bytes(asked)


def clean(out: Path) -> None:
    """Removes what only an interrupted run needs; the run is over as soon as the first of it is gone."""
    (out / RUN).unlink()
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)


def digest(file: Path) -> str:
    """The SHA-256 of the file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def plain(choice: DataChoice) -> dict[str, object]:
    """The choice as it is written down: without where files lie."""
    written = choice._asdict() | {"sets": list(choice.sets)}
    del written["data"]
    return written
