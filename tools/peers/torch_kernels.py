#!/usr/bin/env python3
"""Times kernels on PyTorch: weft bench --list --json | torch_kernels.py [--threads N] [--seconds S]

Channels last (NHWC) is PyTorch's channels_last memory format. Cases for which PyTorch has no operation are left out.
"""
import argparse
import json
import sys

import torch

from timing import time_kernels

aten = torch.ops.aten
DTYPES = {"DT_FLOAT": torch.float32, "DT_HALF": torch.float16, "DT_BFLOAT16": torch.bfloat16}
EPSILON, MOMENTUM = 1e-3, 0.1


def pictures(tensor, layout):
    """A tensor in the kernel's order of axes as PyTorch sees it: always N, C, H, W; the memory stays as it is."""
    return tensor.permute(0, 3, 1, 2) if layout == "NHWC" and tensor.dim() == 4 else tensor


def tensors(kernel):
    """Ports with random tensors, or lists of integers; pictures seen as N, C, H, W."""
    layout = kernel["attrs"].get("data_format", "NHWC" if "strides" in kernel["attrs"] else None)
    made = {}
    for given in kernel["inputs"]:
        if isinstance(given["values"], list):
            made[given["port"]] = given["values"]
            continue
        values = (torch.randn if given["values"] == "normal" else torch.rand)(given["shape"]).to(DTYPES[given["dtype"]])
        made[given["port"]] = values if given["port"] == "filter" else pictures(values, layout)
    return made


def batch_norm(t, attrs):
    mean, variance = (t[port] if t[port].numel() else None for port in ("mean", "variance"))
    return lambda: aten.native_batch_norm(t["x"], t["scale"], t["offset"], mean, variance, attrs["is_training"], MOMENTUM, EPSILON)


def batch_norm_grad(t, attrs):
    mean, variance = t["reserve_space_1"], t["reserve_space_2"]
    inverse = 1 / torch.sqrt(variance + EPSILON)
    return lambda: aten.native_batch_norm_backward(t["y_backprop"], t["x"], t["scale"], mean, variance, mean, inverse, attrs["is_training"], EPSILON,
                                                   [True, True, True])


def same_padding(kernel, taps):
    """SAME padding, equal on both sides, or None where PyTorch cannot say it."""
    return taps // 2 if kernel["attrs"]["strides"] == [1, 1, 1, 1] and taps % 2 else None


def convolution(kernel, t):
    taps, _, channels_in, channels_out = next(given["shape"] for given in kernel["inputs"] if given["port"] == "filter") if "filter" in t else t["filter_sizes"]
    padding = same_padding(kernel, taps)
    if padding is None:
        return None
    weights = t["filter"].permute(3, 2, 0, 1) if "filter" in t else torch.zeros(channels_out, channels_in, taps, taps)
    weights = weights.contiguous(memory_format=torch.channels_last)
    if kernel["block"] == "Conv2D":
        return lambda: torch.conv2d(t["input"], weights, padding=padding)
    grad = t["out_backprop"]
    pictures_in = t.get("input")
    if pictures_in is None:
        pictures_in = pictures(torch.zeros(t["input_sizes"]), kernel["attrs"].get("data_format", "NHWC"))
    mask = [kernel["block"] == "Conv2DBackpropInput", kernel["block"] == "Conv2DBackpropFilter", False]
    return lambda: aten.convolution_backward(grad, pictures_in, weights, None, [1, 1], [padding, padding], [1, 1], False, [0, 0], 1, mask)


def max_pool_grad(t):
    _, places = torch.nn.functional.max_pool2d(t["orig_input"], 2, return_indices=True)
    return lambda: aten.max_pool2d_with_indices_backward(t["grad"], t["orig_input"], [2, 2], [2, 2], [0, 0], [1, 1], False, places)


def reduction(kernel, t):
    x, axes = t["input"], t["axis"]
    call = {"Sum": torch.sum, "Mean": torch.mean, "Max": torch.amax}[kernel["block"]]
    return lambda: call(x, axes)


def prepare(kernel):
    """The call that computes what the block does, or None."""
    t, attrs, block = tensors(kernel), kernel["attrs"], kernel["block"]
    first = next(iter(t.values()), None)
    unary = {"Exp": torch.exp, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Square": torch.square, "Relu": torch.relu,
             "Floor": torch.floor, "Sign": torch.sign, "Log": torch.log, "Erf": torch.erf}
    binary = {"Add": torch.add, "Multiply": torch.mul, "Maximum": torch.maximum}
    if block in unary:
        return lambda: unary[block](first)
    if block in binary:
        return lambda: binary[block](t["x"], t["y"])
    if block in ("Sum", "Mean", "Max"):
        return reduction(kernel, t)
    if block.startswith("Conv2D"):
        return convolution(kernel, t)
    calls = {
        "BiasAddGrad": lambda: lambda: first.sum((0, 2, 3)),
        "BiasAdd": lambda: lambda: first + t["bias"].view(1, -1, 1, 1),
        "FusedBatchNormV3": lambda: batch_norm(t, attrs),
        "FusedBatchNormGradV3": lambda: batch_norm_grad(t, attrs),
        "ReluGrad": lambda: lambda: aten.threshold_backward(t["gradients"], t["features"], 0),
        "Softmax": lambda: lambda: torch.softmax(first, -1),
        "ArgMax": lambda: lambda: torch.argmax(first, t["dimension"][0]),
        "Transpose": lambda: lambda: first.permute(t["perm"]).contiguous(),
        "MatMul": lambda: lambda: torch.mm(t["a"].mT if attrs.get("transpose_a") else t["a"], t["b"].mT if attrs.get("transpose_b") else t["b"]),
        "MaxPool": lambda: lambda: torch.max_pool2d(first, 2),
        "AvgPool": lambda: lambda: torch.nn.functional.avg_pool2d(first, 2),
        "MaxPoolGrad": lambda: max_pool_grad(t),
    }
    return calls[block]() if block in calls else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    kernels = [json.loads(line) for line in sys.stdin]
    with torch.no_grad():
        time_kernels("torch " + torch.__version__, options.threads, kernels, options.seconds, prepare)


if __name__ == "__main__":
    main()
