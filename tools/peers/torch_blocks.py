"""Blocks of the pages that are timed, as PyTorch's operators: BLOCKS[NAME](block, inputs) gives {port: tensor}.

Pictures stay N, H, W, C in memory, as on the page: PyTorch sees them as N, C, H, W in its format channels_last.
"""
import torch

from page_blocks import attributes, numbers

aten = torch.ops.aten
DTYPES = {"DT_FLOAT": torch.float32, "DT_DOUBLE": torch.float64, "DT_INT32": torch.int32, "DT_INT64": torch.int64, "DT_BOOL": torch.bool}


def literal(given):
    """A literal of a page: {"dtype", "shape", "values"}."""
    if "values" not in given:
        raise ValueError("only literals with `values` can be timed")
    return torch.tensor(given["values"], dtype=DTYPES[given["dtype"]]).reshape(given["shape"])


def setting(block, name, default):
    return attributes(block).get(name, default)


def number(block, name, default):
    value = setting(block, name, default)
    return float(value.rstrip("f")) if isinstance(value, str) else float(value)


def flag(block, name, default):
    return str(setting(block, name, default)).lower() in ("true", "1")


def channels_first(tensor, block):
    """A picture as N, C, H, W, a view."""
    return tensor.permute(0, 3, 1, 2) if setting(block, "data_format", "NHWC") == "NHWC" else tensor


def as_on_page(tensor, block):
    return tensor.permute(0, 2, 3, 1) if setting(block, "data_format", "NHWC") == "NHWC" else tensor


def unary(port_in, port_out, call):
    return lambda block, t: {port_out: call(t[port_in])}


def binary(call):
    return lambda block, t: {"z": call(t["x"], t["y"])}


def gradients(block, t):
    """The sum's derivatives, as AddSymbolicGradients defines them for several outputs."""
    outputs = [output for output in t["outputs"] if output.requires_grad]
    found = torch.autograd.grad(outputs, t["inputs"], [torch.ones_like(output) for output in outputs], retain_graph=True, allow_unused=True)
    return {f"grad_outputs[{i}]": value for i, value in enumerate(found) if value is not None}


def bias_add(block, t):
    value = t["value"]
    nchw = setting(block, "data_format", "NHWC") == "NCHW"
    return {"output": value + (t["bias"].reshape([1, -1] + [1] * (value.dim() - 2)) if nchw else t["bias"])}


def bias_add_grad(block, t):
    dy = t["out_backprop"]
    channel = 1 if setting(block, "data_format", "NHWC") == "NCHW" else dy.dim() - 1
    return {"output": dy.sum([axis for axis in range(dy.dim()) if axis != channel])}


def conv2d(block, t):
    strides = numbers(attributes(block)["strides"])
    padding = setting(block, "padding", "VALID")
    taps = t["filter"].shape[:2]
    if strides != [1, 1, 1, 1] or (padding == "SAME" and any(size % 2 == 0 for size in taps)):
        raise ValueError("Conv2D: only strides of 1, and odd filters for SAME")
    amount = [size // 2 for size in taps] if padding == "SAME" else [0, 0]
    return {"output": as_on_page(torch.conv2d(channels_first(t["input"], block), t["filter"].permute(3, 2, 0, 1), padding=amount), block)}


def max_pool(block, t):
    pictures = channels_first(t["input"], block)
    if numbers(attributes(block)["ksize"]) != [1, 2, 2, 1] or numbers(attributes(block)["strides"]) != [1, 2, 2, 1] or any(size % 2 for size in pictures.shape[2:]):
        raise ValueError("MaxPool: only windows of 2 x 2 that fill the picture")
    return {"output": as_on_page(torch.max_pool2d(pictures, 2), block)}


def mean(block, t):
    return {"output": t["input"].mean(t["axis"].reshape(-1).tolist(), keepdim=flag(block, "keep_dims", False))}


def batch_norm(block, t):
    """In training: the moments of the batch, and for its gradient what PyTorch's reads: their mean, and one over the standard deviation."""
    if not flag(block, "is_training", True):
        raise ValueError("batch normalisation: only in training")
    x, epsilon = channels_first(t["x"], block), number(block, "epsilon", 1e-4)
    y, mean_of_batch, inverse = aten.native_batch_norm(x, t["scale"], t["offset"], None, None, True, 0.0, epsilon)
    count = x.numel() // x.shape[1]
    variance = (inverse.pow(-2) - epsilon) * (count / max(count - 1, 1))
    return {"y": as_on_page(y, block), "batch_mean": mean_of_batch, "batch_variance": variance, "reserve_space_1": mean_of_batch,
            "reserve_space_2": inverse, "reserve_space_3": inverse}


def batch_norm_grad(block, t):
    if not flag(block, "is_training", True):
        raise ValueError("batch normalisation: only in training")
    dx, dscale, doffset = aten.native_batch_norm_backward(channels_first(t["y_backprop"], block), channels_first(t["x"], block), t["scale"], None, None,
                                                          t["reserve_space_1"], t["reserve_space_2"], True, number(block, "epsilon", 1e-4), [True, True, True])
    return {"x_backprop": as_on_page(dx, block), "scale_backprop": dscale, "offset_backprop": doffset}


def cross_entropy(block, t):
    logs = torch.log_softmax(t["features"], -1)
    return {"loss": -(t["labels"] * logs).sum(-1), "backprop": logs.exp() - t["labels"]}


def random_normal(block, t):
    size = t["shape"].tolist() if "shape" in t else numbers(attributes(block)["shape"])
    return {"output": torch.randn(size, dtype=DTYPES[setting(block, "dtype", "DT_FLOAT")])}


def mat_mul(block, t):
    a = t["a"].mT if flag(block, "transpose_a", False) else t["a"]
    return {"product": a @ (t["b"].mT if flag(block, "transpose_b", False) else t["b"])}


BLOCKS = {
    "Const": lambda block, t: {"output": next(iter(t.values()))},
    "Variable": lambda block, t: {"ref": t["initvalues"]},
    "RandomNormal": random_normal,
    "RandomNormal_ex": random_normal,
    "Fill": lambda block, t: {"output": t["value"].expand(t["dims"].tolist()).contiguous()},
    "Add": binary(torch.add),
    "Subtract": binary(torch.sub),
    "Multiply": binary(torch.mul),
    "Maximum": binary(torch.maximum),
    "Tanh": unary("x", "y", torch.tanh),
    "Sigmoid": unary("x", "y", torch.sigmoid),
    "Square": unary("x", "y", torch.square),
    "Relu": unary("features", "activations", torch.relu),
    "L2Loss": unary("t", "output", lambda tensor: tensor.square().sum() / 2),
    "Mean": mean,
    "MatMul": mat_mul,
    "Reshape": lambda block, t: {"output": t["tensor"].reshape(t["shape"].tolist())},
    "BiasAdd": bias_add,
    "BiasAddGrad": bias_add_grad,
    "Conv2D": conv2d,
    "MaxPool": max_pool,
    "FusedBatchNorm": batch_norm,
    "FusedBatchNormV3": batch_norm,
    "FusedBatchNormGradV3": batch_norm_grad,
    "SoftmaxCrossEntropyWithLogits": cross_entropy,
    "AddSymbolicGradients": gradients,
    "ApplyGradientDescent": lambda block, t: {"out": t["var"] - t["alpha"] * t["delta"]},
}
