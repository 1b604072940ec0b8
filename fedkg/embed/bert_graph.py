"""The ONNX graph of a BERT encoder with pooling, made from its configuration alone: no PyTorch, no export.

The operations of Devlin et al., 2019, section 3 (encoder: Vaswani et al., 2017, section 3), in the order and with the
weights' names of the published checkpoints; mean pooling over the tokens as in Reimers and Gurevych, 2019, section 3.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from fedkg.embed.stored_tensors import StoredTensor

__all__ = ["INPUTS", "BertConfig", "Pooling", "bert_graph"]

Pooling = Literal["mean", "cls"]

INPUTS = ("input_ids", "attention_mask")
"""Both of shape (texts, tokens), int64; the mask is 1 for tokens and 0 for what fills up a row."""

OPERATIONS = helper.make_opsetid("", 20)
IR_VERSION = 9
TYPES = {"F32": TensorProto.FLOAT, "F16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16}
"""Of weights, as safetensors names them."""
MASKED = 1e9
"""What is taken off the attention that a token pays to what fills up its row."""


class BertConfig(msgspec.Struct, frozen=True):
    """What config.json tells of the encoder. Decoding raises msgspec.ValidationError for another architecture."""

    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    layer_norm_eps: float
    max_position_embeddings: int
    model_type: Literal["bert"]
    hidden_act: Literal["gelu"]
    position_embedding_type: Literal["absolute"] = "absolute"


def bert_graph(config: BertConfig, pooling: Pooling, weights: Mapping[str, StoredTensor]) -> ModelProto:
    """From INPUTS to `vectors`: shape (texts, hidden_size), float32, rows of length 1.

    The graph refers to the `weights`, by name, where they lie, and holds none of them; those in half precision are
    widened when it is loaded. Raises ValueError for one that is not there, or is of another type.
    """
    graph = _Graph(weights)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = _embedded(graph, config)
    for layer in range(config.num_hidden_layers):
        hidden = _layer(graph, config, hidden, _ignored(graph, mask), f"encoder.layer.{layer}")
    pooled = _mean(graph, hidden, mask) if pooling == "mean" else _first(graph, hidden)
    return graph.model(graph.add("LpNormalization", pooled, axis=-1, p=2), config.hidden_size)


class _Graph:
    """Operations, one after the other, each named by its place."""

    def __init__(self, weights: Mapping[str, StoredTensor]) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._needed: dict[str, str] = {}

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """The name of the operation's output."""
        output = f"{operation}.{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def constant(self, *integers: int) -> str:
        """The name of a row of integers."""
        return self._constant(np.array(integers, dtype=np.int64))

    def number(self, value: float) -> str:
        """The name of a number."""
        return self._constant(np.array(value, dtype=np.float32))

    def weight(self, name: str) -> str:
        """The name of the weight in single precision."""
        if name not in self._needed:
            if name not in self._weights or self._weights[name].type not in TYPES:
                raise ValueError(f"its weights have no {name} of numbers")
            single = self._weights[name].type == "F32"
            self._needed[name] = name if single else self.add("Cast", name, to=TensorProto.FLOAT)
        return self._needed[name]

    def linear(self, values: str, name: str) -> str:
        """The values through the layer of that name; its weights are kept with one row for each output."""
        weights = self.add("Transpose", self.weight(f"{name}.weight"), perm=[1, 0])
        return self.add("Add", self.add("MatMul", values, weights), self.weight(f"{name}.bias"))

    def normalized(self, values: str, name: str, epsilon: float) -> str:
        """The values through the layer normalisation of that name."""
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", values, scale, shift, axis=-1, epsilon=epsilon)

    def model(self, vectors: str, width: int) -> ModelProto:
        """The finished graph, which the output of that name leaves as `vectors`."""
        self._nodes.append(helper.make_node("Identity", [vectors], ["vectors"]))
        weights = [_external(name, self._weights[name]) for name in self._needed]
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS]
        output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", width])
        graph = helper.make_graph(self._nodes, "bert", inputs, [output], [*self._constants, *weights])
        return helper.make_model(graph, opset_imports=[OPERATIONS], ir_version=IR_VERSION)

    def _constant(self, values: NDArray[np.generic]) -> str:
        name = f"constant.{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(values, name))
        return name


