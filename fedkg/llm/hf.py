"""A causal language model of transformers in a local folder, as a ChatModel whose tokens can be constrained to a trie.

Nothing is downloaded, no code of the folder is run, and of weights only safetensors are read. PyTorch takes seconds to
import, so import and load wait for the first request. A model is used by one thread at a time, beside the event loop.
"""

import asyncio
import hashlib
import importlib.util
import json
import math
import re
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fedkg.cache.store import Store
from fedkg.common import hf_loading
from fedkg.common.one_line import line
from fedkg.errors import MissingExtraError, ModelContextError, ModelNameError, ModelReplyError
from fedkg.llm.base import Capability, Completion, Constraint, Message, Request, Token
from fedkg.llm.constrained import FREE, Matrix, decoded, numbered
from fedkg.llm.json_grammar import SchemaGrammar, bounded
from fedkg.llm.sdk import CUT, RUNS_ON, THOUGHT, headed
from fedkg.llm.trie import Trie

__all__ = ["NAMESPACE", "VENDOR", "HfModel", "check", "context", "named"]

VENDOR = "hf"
NAMESPACE = "tries"
PACKAGES = ("torch", "transformers", "llguidance")
TOKENIZING = ("*.json", "*.txt", "*.model", "*.jinja")
"""Files of a folder that say how tokens are made; weights are none of them."""
DIGITS = 12
FAULT = 200
"""Characters of what PyTorch tells of a failure."""
SEQUENCE, ANSWER = 256, 32
"""Most tokens of a path that is written freely, and of the answer behind a path."""
CAUSAL = ("ForCausalLM", "LMHeadModel")
HINT = (
    "hf:FOLDER is a folder with config.json, tokenizer and *.safetensors of a causal model, "
    "as transformers' save_pretrained leaves them"
)


class Config(msgspec.Struct):
    """What is needed of a model's config.json; the context goes by several names."""

    architectures: list[str] = []
    max_position_embeddings: int | None = None
    n_positions: int | None = None
    text_config: "Config | None" = None

    @property
    def context(self) -> int | None:
        """Tokens of prompt and reply together; None where that is not said."""
        inner = self.text_config.context if self.text_config else None
        return self.max_position_embeddings or self.n_positions or inner


