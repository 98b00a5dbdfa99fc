#!/usr/bin/env python3
"""Times the steps of pages on PyTorch's compiler: torch_pages.py PAGE... [--keep asked|all] [--threads N] [--seconds S]

A whole step, with its gradients and its updates of variables, is traced into one graph of operators, which torch.compile makes a program of.
The step gives what the page's session fetches (asked), or every output that it evaluates (all). A page with a block that is not in
torch_blocks.py is refused with the block's name.
"""
import os

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from page_blocks import STATE, asked_for, literals, ordered, step_order, wires
from timing import page_arguments, time_pages
from torch_blocks import BLOCKS, literal

PEER = "torch-compile " + torch.__version__


class Step:
    """A page's step as a function of its variables, which it changes in place."""

    def __init__(self, page, keep):
        self.blocks = step_order(page)
        self.fetches, self.runs = asked_for(page)
        self.keep = keep
        self.differentiated = {wire for block in self.blocks if block["block"] == "AddSymbolicGradients" for wire in wires(block["inputs"]["inputs"])}
        self.filters = {wire for block in self.blocks if block["block"].startswith("Conv2D") for wire in wires(block["inputs"].get("filter", []))}
        # Made before the step is traced: sizes and axes are read from them meanwhile.
        self.literals = {id(given): literal(given) for block in page["blocks"] for given in literals(list(block.get("inputs", {}).values()))}
        self.constants, self.variables = {}, {}
        self.start(page)

    def start(self, page):
        values = {}
        for block in ordered(page["blocks"], [block["id"] for block in self.blocks if block["block"] in STATE]):
            for port, value in self.evaluate(block, values).items():
                values[f"{block['id']}.{port}"] = value
        for block in self.blocks:
            if block["block"] in STATE:
                kept = self.variables if block["block"] == "Variable" else self.constants
                name = block["id"] + (".ref" if block["block"] == "Variable" else ".output")
                kept[name] = self.in_memory(name, values[name])

    def in_memory(self, name, value):
        """A filter in the order of axes that PyTorch's convolutions read: out, height, width, in."""
        return value.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last).permute(2, 3, 1, 0) if name in self.filters else value.clone()

    def given(self, given, values):
        if isinstance(given, list):
            return [self.given(item, values) for item in given]
        return values[given] if isinstance(given, str) else self.literals[id(given)]

    def evaluate(self, block, values):
        """{port: value} of a block."""
        inputs = {port: self.given(given, values) for port, given in block.get("inputs", {}).items()}
        if block["block"] not in BLOCKS:
            raise ValueError(f"PyTorch's side has no block {block['block']}")
        return BLOCKS[block["block"]](block, inputs)

    def __call__(self, *variables):
        values, changed = dict(self.constants), {}
        values.update({name: value.detach() for name, value in zip(self.variables, variables)})
        with torch.enable_grad():
            for name in self.differentiated & values.keys():
                values[name].requires_grad_()
            for block in self.blocks:
                if block["block"] in STATE:
                    continue
                made = self.evaluate(block, values)
                values.update({f"{block['id']}.{port}": value for port, value in made.items()})
                if block["block"].startswith("Apply"):
                    changed[block["inputs"]["var"]] = made["out"]
        for name, value in zip(self.variables, variables):
            if name in changed:
                value.copy_(changed[name].detach())
        wanted = self.fetches if self.keep == "asked" else [name for name in values if name not in self.constants]
        return [values[name].detach() for name in wanted]

    def compiled(self):
        variables = [value.detach() for value in self.variables.values()]
        self.constants = {name: value.detach() for name, value in self.constants.items()}
        program = torch.compile(make_fx(self)(*variables))
        return lambda: program(*variables)


def compiled_step(page, keep):
    torch._dynamo.reset()
    return Step(page, keep).compiled()


def main():
    options = page_arguments(__doc__).parse_args()
    torch.set_num_threads(options.threads)
    simdlen = os.environ.get("WEFT_PEER_SIMDLEN")  # for a level of processors: environment.py
    torch._inductor.config.cpp.simdlen = int(simdlen) if simdlen else None
    time_pages(PEER, options, lambda page: compiled_step(page, options.keep))


if __name__ == "__main__":
    main()
