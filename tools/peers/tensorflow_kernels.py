#!/usr/bin/env python3
"""Times kernels on TensorFlow: weft bench --list --json | tensorflow_kernels.py [--threads N] [--seconds S]

Each runs as one operation of a prepared callable; its inputs are variables, and nothing is copied out.
"""
import argparse
import json
import sys

from tensorflow_graph import PEER, Graph, dtype_of, session, tf, tf1
from timing import time_kernels


def random_variable(given):
    dtype, values = dtype_of(given["dtype"]), given["values"]
    start = (tf.random.normal if values == "normal" else tf.random.uniform)(given["shape"], seed=1)
    return tf1.Variable(tf.cast(start, dtype), use_resource=False, trainable=False)._variable


def prepare(kernel, threads, aliases):
    graph = Graph(aliases)
    with graph.graph.as_default():
        inputs = {}
        for given in kernel["inputs"]:
            fixed = isinstance(given["values"], list)
            value = tf.constant(given["values"], dtype_of(given["dtype"]), given["shape"]) if fixed else random_variable(given)
            if given.get("list"):
                inputs.setdefault(given["port"], []).append(value)
            else:
                inputs[given["port"]] = value
        graph.add_operation("kernel", kernel["block"], inputs, kernel["attrs"])
        start = tf1.global_variables_initializer()
    running = session(graph.graph, threads)
    running.run(start)
    return running.make_callable(graph.operations["kernel"])


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
