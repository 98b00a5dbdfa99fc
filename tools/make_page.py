#!/usr/bin/env python3
"""Writes pages of many blocks, for measurements: make_page.py chain 100000 > chain.page.json

Kinds:
  chain  one Const, then element-wise blocks that each read the one before
  wide   pairs of a Const and a block that reads it; no other block reads their outputs
  grid   rows and columns of blocks that each read the one above and the one to the left
  train  a network of dense layers, its symbolic gradients and a gradient descent step for every variable
"""
import argparse
import json
import random
import sys


def literal(values, shape, dtype="DT_FLOAT"):
    return {"dtype": dtype, "shape": shape, "values": values}


def block(identity, kind, inputs, attrs=None):
    made = {"id": identity, "block": kind}
    if attrs is not None:
        made["attrs"] = attrs
    made["inputs"] = inputs
    return made


def chain(count):
    kinds = ("Negate", "Square", "Tanh", "Sigmoid")
    yield block("b0", "Const", {"value": literal([0.5], [])})
    for i in range(1, count):
        kind = kinds[i % len(kinds)]
        yield block(f"b{i}", kind, {"x": f"b{i - 1}.y" if i > 1 else "b0.output"})


def wide(count):
    for i in range(0, count, 2):
        yield block(f"c{i}", "Const", {"value": literal([i % 7], [])})
        yield block(f"y{i}", "Square", {"x": f"c{i}.output"})


def grid(count):
    side = max(2, int(count ** 0.5))
    for i in range(side):
        yield block(f"e{i}", "Const", {"value": literal([1 / (i + 1)], [])})
    for row in range(1, side):
        for column in range(side):
            above = f"e{column}.output" if row == 1 else f"g{row - 1}_{column}.z"
            left = f"e{row}.output" if column == 0 else f"g{row}_{column - 1}.z"
            yield block(f"g{row}_{column}", "Multiply", {"x": above, "y": left})


def train(count):
    draw = random.Random(1)
    width, layers = 8, max(1, count // 6)
    weights = []
    yield block("x", "Const", {"value": literal([draw.uniform(-1, 1) for _ in range(4 * width)], [4, width])})
    yield block("rate", "Const", {"value": literal([0.1], [])})
    last = "x.output"
    for i in range(layers):
        values = [round(draw.uniform(-0.5, 0.5), 4) for _ in range(width * width)]
        yield block(f"w{i}", "Variable", {"initvalues": literal(values, [width, width])}, "dtype_ = DT_FLOAT;")
        yield block(f"m{i}", "MatMul", {"a": last, "b": f"w{i}.ref"})
        yield block(f"t{i}", "Tanh", {"x": f"m{i}.product"})
        last = f"t{i}.y"
        weights.append(f"w{i}.ref")
    yield block("loss", "L2Loss", {"t": last})
    yield block("grad", "AddSymbolicGradients", {"outputs": ["loss.output"], "inputs": weights})
    for i in range(layers):
        inputs = {"var": f"w{i}.ref", "alpha": "rate.output", "delta": f"grad.grad_outputs[{i}]"}
        yield block(f"s{i}", "ApplyGradientDescent", inputs)
    steps = [f"s{i}.out" for i in range(layers)]
    yield block("run", "ClientSession", {"fetch_outputs": ["loss.output"], "run_outputs": steps})


KINDS = {"chain": chain, "wide": wide, "grid": grid, "train": train}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("blocks", type=int, help="about how many blocks")
    options = parser.parse_args()
    out = sys.stdout
    out.write('{\n  "weft": 1,\n  "page": "%s_%d",\n  "blocks": [' % (options.kind, options.blocks))
    separator = "\n    "
    for made in KINDS[options.kind](options.blocks):
        out.write(separator + json.dumps(made))
        separator = ",\n    "
    out.write("\n  ]\n}\n")


if __name__ == "__main__":
    main()
