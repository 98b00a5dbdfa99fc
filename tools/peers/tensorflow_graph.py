"""Pages and kernels of Weft as TensorFlow graphs. Ports and attributes have TensorFlow's names, so most blocks are one raw operation."""
import inspect
import json
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # TensorFlow at its best
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

from page_blocks import attributes

tf1 = tf.compat.v1
tf1.disable_eager_execution()

# XLA, where the environment chooses it before TensorFlow is loaded (environment.py), is a peer of its own.
PEER = ("tensorflow-xla " if "tf_xla_auto_jit" in os.environ.get("TF_XLA_FLAGS", "") else "tensorflow ") + tf.__version__


def session(graph, threads, longest_step=0):
    """A session. Where a step may wait for what never comes, it fails after `longest_step` seconds; but then each step is handed to another thread,
    which costs small ones half of their time."""
    config = tf1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads, operation_timeout_in_ms=1000 * longest_step)
    return tf1.Session(graph=graph, config=config)


def dtype_of(name):
    return tf.as_dtype(types_pb2.DataType.Value(name))


def constant(literal):
    """A literal of a page: {"dtype", "shape", "values"}."""
    if "values" not in literal:
        raise ValueError("only literals with `values` can be timed")
    dtype = dtype_of(literal["dtype"])
    return tf.constant(np.array(literal["values"], dtype=dtype.as_numpy_dtype).reshape(literal["shape"]), dtype=dtype)


def operation_names(block, ports, aliases):
    """TensorFlow operations that may be the block, likeliest first: those whose arguments include its ports; at last those it gave up."""
    names = [name + version for name in [block, *aliases] for version in ("", "V2", "V3")]
    found = []
    for name in names:
        definition = op_def_registry.get(name)
        call = getattr(tf.raw_ops, name, None)  # an argument may have another name here than in the definition
        if definition and call and set(ports) <= set(inspect.signature(call).parameters):
            found.append((name, definition))
    return sorted(found, key=lambda one: one[1].deprecation.version > 0)


def shape_of(value):
    if isinstance(value, list):
        return tf.TensorShape(value)
    return tf.TensorShape([int(size) for size in re.findall(r"\[\s*(\d+)\s*\]", value)])


def attribute(kind, value):
    """An attribute, spelled as on a page or already JSON, as the value that TensorFlow's operation wants."""
    if kind.startswith("list("):
        if isinstance(value, str):
            value = [item.strip() for item in value.strip("{}").split(",") if item.strip()]
        return [attribute(kind[5:-1], item) for item in value]
    if kind == "type":
        return dtype_of(value)
    if kind == "shape":
        return shape_of(value)
    if not isinstance(value, str):
        return value
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value.rstrip("f"))
    if kind == "bool":
        return value.lower() in ("true", "1")
    return json.loads(value) if value.startswith('"') else value


def flat(values):
    for value in values:
        yield from flat(value) if isinstance(value, list) else [value]


