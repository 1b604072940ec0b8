"""Replies of a model in process that are held to their JSON schema, token by token, as services hold them.

llguidance says which tokens the schema lets follow; all others get no probability. The lists of a reply are bounded by
what its call can need: a weak model lists what it is shown again and again, and would not come to an end.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from fedkg.errors import ModelReplyError

__all__ = ["ENTRIES", "SchemaGrammar", "bounded"]

ENTRIES = 20
"""Entries of a list, where a call does not say how many."""
SPACED = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""JSON as models mostly write it: white space alone is no way to go on."""


def bounded(schema: Mapping[str, Any], lengths: Mapping[str, int], key: str = "") -> dict[str, Any]:
    """The schema with the most entries of each list; `lengths` are by its keys, those of lists of texts are tokens."""
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {})
            return {**schema, "properties": {name: bounded(part, lengths, name) for name, part in parts.items()}}
        case "array":
            texts = schema["items"].get("type") == "string"
            most = ENTRIES if texts else lengths.get(key, ENTRIES)
            return {**schema, "items": bounded(schema["items"], lengths, key), "maxItems": max(1, most)}
    return dict(schema)


class SchemaGrammar:
    """A processor of transformers' `generate` for one reply: what does not fit the schema gets no probability.

    `tokenizer` is a fast one of transformers, `ends` are the tokens that end a reply, `vocabulary` how many tokens the
    model has. Raises ModelReplyError for a schema or a tokenizer that makes no grammar.
    """

    def __init__(self, tokenizer: Any, ends: frozenset[int], vocabulary: int, schema: Mapping[str, Any]) -> None:
        from llguidance import LLMatcher  # noqa: PLC0415  # optional

        form = LLMatcher.grammar_from_json_schema(json.dumps(schema), defaults=SPACED)  # type: ignore[arg-type]
        self._matcher = LLMatcher(_tokens(tokenizer, ends, vocabulary), form, log_level=0)
        self._read = 0
        self._check()

    def __call__(self, tokens: Any, scores: Any) -> Any:
        """The scores of what may follow these tokens, shapes (1, length) and (1, vocabulary); -inf for all else."""
        if self._read:
            self._matcher.consume_token(int(tokens[0, -1]))
            self._check()
        self._read = tokens.shape[1]
        barred = np.frombuffer(self._matcher.compute_logit_bias(), np.uint8) == 0
        return scores.masked_fill(scores.new_tensor(barred).bool()[: scores.shape[1]], float("-inf"))

    def _check(self) -> None:
        if fault := self._matcher.get_error():
            raise ModelReplyError(f"no grammar holds the reply: {fault[:300]}")


@lru_cache(maxsize=4)
def _tokens(tokenizer: Any, ends: frozenset[int], vocabulary: int) -> Any:
    """The tokenizer as llguidance has it, made once: that takes a second."""
    from llguidance import hf  # noqa: PLC0415  # optional

    return hf.from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=sorted(ends) or None)
