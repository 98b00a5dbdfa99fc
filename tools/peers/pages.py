"""The pages that are timed besides those in graphs/: training steps of networks, a long chain of tiny blocks, element-wise work on a million values."""
import json


def tensor(dtype, shape, values):
    return {"dtype": dtype, "shape": list(shape), "values": list(values)}


def scalar(value):
    return tensor("DT_FLOAT", [], [value])


def integers(*values):
    return tensor("DT_INT32", [len(values)], values)


class Page:
    """Blocks in the order in which they are added; block() and those built on it give the wire to the output that is read next."""

    def __init__(self, name):
        self.name, self.blocks = name, []

    def block(self, identity, kind, output, attrs=None, **inputs):
        self.blocks.append({"id": identity, "block": kind, **({"attrs": attrs} if attrs else {}), "inputs": inputs})
        return f"{identity}.{output}"

    def variable(self, identity, shape, scale):
        """Starts with `scale` times normal numbers, drawn once."""
        seeds = {"dtype": "DT_FLOAT", "seed": len(self.blocks) + 1, "seed2": 1}
        drawn = self.block(identity + "_drawn", "RandomNormal", "output", seeds, shape=integers(*shape))
        start = self.block(identity + "_start", "Multiply", "z", x=drawn, y=scalar(scale))
        return self.block(identity, "Variable", "ref", initvalues=start)

    def binary(self, identity, kind, x, y):
        return self.block(identity, kind, "z", x=x, y=y)

    def classes(self, batch, count):
        """One class for each of the batch, one-hot."""
        values = [float(column == row % count) for row in range(batch) for column in range(count)]
        return self.block("labels", "Const", "output", value=tensor("DT_FLOAT", [batch, count], values))

    def cross_entropy(self, logits, labels):
        each = self.block("cross_entropy", "SoftmaxCrossEntropyWithLogits", "loss", features=logits, labels=labels)
        return self.block("loss", "Mean", "output", input=each, axis=integers(0))

    def dense(self, identity, x, weights, bias):
        product = self.block(identity + "_product", "MatMul", "product", a=x, b=weights)
        return self.block(identity, "BiasAdd", "output", value=product, bias=bias)

    def session(self, *fetches):
        self.blocks.append({"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": list(fetches)}})
        return self

    def train(self, loss, variables, rate):
        """A session that fetches the loss and what a step of gradient descent makes of each variable."""
        self.blocks.append({"id": "gradients", "block": "AddSymbolicGradients", "inputs": {"outputs": [loss], "inputs": variables}})
        steps = [self.block(f"step{i}", "ApplyGradientDescent", "out", var=variable, alpha=scalar(rate), delta=f"gradients.grad_outputs[{i}]")
                 for i, variable in enumerate(variables)]
        return self.session(loss, *steps)

    def save(self, folder):
        path = folder / f"{self.name}.page.json"
        path.write_text(json.dumps({"weft": 1, "page": self.name, "blocks": self.blocks}))
        return path


SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}
HALVED = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


def softmax_regression():
    """A batch of 100 pictures of 784 values, 10 classes."""
    page = Page("softmax_regression")
    x = page.variable("x", [100, 784], 1.0)
    weights, bias = page.variable("weights", [784, 10], 0.01), page.variable("bias", [10], 0.01)
    loss = page.cross_entropy(page.dense("logits", x, weights, bias), page.classes(100, 10))
    return page.train(loss, [weights, bias], 0.01)


def cnn(batch=32):
    """32 pictures of 28 x 28: two convolutions of 5 x 5 with pooling, two dense layers. About 2.3 GFLOP a step."""
    page = Page("cnn")
    last, variables = page.variable("x", [batch, 28, 28, 1], 1.0), []
    for i, (taken, given) in enumerate([(1, 32), (32, 64)]):
        filters, bias = page.variable(f"filter{i}", [5, 5, taken, given], 0.05), page.variable(f"filter_bias{i}", [given], 0.1)
        last = page.block(f"conv{i}", "Conv2D", "output", SAME, input=last, filter=filters)
        last = page.block(f"conv_bias{i}", "BiasAdd", "output", value=last, bias=bias)
        last = page.block(f"conv_relu{i}", "Relu", "activations", features=last)
        last = page.block(f"pool{i}", "MaxPool", "output", HALVED, input=last)
        variables += [filters, bias]
    last = page.block("flat", "Reshape", "output", tensor=last, shape=integers(batch, 3136))
    weights = [page.variable("weights0", [3136, 512], 0.02), page.variable("weights1", [512, 10], 0.05)]
    biases = [page.variable("bias0", [512], 0.1), page.variable("bias1", [10], 0.1)]
    last = page.block("dense_relu", "Relu", "activations", features=page.dense("dense0", last, weights[0], biases[0]))
    loss = page.cross_entropy(page.dense("dense1", last, weights[1], biases[1]), page.classes(batch, 10))
    return page.train(loss, [*variables, *weights, *biases], 0.01)


def batch_norm_block():
    """16 pictures of 28 x 28 x 32: twice a convolution of 3 x 3, batch normalisation and Relu. About 1.16 GFLOP a step."""
    page = Page("batch_norm_block")
    last, variables, nothing = page.variable("x", [16, 28, 28, 32], 1.0), [], tensor("DT_FLOAT", [0], [])
    for i in (0, 1):
        filters = page.variable(f"filter{i}", [3, 3, 32, 32], 0.06)
        scale, offset = page.variable(f"scale{i}", [32], 1.0), page.variable(f"offset{i}", [32], 0.1)
        last = page.block(f"conv{i}", "Conv2D", "output", SAME, input=last, filter=filters)
        last = page.block(f"norm{i}", "FusedBatchNorm", "y", {"is_training": True, "epsilon": 0.001}, x=last, scale=scale, offset=offset, mean=nothing, variance=nothing)
        last = page.block(f"relu{i}", "Relu", "activations", features=last)
        variables += [filters, scale, offset]
    return page.train(page.block("loss", "L2Loss", "output", t=last), variables, 1e-6)


def chain_1000():
    """1,000 scalar blocks, each on the result of the one before: what a step costs that computes nothing."""
    page = Page("chain_1000")
    x = last = page.block("x", "Variable", "ref", initvalues=scalar(0.5))
    for i in range(1000):
        last = page.binary(f"b{i}", "Subtract", x, last)
    return page.session(last)


def elementwise():
    """The GELU function by its formula of tanh, times a gradient, and the mean: 12 blocks on a million values."""
    page = Page("elementwise")
    x, gradient = page.variable("x", [1 << 20], 1.0), page.variable("gradient", [1 << 20], 1.0)
    cube = page.binary("cube", "Multiply", page.binary("square", "Multiply", x, x), x)
    inner = page.binary("inner", "Add", x, page.binary("small", "Multiply", cube, scalar(0.044715)))
    bent = page.block("bent", "Tanh", "y", x=page.binary("scaled", "Multiply", inner, scalar(0.7978845608)))
    half = page.binary("half", "Multiply", page.binary("one_more", "Add", bent, scalar(1.0)), scalar(0.5))
    product = page.binary("product", "Multiply", page.binary("gelu", "Multiply", x, half), gradient)
    return page.session(page.block("mean", "Mean", "output", input=product, axis=integers(0)))


def write(folder):
    """Writes all of them, and tells where."""
    folder.mkdir(parents=True, exist_ok=True)
    return [make().save(folder) for make in (chain_1000, softmax_regression, elementwise, batch_norm_block, cnn)]