class Graph:
    """Blocks, added in any order in which producers come first. Values are kept under BLOCK.port and BLOCK.port[k]."""

    def __init__(self, aliases):
        self.graph, self.values, self.operations, self.aliases = tf.Graph(), {}, {}, aliases
        self.frames = {}  # of operations in loops, by name: the loops, the outermost first

    def value(self, given):
        if isinstance(given, list):
            return [self.value(item) for item in given]
        return constant(given) if isinstance(given, dict) else self.values[given]

    def add(self, block):
        with self.graph.as_default():
            inputs = {port: self.value(given) for port, given in block.get("inputs", {}).items()}
            attrs = attributes(block)
            frame = max((self.frame_of(value) for value in flat(inputs.values())), key=len, default=())
            inputs = {port: self.enter(value, frame) for port, value in inputs.items()}
            if block["block"] == "Enter":
                frame = (*frame, attrs["frame_name"])
            special = getattr(self, "add_" + block["block"].lower(), None)
            if special:
                special(block["id"], inputs, attrs)
            else:
                self.add_operation(block["id"], block["block"], inputs, attrs)
            if frame and block["id"] in self.operations:
                self.frames[self.operations[block["id"]].name] = frame[:-1] if block["block"] == "Exit" else frame

    def frame_of(self, value):
        return self.frames.get(value.op.name, ())

    def enter(self, value, frame):
        """A value from outside of a loop, which a page may use as it is, in the loop."""
        if isinstance(value, list):
            return [self.enter(item, frame) for item in value]
        for name in frame[len(self.frame_of(value)):]:
            outside = self.frame_of(value)
            value = tf.raw_ops.Enter(data=value, frame_name=name, is_constant=True)
            self.frames[value.op.name] = (*outside, name)
        return value

    def add_const(self, name, inputs, _):
        self.values[name + ".output"] = next(iter(inputs.values()))

    add_const_ex = add_const

    def add_input(self, name, inputs, _):
        self.values[name + ".input"] = inputs["initvalues"]

    def add_variable(self, name, inputs, _):
        self.values[name + ".ref"] = tf1.Variable(inputs["initvalues"], use_resource=False, trainable=False)._variable

    def add_randomnormal_ex(self, name, _, attrs):
        size = np.array(shape_of(attrs.pop("shape")).as_list(), np.int32)
        self.add_operation(name, "RandomNormal", {"shape": tf.constant(size)}, attrs, ["RandomStandardNormal"])

    def add_randomnormal(self, name, inputs, attrs):
        self.add_operation(name, "RandomNormal", inputs, attrs, ["RandomStandardNormal"])

    def add_addsymbolicgradients(self, name, inputs, _):
        for i, gradient in enumerate(tf1.gradients(inputs["outputs"], inputs["inputs"])):
            if gradient is not None:
                self.values[f"{name}.grad_outputs[{i}]"] = tf.convert_to_tensor(gradient)

    def add_operation(self, name, block, inputs, attrs, aliases=()):
        found = operation_names(block, inputs, [*aliases, *self.aliases.get(block, [])])
        if not found:
            raise ValueError(f"TensorFlow has no operation for the block {block}")
        operation, definition = found[0]
        kinds = {attr.name: attr.type for attr in definition.attr}
        settings = {key: attribute(kinds[key], value) for key, value in attrs.items() if key in kinds}
        result = getattr(tf.raw_ops, operation)(name=re.sub(r"\W", "_", name), **inputs, **settings)
        self.record(name, definition, result)

    def record(self, name, definition, result):
        if isinstance(result, tf.Operation):
            self.operations[name] = result
            return
        ports = [arg.name for arg in definition.output_arg]
        parts = {ports[0]: result} if len(ports) == 1 else {port: getattr(result, port) for port in ports}
        for port, value in parts.items():
            if isinstance(value, list):
                self.values.update({f"{name}.{port}[{i}]": item for i, item in enumerate(value)})
            else:
                self.values[f"{name}.{port}"] = value
            self.operations[name] = (value[0] if isinstance(value, list) else value).op

    def add_all(self, blocks):
        """Adds blocks in whatever order they stand on a page, each after those that it reads; of a loop, its Merge blocks before those."""
        leading_back = []
        while blocks:
            later = [block for block in blocks if not self.ready(block.get("inputs", {}))]
            if len(later) == len(blocks):
                merge = next((block for block in later if block["block"] == "Merge" and any(map(self.ready, block["inputs"]["inputs"]))), None)
                if merge is None:
                    raise ValueError("these blocks wait for one another, or for a wire to nothing: " + ", ".join(block["id"] for block in later[:5]))
                leading_back.append(merge)
                later.remove(merge)
                self.open_merge(merge)
            else:
                for block in blocks:
                    if block not in later:
                        self.add(block)
            blocks = later
        for merge in leading_back:
            for k, wire in enumerate(merge["inputs"]["inputs"]):
                self.operations[merge["id"]]._update_input(k, self.value(wire))

    def open_merge(self, merge):
        """A Merge of what enters a loop, in place of what leads back as well."""
        wires = merge["inputs"]["inputs"]
        entering = next(wire for wire in wires if self.ready(wire))
        self.add({**merge, "inputs": {"inputs": [wire if self.ready(wire) else entering for wire in wires]}})

    def ready(self, given):
        if isinstance(given, dict):
            return "dtype" in given or all(self.ready(item) for item in given.values())
        return all(self.ready(item) for item in given) if isinstance(given, list) else given in self.values
