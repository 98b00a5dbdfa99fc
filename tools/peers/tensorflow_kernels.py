#!/usr/bin/env python3
"""Times kernels on TensorFlow: weft bench --list --json | tensorflow_kernels.py [--threads N] [--seconds S]

Each runs as one operation of a prepared callable; its inputs are variables, and nothing is copied out.
"""
import argparse
import atexit
import json
import os
import shutil
import sys
import tempfile

from tensorflow_graph import PEER, Graph, dtype_of, session, tf, tf1
from timing import time_kernels


def random_variable(given):
    dtype, values = dtype_of(given["dtype"]), given["values"]
    start = (tf.random.normal if values == "normal" else tf.random.uniform)(given["shape"], seed=1)
    return tf1.Variable(tf.cast(start, dtype), use_resource=False, trainable=False)._variable


def picture_file(given):
    """The bytes of a picture as weft bench makes them: some random pixels, stretched and encoded."""
    height, width, channels = given["shape"]
    pixels = tf.random.uniform([1, height // 8, width // 8, channels], seed=1)
    large = tf.raw_ops.ResizeBilinear(images=pixels, size=[height, width])
    picture = tf.reshape(tf.cast(large * 255, tf.uint8), given["shape"])
    return tf1.Variable(getattr(tf.raw_ops, given["values"])(image=picture), use_resource=False, trainable=False)._variable


def value_of(given):
    if isinstance(given["values"], list):
        return tf.constant(given["values"], dtype_of(given["dtype"]), given["shape"])
    return picture_file(given) if given["values"].startswith("Encode") else random_variable(given)


def record_blocks(kernel):
    """The operations that read a file of records, which is made, as weft bench does."""
    folder = tempfile.mkdtemp(prefix="weft-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "records.tfrecord")
    count = kernel["record_bytes"] // kernel["record_length"]
    with tf.io.TFRecordWriter(path) as records:
        for number in range(count):
            records.write(number.to_bytes(8, "little").ljust(kernel["record_length"], b"\0"))
    scalar = lambda dtype, value: {"dtype": dtype, "shape": [], "values": [value]}
    return [
        {"id": "queue", "block": "FIFOQueueV2", "attrs": "component_types_ = {DT_STRING};"},
        {"id": "name", "block": "QueueEnqueueV2", "inputs": {"handle": "queue.handle", "components": [scalar("DT_STRING", path)]}},
        {"id": "reader", "block": kernel["block"] + "V2"},
        {"id": "read", "block": "ReaderReadUpToV2", "inputs": {"reader_handle": "reader.reader_handle", "queue_handle": "queue.handle",
                                                             "num_records": scalar("DT_INT64", count)}}]


def add_kernel(graph, kernel):
    """Adds what one run of the kernel consists of; gives its operations."""
    if "record_bytes" in kernel:
        graph.add_all(record_blocks(kernel))
        return [graph.operations["name"], graph.operations["read"]]
    beside = kernel.get("beside", {"blocks": [], "inputs": {}, "run": []})
    graph.add_all(beside["blocks"])
    inputs = {port: graph.value(given) for port, given in beside["inputs"].items()}
    for given in kernel["inputs"]:
        if given.get("list"):
            inputs.setdefault(given["port"], []).append(value_of(given))
        else:
            inputs[given["port"]] = value_of(given)
    graph.add_operation("kernel", kernel["block"], inputs, kernel["attrs"])
    return [graph.operations["kernel"], *(graph.operations[wire.split(".")[0]] for wire in beside["run"])]


def prepare(kernel, threads, aliases):
    graph = Graph(aliases)
    with graph.graph.as_default():
        operations = add_kernel(graph, kernel)
        start = tf1.global_variables_initializer()
    running = session(graph.graph, threads)
    running.run(start)
    return running.make_callable(operations)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    kernels = [json.loads(line) for line in sys.stdin]
    aliases = {"Multiply": ["Mul"]}
    time_kernels(PEER, options.threads, kernels, options.seconds, lambda kernel: prepare(kernel, options.threads, aliases))


if __name__ == "__main__":
    main()