class HfModel:
    """A ChatModel over the model in that folder; `store` keeps its tries.

    Sample 0 is greedy; the others are drawn as the folder's generation_config.json has it, with their number as the
    seed.
    """

    def __init__(self, folder: Path, capability: Capability, store: Callable[[], Store]) -> None:
        self.name = named(folder)
        self.capability = capability
        self._folder = folder
        self._store = store
        self._lock = threading.Lock()
        self._network: Network | None = None

    async def complete(self, request: Request) -> Completion:
        """The reply. Raises ModelNameError where the folder cannot be loaded, ModelContextError and ModelReplyError."""
        given_up = threading.Event()
        try:
            return await asyncio.to_thread(self._complete, request, given_up)
        finally:
            given_up.set()  # a thread cannot be cancelled, but it looks whether anybody waits for it

    async def close(self) -> None:
        """Frees the model."""
        self._network = None

    def _complete(self, request: Request, given_up: threading.Event) -> Completion:
        with self._lock:
            self._network = network = self._network or Network(self._folder)
            prompt = network.prompt(request.messages if self.capability.system else headed(request.messages))
            room = self.capability.context - len(prompt)
            if room < 1:
                taken = f"{len(prompt):,} of {self.capability.context:,} tokens"
                raise ModelContextError(f"{self.name}: the prompt has {taken}", asked=request.call)
            try:
                if request.constraint:
                    return self._written(network, prompt, room, request.constraint, given_up)
                return self._generated(network, prompt, min(room, self.capability.output), request, given_up)
            except (RuntimeError, IndexError) as error:  # no memory left, weights that are no numbers, a wrong context
                fault = f"{self.name}: the model failed: {line(str(error), FAULT)}"
                raise ModelReplyError(fault, asked=request.call) from error

    def _generated(
        self, network: "Network", prompt: list[int], most: int, request: Request, given_up: threading.Event
    ) -> Completion:
        if request.beams:
            sequences = network.sequences(prompt, min(most, SEQUENCE), request.beams, given_up)
            text = json.dumps({"texts": list(map(network.text, sequences))})
            return Completion(text, len(prompt), sum(map(len, sequences)))
        if self.capability.thinks:  # its thoughts come first, and are no JSON
            request = msgspec.structs.replace(request, schema={}, most=0)
        bound = min(request.most or most, most)
        tokens, spelled = network.generate(prompt, bound, request, given_up)
        if bound < most and network.cut(tokens) and network.text(tokens).lstrip().startswith(THOUGHT):
            bound = most
            tokens, spelled = network.generate(prompt, bound, request, given_up)
        if network.cut(tokens):
            hint = RUNS_ON if bound < most else CUT
            fault = ModelReplyError(f"{self.name}: the reply was cut (length)", asked=request.call, hint=hint)
            fault.tokens_in, fault.tokens_out = len(prompt), len(tokens)
            raise fault
        return Completion(network.text(tokens), len(prompt), len(tokens), spelled=spelled)

    def _written(
        self, network: "Network", prompt: list[int], room: int, constraint: Constraint, given_up: threading.Event
    ) -> Completion:
        """The texts that the model writes where it can write no other.

        Tokens out are those that were looked at for it, and those of what is answered behind the texts.
        """
        search = Beams(network, prompt, room, given_up)
        written = decoded(self._trie(network, constraint), search, constraint.most, constraint.score)
        numbers, scores = [one.number for one in written], [float(f"{math.exp(one.score):.6g}") for one in written]
        reply: dict[str, object] = {"picks": numbers, "scores": scores}
        answered = numbers if constraint.answer else []
        answers = [network.answer(prompt, room, constraint, number, given_up) for number in answered]
        if constraint.answer:
            reply["answers"] = [network.text(answer).strip().partition("\n")[0] for answer in answers]
        return Completion(json.dumps(reply), len(prompt), search.tokens + sum(map(len, answers)))

    def _trie(self, network: "Network", constraint: Constraint) -> Trie[int]:
        """The trie of the texts, from the store where one was made before of the same texts by the same tokenizer."""
        texts = (constraint.texts, constraint.start, constraint.end, constraint.names)
        key = f"{network.digest} {hashlib.sha256(msgspec.msgpack.encode(texts)).hexdigest()}"
        kept = self._store().get_many(NAMESPACE, [key]).get(key)
        trie = Trie.from_bytes(kept) if kept else None
        if trie is None or len(trie) != len(constraint.texts):
            trie = numbered(network.sequences_of(constraint))
            self._store().put_many(NAMESPACE, {key: trie.to_bytes()})
        return trie