def _embedded(graph: _Graph, config: BertConfig) -> str:
    """Words, positions and the first segment, added up and normalised."""
    tokens = graph.add("Shape", "input_ids", start=1, end=2)
    rows = graph.constant(0)
    places = graph.weight("embeddings.position_embeddings.weight")
    positions = graph.add("Slice", places, graph.constant(0), tokens, rows)
    segments = graph.weight("embeddings.token_type_embeddings.weight")
    segment = graph.add("Slice", segments, graph.constant(0), graph.constant(1), rows)
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    total = graph.add("Add", graph.add("Add", words, segment), positions)
    return graph.normalized(total, "embeddings.LayerNorm", config.layer_norm_eps)


def _ignored(graph: _Graph, mask: str) -> str:
    """What is added to attention: 0 for tokens, a large negative number for what fills up a row."""
    bias = graph.add("Mul", graph.add("Sub", mask, graph.number(1)), graph.number(MASKED))
    return graph.add("Unsqueeze", bias, graph.constant(1, 2))


def _layer(graph: _Graph, config: BertConfig, hidden: str, ignored: str, name: str) -> str:
    """Self-attention and the layer behind it, each added to what it read and normalised."""
    attended = graph.linear(
        _attention(graph, config, hidden, ignored, f"{name}.attention.self"), f"{name}.attention.output.dense"
    )
    hidden = graph.normalized(
        graph.add("Add", attended, hidden), f"{name}.attention.output.LayerNorm", config.layer_norm_eps
    )
    between = graph.add("Gelu", graph.linear(hidden, f"{name}.intermediate.dense"))
    output = graph.add("Add", graph.linear(between, f"{name}.output.dense"), hidden)
    return graph.normalized(output, f"{name}.output.LayerNorm", config.layer_norm_eps)


def _attention(graph: _Graph, config: BertConfig, hidden: str, ignored: str, name: str) -> str:
    """Scaled dot-product attention of all heads."""
    size = config.hidden_size // config.num_attention_heads
    split = graph.constant(0, 0, config.num_attention_heads, size)

    def heads(part: str, order: Sequence[int]) -> str:
        values = graph.add("Reshape", graph.linear(hidden, f"{name}.{part}"), split)
        return graph.add("Transpose", values, perm=order)

    likeness = graph.add("MatMul", heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]))
    scaled = graph.add("Mul", likeness, graph.number(size**-0.5))
    weights = graph.add("Softmax", graph.add("Add", scaled, ignored), axis=-1)
    attended = graph.add("MatMul", weights, heads("value", [0, 2, 1, 3]))
    whole = graph.constant(0, 0, config.hidden_size)
    return graph.add("Reshape", graph.add("Transpose", attended, perm=[0, 2, 1, 3]), whole)


def _mean(graph: _Graph, hidden: str, mask: str) -> str:
    """The mean of the tokens' vectors."""
    tokens, axis = graph.add("Unsqueeze", mask, graph.constant(2)), graph.constant(1)
    total = graph.add("ReduceSum", graph.add("Mul", hidden, tokens), axis, keepdims=0)
    return graph.add("Div", total, graph.add("ReduceSum", tokens, axis, keepdims=0))


def _first(graph: _Graph, hidden: str) -> str:
    """The vector of the first token."""
    row = graph.add("Slice", hidden, graph.constant(0), graph.constant(1), graph.constant(1))
    return graph.add("Squeeze", row, graph.constant(1))


def _external(name: str, stored: StoredTensor) -> TensorProto:
    """A weight whose values lie in a file beside the graph."""
    tensor = TensorProto(name=name, data_type=TYPES[stored.type], dims=stored.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", stored.file), ("offset", stored.offset), ("length", stored.length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor
