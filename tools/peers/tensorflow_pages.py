#!/usr/bin/env python3
"""Times the steps of pages on TensorFlow: tensorflow_pages.py PAGE... [--keep asked|all] [--threads N] [--seconds S]

The graph is built once and every step is one call of a prepared callable: of what the page's first session asks for (asked), or of every
output that it evaluates (all). --blocks names the list of all blocks (weft blocks --json), where their other names are.
"""
import json
import pathlib

from tensorflow_graph import PEER, Graph, session, tf, tf1
from timing import page_arguments, time_pages


def asked_for(page, graph):
    """What the page's first session fetches and runs; without a session: every output that nobody reads."""
    runs = [block for block in page["blocks"] if block["block"] == "ClientSession"]
    if runs:
        inputs = runs[0].get("inputs", {})
        return [graph.values[wire] for wire in inputs.get("fetch_outputs", [])], [graph.operations[wire.split(".")[0]] for wire in inputs.get("run_outputs", [])]
    return [value for value in graph.values.values() if not value.consumers()], []


def every_output(graph, fetches, runs):
    """The outputs of all blocks that are evaluated for these."""
    needed, open_ends = set(), [value.op for value in fetches] + runs
    while open_ends:
        operation = open_ends.pop()
        if operation not in needed:
            needed.add(operation)
            open_ends += [value.op for value in operation.inputs]
    return [value for value in graph.values.values() if value.op in needed and value.dtype.base_dtype not in (tf.resource, tf.variant)]


def prepared_step(page, options, aliases):
    graph = Graph(aliases)
    graph.add_all([block for block in page["blocks"] if block["block"] != "ClientSession"])
    fetches, runs = asked_for(page, graph)
    what = fetches + runs if options.keep == "asked" else every_output(graph, fetches, runs) + runs
    with graph.graph.as_default():
        start = tf1.global_variables_initializer()
    with session(graph.graph, options.threads, longest_step=10) as trial:  # a page that waits for a queue fails here
        trial.run(start)
        trial.run(what)
    running = session(graph.graph, options.threads)
    running.run(start)
    return running.make_callable(what)


def main():
    parser = page_arguments(__doc__)
    parser.add_argument("--blocks", default=pathlib.Path(__file__).resolve().parents[2] / "build/release/schemas/blocks.json")
    options = parser.parse_args()
    aliases = {block["block"]: block.get("aliases", []) for block in json.loads(pathlib.Path(options.blocks).read_text())}
    time_pages(PEER, options, lambda page: prepared_step(page, options, aliases))


if __name__ == "__main__":
    main()