class Network:
    """A model with its tokenizer; `digest` tells one tokenizer from another.

    Raises ModelNameError for what cannot be loaded.
    """

    def __init__(self, folder: Path) -> None:
        import torch  # noqa: PLC0415  # optional, and slow to import
        import transformers  # noqa: PLC0415  # the same

        self._torch: Any = torch
        self.tokenizer, self.model = _loaded(folder)
        self.context = context(folder)
        self.digest = f"{transformers.__version__} {_digest(folder, *TOKENIZING)}"
        marks = {*self.tokenizer.all_special_tokens, *self.tokenizer.get_added_vocab()}
        listed = sorted(filter(str.strip, marks), key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, listed)) or "(?!)")
        self._ends = _ends(self.model, self.tokenizer)

    def plain(self, text: str) -> str:
        """The text without anything that the tokenizer takes for a mark, such as the end of a turn.

        A label may hold any.
        """
        text = text.encode(errors="replace").decode()
        while (clean := self._marks.sub(" ", text)) != text:
            text = clean  # what stood on both sides of a mark may be one
        return text

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of the messages: by the tokenizer's chat template, or one below the other where it has none."""
        turns = [{"role": message.role, "content": self.plain(message.content)} for message in messages]
        if not self.tokenizer.chat_template:
            return list(self.tokenizer("\n\n".join(turn["content"] for turn in turns))["input_ids"])
        text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return self.tokens([text])[0]

    @property
    def end(self) -> int:
        """The token that ends a reply. Raises ModelNameError where neither tokenizer nor model names one."""
        if self.tokenizer.eos_token_id is not None:
            return int(self.tokenizer.eos_token_id)
        if not self._ends:
            raise ModelNameError("the model has no token that ends a reply", hint=HINT)
        return min(self._ends)

    def tokens(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each text, with nothing before and behind them."""
        return list(self.tokenizer(texts, add_special_tokens=False)["input_ids"]) if texts else []

    def sequences_of(self, constraint: Constraint) -> list[list[int]]:
        """The tokens of each text with its marks; those of its names are FREE."""
        start, end = constraint.start, constraint.end
        texts = [self.plain(text) for text in constraint.texts]
        marked = [f"{start}{text}{end}" for text in texts]
        if not constraint.names or texts != list(constraint.texts):
            return self.tokens(marked)
        made = self.tokenizer(marked, add_special_tokens=False, return_offsets_mapping=True)
        rows = zip(marked, made["input_ids"], made["offset_mapping"], constraint.names, strict=True)
        return [_freed(*row, len(start)) for row in rows]

    def text(self, tokens: Sequence[int]) -> str:
        """The text of a reply's tokens."""
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))

    def cut(self, tokens: Sequence[int]) -> bool:
        """Whether a reply has no end of its own."""
        return not tokens or tokens[-1] not in self._ends

    def generate(
        self, prompt: list[int], most: int, request: Request, given_up: threading.Event
    ) -> tuple[list[int], tuple[Token, ...]]:
        """At most so many tokens of a reply, and each with its alternatives where these are asked for."""
        torch, rows = self._torch, self.rows([prompt])
        drawn = {"temperature": request.temperature} if request.temperature else {}
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(request.sample)
            made = self.model.generate(
                rows,
                attention_mask=torch.ones_like(rows),
                max_new_tokens=most,
                do_sample=request.sample > 0 or request.temperature > 0,
                num_beams=1,
                logits_processor=self._held(request),
                eos_token_id=sorted(self._ends) or None,
                pad_token_id=min(self._ends, default=0),
                stopping_criteria=[lambda ids, _: torch.full((len(ids),), given_up.is_set(), device=ids.device)],
                return_dict_in_generate=True,
                output_logits=request.alternatives > 0,
                **drawn,
            )
        tokens = made.sequences[0, len(prompt) :].tolist()
        logits = made.logits or ()
        return tokens, tuple(
            self._spelled(token, row[0], request.alternatives) for token, row in zip(tokens, logits, strict=False)
        )

    def _held(self, request: Request) -> list[SchemaGrammar]:
        """What holds the reply to its schema, where it has one."""
        if not request.schema:
            return []
        schema, vocabulary = bounded(request.schema, request.lengths), self.model.get_output_embeddings().out_features
        return [SchemaGrammar(self.tokenizer, self._ends, vocabulary, schema)]

    def sequences(self, prompt: list[int], most: int, beams: int, given_up: threading.Event) -> list[list[int]]:
        """So many sequences of a beam search that nothing constrains, the likeliest first."""
        torch, rows = self._torch, self.rows([prompt])
        with torch.inference_mode():
            made = self.model.generate(
                rows,
                attention_mask=torch.ones_like(rows),
                max_new_tokens=most,
                do_sample=False,
                num_beams=beams,
                num_return_sequences=beams,
                eos_token_id=sorted(self._ends) or None,
                pad_token_id=min(self._ends, default=0),
                stopping_criteria=[lambda ids, _: torch.full((len(ids),), given_up.is_set(), device=ids.device)],
            )
        return [
            [token for token in sequence if token not in self._ends] for sequence in made[:, len(prompt) :].tolist()
        ]

    def answer(
        self, prompt: list[int], room: int, constraint: Constraint, number: int, given_up: threading.Event
    ) -> list[int]:
        """The tokens of what the model goes on to answer behind that text (GCR section 4.3, Eq. 6 and 9).

        There are none where the text leaves no room for them.
        """
        text = self.plain(constraint.texts[number - 1])
        [before] = self.tokens([f"{constraint.start}{text}{constraint.end}{constraint.answer}"])
        most = min(ANSWER, room - len(before))
        if most < 1:
            return []
        return self.sequences([*prompt, *before], most, 1, given_up)[0]

    def rows(self, tokens: Sequence[Sequence[int]] | Sequence[int]) -> Any:
        """The numbers where the model is."""
        return self._torch.tensor(tokens, device=self.model.device)

    def following(self, rows: Sequence[Sequence[int]], seen: "Seen | None" = None) -> tuple[Matrix, "Seen"]:
        """What follows each row of tokens, and what was computed for it; `seen` is that of the tokens before them.

        Rows of several lengths are filled up at their ends, and that is hidden from what comes behind them.
        """
        torch, width = self._torch, max(map(len, rows))
        lengths = self.rows([len(row) for row in rows])
        columns = torch.arange(width, device=self.model.device)
        mask = (columns < lengths[:, None]).long()
        if seen is None:
            seen = Seen(None, mask[:, :0], torch.zeros_like(lengths))
        mask = torch.cat([seen.mask, mask], dim=1)
        last, where = torch.unique(lengths - 1, return_inverse=True)
        with torch.inference_mode():
            made = self.model(
                input_ids=self.rows([[*row, *[0] * (width - len(row))] for row in rows]),
                attention_mask=mask,
                position_ids=seen.lengths[:, None] + columns,
                past_key_values=seen.cache,
                use_cache=True,
                logits_to_keep=last,
            )
            logits = made.logits[torch.arange(len(rows), device=where.device), where]
            logs = torch.log_softmax(logits.float(), dim=-1)
        return logs.cpu().numpy(), Seen(made.past_key_values, mask, seen.lengths + lengths)

    def _spelled(self, token: int, logits: Any, alternatives: int) -> Token:
        logs = self._torch.log_softmax(logits.float(), dim=-1)
        likely = [token, *logs.topk(min(alternatives, len(logs))).indices.tolist()]
        texts = {self.tokenizer.decode([token]): float(logs[token]) for token in reversed(likely)}
        return Token(self.tokenizer.decode([token]), texts)


