"""Pages whose batch is cut into shards, with their data: those that are timed beside the peers, with Placeholders for what they are given, and one
with a reader and random blocks."""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/peers"))
import pages  # noqa: E402
from pages import integers, scalar, tensor  # noqa: E402


class ShardedPage:
    """A page, what is fed to it, and which variables it trains."""

    def __init__(self, page, feeds, variables):
        self.page, self.feeds, self.variables = page, feeds, variables
        self.files, self.options = {}, []

    @property
    def session(self):
        return next(block for block in self.page.blocks if block["block"] == "ClientSession")

    def fetch(self, *wires):
        """The session fetches these, too."""
        self.session["inputs"]["fetch_outputs"] += wires
        return self

    def save(self, folder):
        """Writes page and data; gives the arguments that `weft run` needs."""
        folder = pathlib.Path(folder)
        arguments = [str(self.page.save(folder)), *self.options]
        for wire, values in self.feeds.items():
            path = folder / f"{self.page.name}-{wire.split('.')[0]}.npy"
            np.save(path, values)
            arguments += ["--feed", f"{wire}=@{path}"]
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return arguments


def fed(page, **values):
    """Blocks become Placeholders of what they are fed: {"x": array}. What made their first values stays, and nothing reads it."""
    feeds = {}
    for block in page.blocks:
        if block["id"] not in values:
            continue
        output = "ref" if block["block"] == "Variable" else "output"
        feeds[f"{block['id']}.output"] = values[block["id"]]
        old, new = f'"{block["id"]}.{output}"', f'"{block["id"]}.output"'
        block.clear()
        block.update({"id": new[1:-1].split(".")[0], "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}, "inputs": {}})
        page.blocks[:] = json.loads(json.dumps(page.blocks).replace(old, new))
    reads = json.dumps(page.blocks)
    page.blocks[:] = [block for block in page.blocks if not (block["id"].startswith("x_") and f'"x_{block["id"][2:]}.' not in reads.replace(block["id"] + '", "block', ""))]
    trained = [block["inputs"]["var"].split(".")[0] for block in page.blocks if "var" in block["inputs"]]
    return ShardedPage(page, feeds, trained)


def pictures(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def classes(batch, count=10):
    return np.eye(count, dtype=np.float32)[np.random.default_rng(8).integers(0, count, batch)]


def softmax_regression(batch=96):
    return fed(pages.softmax_regression(), x=pictures(batch, 784), labels=classes(batch))


def cnn(batch=32):
    page = pages.cnn(batch)
    for block in page.blocks:
        if block["id"] == "flat":
            block["inputs"]["shape"] = integers(-1, 3136)
    return fed(page, x=pictures(batch, 28, 28, 1), labels=classes(batch))


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
