"""Pages whose batch is cut into shards, with their data: those that are timed beside the peers, with Placeholders for what they are given, and one
with a reader and random blocks."""
import pathlib
import sys

import numpy as np

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "peers"), str(TOOLS / "ranks")]
import pages  # noqa: E402
from fed_pages import ShardedPage, classes, cnn, fed, pictures  # noqa: E402, F401
from pages import integers, scalar, tensor  # noqa: E402


def softmax_regression(batch=96):
    return fed(pages.softmax_regression(), x=pictures(batch, 784), labels=classes(batch))


def batch_norm_block():
    return fed(pages.batch_norm_block(), x=pictures(16, 28, 28, 32))


def small(kind="DT_FLOAT", batch=16, inputs=12, hidden=9):
    """A layer of tanh and one of softmax, in a type of its choice; the loss is its mean over rows."""
    page = pages.Page(f"small_{kind[3:].lower()}")
    values = np.random.default_rng(3)

    def variable(identity, *shape):
        start = {"dtype": kind, "shape": list(shape), "values": [round(float(v), 3) for v in values.standard_normal(int(np.prod(shape))) * 0.5]}
        return page.block(identity, "Variable", "ref", initvalues=start)

    def given(identity, wire):
        return page.block(identity, "Cast", "y", {"DstT": kind}, x=wire)

    x = page.block("x", "Placeholder", "output", {"dtype": "DT_FLOAT"})
    labels = page.block("labels", "Placeholder", "output", {"dtype": "DT_FLOAT"})
    w0, b0, w1, b1 = variable("w0", inputs, hidden), variable("b0", hidden), variable("w1", hidden, 10), variable("b1", 10)
    bent = page.block("bent", "Tanh", "y", x=page.dense("dense0", given("x_cast", x), w0, b0))
    each = page.block("cross_entropy", "SoftmaxCrossEntropyWithLogits", "loss", features=page.dense("dense1", bent, w1, b1), labels=given("labels_cast", labels))
    loss = page.block("loss", "Mean", "output", input=each, axis=integers(0))
    page.blocks.append({"id": "gradients", "block": "AddSymbolicGradients", "inputs": {"outputs": [loss], "inputs": [w0, b0, w1, b1]}})
    steps = [page.block(f"step{i}", "ApplyGradientDescent", "out", var=name, alpha={"dtype": kind, "shape": [], "values": [0.25]}, delta=f"gradients.grad_outputs[{i}]")
             for i, name in enumerate([w0, b0, w1, b1])]
    page.session(loss, *steps)
    return ShardedPage(page, {"x.output": pictures(batch, inputs), "labels.output": classes(batch)}, ["w0", "b0", "w1", "b1"])


def read_and_drawn(batch=32, records=4096):
    """Records of four floats from a file; noise on them and dropout behind a layer, both drawn by the page; the moving mean of a layer."""
    page = pages.Page("read_and_drawn")
    files = page.block("files", "Const", "output", value={"dtype": "DT_STRING", "shape": [1], "values": ["records.bin"]})
    queue = page.block("queue", "FIFOQueue", "handle", {"component_types": ["DT_STRING"]})
    page.blocks.append({"id": "fill", "block": "QueueEnqueueMany", "inputs": {"handle": queue, "components": [files]}})
    reader = page.block("reader", "FixedLengthRecordReader", "reader_handle", {"record_bytes": 16})
    count = {"dtype": "DT_INT64", "shape": [], "values": [batch]}
    records_read = page.block("batch", "ReaderReadUpTo", "values", reader_handle=reader, queue_handle=queue, num_records=count)
    rows = page.block("rows", "DecodeRaw", "output", {"out_type": "DT_FLOAT"}, bytes=records_read)
    shape = page.block("shape", "Shape", "output", input=rows)
    noise = page.block("noise", "RandomNormal", "output", {"dtype": "DT_FLOAT", "seed": 5, "seed2": 6}, shape=shape)
    noisy = page.binary("noisy", "Add", rows, page.binary("less", "Multiply", noise, scalar(0.125)))
    w0 = page.block("w0", "Variable", "ref", initvalues=tensor("DT_FLOAT", [4, 8], [((7 * i) % 11 - 5) / 8 for i in range(32)]))
    w1 = page.block("w1", "Variable", "ref", initvalues=tensor("DT_FLOAT", [8, 4], [((5 * i) % 7 - 3) / 8 for i in range(32)]))
    hidden = page.block("hidden", "Tanh", "y", x=page.block("product0", "MatMul", "product", a=noisy, b=w0))
    drawn = page.block("drawn", "RandomUniform", "output", {"dtype": "DT_FLOAT", "seed": 7}, shape=page.block("hidden_shape", "Shape", "output", input=hidden))
    kept = page.block("kept", "Floor", "y", x=page.binary("keep", "Add", drawn, scalar(0.75)))
    dropped = page.binary("dropped", "Multiply", hidden, kept)
    error = page.binary("error", "Subtract", page.block("product1", "MatMul", "product", a=dropped, b=w1), rows)
    square = page.binary("square", "Multiply", error, error)
    loss = page.block("loss", "Mean", "output", input=square, axis=integers(0, 1))
    page.blocks.append({"id": "gradients", "block": "AddSymbolicGradients", "inputs": {"outputs": [loss], "inputs": [w0, w1]}})
    steps = [page.block(f"step{i}", "ApplyGradientDescent", "out", var=name, alpha=scalar(0.05), delta=f"gradients.grad_outputs[{i}]") for i, name in enumerate([w0, w1])]
    mean = page.block("mean", "Variable", "ref", initvalues=tensor("DT_FLOAT", [8], [0.0] * 8))
    of_batch = page.block("of_batch", "Mean", "output", input=hidden, axis=integers(0))
    moved = page.block("moved", "AssignAdd", "output_ref", ref=mean, value=page.binary("step_of_mean", "Multiply", page.binary("off", "Subtract", of_batch, mean), scalar(0.125)))
    page.blocks.append({"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": [loss, *steps, moved], "run_outputs": ["fill.operation"]}})
    made = ShardedPage(page, {}, ["w0", "w1", "mean"])
    made.files["records.bin"] = pictures(records, 4).tobytes()
    return made