class Seen(NamedTuple):
    """What a network has computed for rows of tokens: its cache, where in it tokens are, and how many of each row."""

    cache: Any
    mask: Any
    lengths: Any

    def chosen(self, places: Any) -> "Seen":
        """That of the rows at these places, which may be named several times; the cache itself is changed."""
        self.cache.reorder_cache(places)
        return Seen(self.cache, self.mask[places], self.lengths[places])


class Beams:
    """The step of a search over a network, from one prompt on; `tokens` counts those that were looked at.

    It raises ModelContextError where a path is longer than the `room` behind the prompt.
    """

    def __init__(self, network: Network, prompt: list[int], room: int, given_up: threading.Event) -> None:
        self.tokens = 0
        self._network = network
        self._prompt = prompt
        self._room = room
        self._given_up = given_up
        self._seen: Seen | None = None
        self._read = [0]

    def __call__(self, places: Sequence[int], tokens: Sequence[Sequence[int]]) -> Matrix:
        """What follows these hypotheses."""
        if self._given_up.is_set():
            raise ModelReplyError("the paths are not waited for any more")
        seen = self._seen and self._seen.chosen(self._network.rows(places))
        read = max(0, *(self._read[place] + len(more) for place, more in zip(places, tokens, strict=True)))
        if read >= self._room:
            raise ModelContextError("a path is longer than what the model takes")
        self.tokens += max(1, sum(map(len, tokens)))
        rows = tokens if seen else [[*self._prompt, *more] for more in tokens]
        self._read = [self._read[place] + len(more) for place, more in zip(places, tokens, strict=True)]
        logs, self._seen = self._network.following(rows, seen)
        return logs


def _freed(
    text: str,
    tokens: Sequence[int],
    places: Sequence[tuple[int, int]],
    names: Sequence[tuple[int, int]],
    before: int,
) -> list[int]:
    """The tokens, those of names FREE; names are told behind so many characters, a token's first blank is none."""
    firsts = [start + (text[start:stop][:1] == " ") - before for start, stop in places]
    return [
        token + FREE * any(start <= first < stop for start, stop in names)
        for token, first in zip(tokens, firsts, strict=True)
    ]


def check(folder: Path) -> None:
    """Raises MissingExtraError where a package is missing, ModelNameError where the folder holds no model.

    Nothing is loaded.
    """
    if any(importlib.util.find_spec(package) is None for package in PACKAGES):
        install = "pip install 'fedkg[hf]'"
        raise MissingExtraError("models named hf:… need further packages", asked=VENDOR, hint=install)
    architectures = _config(folder).architectures
    if not any(name.endswith(CAUSAL) for name in architectures):
        raise ModelNameError(
            f"{folder} holds no causal language model: {', '.join(architectures)[:200] or 'no architecture'}", hint=HINT
        )
    for files in ("*.safetensors", "tokenizer*"):
        if not any(folder.glob(files)):
            raise ModelNameError(f"{folder} holds no {files}", hint=HINT)


def named(folder: Path) -> str:
    """The folder's own name with a digest of all its files.

    Replies are kept under it, and go with a model, not with a place.
    """
    return f"{VENDOR}:{folder.absolute().name}#{_digest(folder, *TOKENIZING, '*.safetensors')[:DIGITS]}"


def context(folder: Path) -> int | None:
    """Tokens that the model in the folder takes, by its configuration. Raises ModelNameError."""
    return _config(folder).context


def _config(folder: Path) -> Config:
    try:
        return msgspec.json.decode((folder / "config.json").read_bytes(), type=Config)
    except OSError as error:
        raise ModelNameError(f"{folder} holds no model: config.json: {error.strerror}", hint=HINT) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelNameError(f"{folder / 'config.json'}: {error}", hint=HINT) from error


def _loaded(folder: Path) -> tuple[Any, Any]:
    """Tokenizer and model, on the accelerator where there is one. Raises ModelNameError."""
    import torch  # noqa: PLC0415  # optional, and slow to import
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415  # the same

    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with hf_loading.quiet(), hf_loading.offline():
            tokenizer: Any = AutoTokenizer.from_pretrained(folder, **options)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True, **options)
    except Exception as error:  # whatever is wrong with the files, the libraries raise it as anything
        raise ModelNameError(f"transformers cannot load {folder}: {error}", asked=str(folder), hint=HINT) from error
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        raise ModelNameError(f"{folder}: the tokenizer has more tokens than the model", hint=HINT)
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a reply, by the model's own word and the tokenizer's."""
    ends = model.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset(end for end in (*listed, tokenizer.eos_token_id) if end is not None)


def _digest(folder: Path, *patterns: str) -> str:
    """A digest of the files of these names; of one that was not changed since it is not read again."""
    total = hashlib.sha256()
    for file in sorted({file for pattern in patterns for file in folder.glob(pattern) if file.is_file()}):
        state = file.stat()
        total.update(file.name.encode() + b"\0" + _sha256(file, state.st_mtime_ns, state.st_size))
    return total.hexdigest()


@lru_cache(maxsize=64)
def _sha256(file: Path, _modified: int, _size: int) -> bytes:
    """Hashed once per state of the file: time and size are there for the cache's key."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
